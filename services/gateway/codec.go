package gateway

import (
	"errors"
	"io"
	"net/http"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/openoriginals/originals/internal/reason"
	"github.com/openoriginals/originals/services/gateway/strictjson"
)

const jsonType = "application/json"

// answerSize is room for the usual answer, a round.
const answerSize = 1024

// codec is the one encoding that the gateway speaks: strict JSON in, complete
// JSON out.
type codec struct {
	decoder *strictjson.Decoder
	encoder *strictjson.Encoder
}

// newCodec returns a codec of every public method's request and answer.
func newCodec() (codec, error) {
	var requests, answers []protoreflect.MessageDescriptor
	for _, file := range services {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				requests = append(requests, methods.Get(j).Input())
				answers = append(answers, methods.Get(j).Output())
			}
		}
	}
	decoder, err := strictjson.New(requests...)
	if err != nil {
		return codec{}, err
	}
	encoder, err := strictjson.NewEncoder(answers...)
	return codec{decoder, encoder}, err
}

// ContentType is that of every answer.
func (codec) ContentType(any) string { return jsonType }

// Marshal encodes an answer.
func (c codec) Marshal(v any) ([]byte, error) {
	m, ok := v.(proto.Message)
	if !ok {
		return nil, errors.New("gateway: not a message")
	}
	return c.encoder.Append(make([]byte, 0, answerSize), m)
}

// NewEncoder returns an encoder of answers.
func (c codec) NewEncoder(w io.Writer) runtime.Encoder {
	return runtime.EncoderFunc(func(v any) error {
		p, err := c.Marshal(v)
		if err != nil {
			return err
		}
		_, err = w.Write(p)
		return err
	})
}

// Unmarshal decodes a request that has no path.
func (c codec) Unmarshal(data []byte, v any) error { return c.decode(data, v, nil) }

func (c codec) decode(data []byte, v any, bound map[string]string) error {
	m, ok := v.(proto.Message)
	if !ok {
		return reason.New(reason.Internal, "internal error")
	}
	return c.decoder.Decode(data, m, bound)
}

// NewDecoder returns a decoder of one request body.
func (c codec) NewDecoder(r io.Reader) runtime.Decoder {
	return runtime.DecoderFunc(func(v any) error {
		b, ok := r.(*body)
		if !ok {
			return reason.New(reason.Internal, "internal error")
		}
		data, err := b.readAll()
		if err == nil {
			err = c.decode(data, v, b.bound)
		}
		return b.refuse(err)
	})
}

// body is a request body. It carries what the decoder needs to know of the
// request, and back what the decoder refused: the generated handlers pass on
// only the text of an error.
type body struct {
	io.ReadCloser
	length  int64             // as announced; negative when not
	bound   map[string]string // parameters of the path
	refusal *reason.Error
	status  int // HTTP status of the refusal
}

func (b *body) readAll() ([]byte, error) {
	if b.length < 0 || b.length > DefaultMaxBody {
		return io.ReadAll(b)
	}
	data := make([]byte, b.length)
	_, err := io.ReadFull(b, data)
	return data, err
}

// refuse notes why a body is not taken, and returns it.
func (b *body) refuse(err error) error {
	if err == nil {
		return nil
	}
	b.status = http.StatusBadRequest
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &b.refusal):
		b.status = runtime.HTTPStatusFromCode(b.refusal.Reason.Code())
	case errors.As(err, &large):
		b.status = http.StatusRequestEntityTooLarge
		b.refusal = reason.Field(strictjson.Document, "is too large")
	default:
		b.refusal = reason.Field(strictjson.Document, "ended early")
	}
	return b.refusal
}
