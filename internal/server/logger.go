package server

import (
	"io"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// NewLogger returns a logger that writes one JSON object a line, with times in
// RFC 3339, UTC. Lines are gathered for up to a second; warnings and errors
// are written at once with all before them. Close writes the rest, and is
// called last before the process ends. Nothing is sampled.
func NewLogger(w io.Writer, level zapcore.Level) (logger *zap.Logger, closeLogger func() error) {
	// The Sync of a file is hidden: it costs a write to the disk at every
	// warning, and is an error on a pipe, which is where containers log to.
	buffer := &zapcore.BufferedWriteSyncer{WS: zapcore.AddSync(struct{ io.Writer }{w}), FlushInterval: time.Second}
	config := zap.NewProductionEncoderConfig()
	config.TimeKey = "time"
	config.MessageKey = "message"
	config.EncodeDuration = zapcore.SecondsDurationEncoder
	config.EncodeTime = func(t time.Time, e zapcore.PrimitiveArrayEncoder) {
		zapcore.RFC3339NanoTimeEncoder(t.UTC(), e)
	}
	core := zapcore.NewCore(zapcore.NewJSONEncoder(config), buffer, level)
	return zap.New(prompt{core}), buffer.Stop
}

// prompt is a core that writes warnings and errors at once.
type prompt struct{ zapcore.Core }

// With keeps the promptness of a logger that was given fields.
func (p prompt) With(fields []zapcore.Field) zapcore.Core { return prompt{p.Core.With(fields)} }

// Check puts this core, not the one within, in charge of the entry.
func (p prompt) Check(e zapcore.Entry, c *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if p.Enabled(e.Level) {
		return c.AddCore(e, p)
	}
	return c
}

// Write writes the entry, and everything before it when it is urgent.
func (p prompt) Write(e zapcore.Entry, fields []zapcore.Field) error {
	if err := p.Core.Write(e, fields); err != nil {
		return err
	}
	if e.Level < zapcore.WarnLevel {
		return nil
	}
	return p.Sync()
}
