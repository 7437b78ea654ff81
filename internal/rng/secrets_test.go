package rng_test

import (
	"bytes"
	"encoding/base64"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/openoriginals/originals/internal/rng"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// holder keeps secrets in every position from which formatting could find them.
type holder struct {
	Seed      rng.ServerSeed
	Signature rng.Signature
	Pointer   *rng.ServerSeed
	List      []rng.Signature
	Map       map[string]rng.ServerSeed
	Any       any
	seed      rng.ServerSeed // fmt calls no method here, but walks into the field
	signature rng.Signature
	pointer   *rng.Signature
	list      []rng.ServerSeed
	any       any
	Signer    rng.Signer
	signer    rng.Signer
}

func newHolder(t testing.TB) (h holder, secrets []string) {
	seed := mustServerSeed(t, exampleSeed)
	signature := mustSign(t, seed, exampleClient, 0)
	signer, err := seed.Signer(exampleClient)
	if err != nil {
		t.Fatal(err)
	}
	h = holder{
		Seed: seed, Signature: signature, Pointer: &seed, List: []rng.Signature{signature},
		Map: map[string]rng.ServerSeed{"active": seed}, Any: seed,
		seed: seed, signature: signature, pointer: &signature, list: []rng.ServerSeed{seed}, any: signature,
		Signer: signer, signer: signer,
	}
	for _, text := range []string{seed.Reveal(), signature.Reveal()} {
		raw, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		secrets = append(secrets,
			text, strings.ToUpper(text), hex.EncodeToString([]byte(text)), base64.StdEncoding.EncodeToString(raw),
			base64.StdEncoding.EncodeToString([]byte(text)), string(raw), fmt.Sprintf("%q", raw),
			strings.Trim(fmt.Sprint(raw), "[]"), strings.Trim(fmt.Sprint([]byte(text)), "[]"))
	}
	return h, secrets
}

// checkHidden looks for the first quarter of every form of the secrets, so that a part of one is found as well.
func checkHidden(t *testing.T, how, printed string, secrets []string) {
	t.Helper()
	for _, secret := range secrets {
		if strings.Contains(printed, secret[:len(secret)/4]) {
			t.Errorf("%s shows a secret: %.200s", how, printed)
		}
	}
}

func TestServerSeedInLogs(t *testing.T) {
	h, secrets := newHolder(t)
	values := map[string]any{
		"server seed": h.Seed, "signature": h.Signature, "pointer": &h.Seed, "pointer to signature": &h.Signature,
		"struct": h, "pointer to struct": &h, "slice": []holder{h}, "slice of seeds": []rng.ServerSeed{h.Seed},
		"map": map[string]*holder{"x": &h}, "array": [1]rng.Signature{h.Signature}, "signer": h.Signer, "pointer to signer": &h.Signer, "error": fmt.Errorf("bad %v", h),
	}
	for name, value := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "% x", "%d", "%o", "%b", "%c", "%U", "%t", "%e", "%w", "%T", "%p", "%64.64s"} {
			checkHidden(t, name+" by "+verb, fmt.Sprintf(verb, value), secrets)
		}
		checkHidden(t, name+" by Sprint", fmt.Sprint(value), secrets)
		encoded, err := json.Marshal(value)
		if err != nil {
			t.Errorf("%s as JSON: %v", name, err)
		}
		checkHidden(t, name+" as JSON", string(encoded), secrets)
		checkHidden(t, name+" by slog", logWithSlog(value), secrets)
		checkHidden(t, name+" by zap", logWithZap(value), secrets)
	}
}

func logWithSlog(value any) string {
	var out bytes.Buffer
	slog.New(slog.NewTextHandler(&out, nil)).Info("text", "value", value)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("json", "value", value)
	return out.String()
}

func logWithZap(value any) string {
	var out bytes.Buffer
	config := zap.NewProductionEncoderConfig()
	for _, encoder := range []zapcore.Encoder{zapcore.NewJSONEncoder(config), zapcore.NewConsoleEncoder(config)} {
		logger := zap.New(zapcore.NewCore(encoder, zapcore.AddSync(&out), zap.DebugLevel))
		logger.Info("any", zap.Any("value", value))
		logger.Info("reflect", zap.Reflect("value", value))
		logger.Sugar().Infow("sugar", "value", value)
		logger.Sugar().Infof("sugar %v %+v", value, value)
	}
	return out.String()
}

func TestOtherEncodersHideSecretsToo(t *testing.T) {
	h, secrets := newHolder(t)
	encoded, err := xml.Marshal(h.Seed)
	checkHidden(t, "xml", fmt.Sprint(string(encoded), err), secrets)
	var out bytes.Buffer
	err = gob.NewEncoder(&out).Encode(h.Signature)
	checkHidden(t, "gob", fmt.Sprint(out.String(), err), secrets)
	text, err := h.Seed.MarshalText()
	if err != nil || string(text) != "[redacted]" || h.Seed.String() != "[redacted]" || h.Signature.GoString() != "[redacted]" {
		t.Errorf("redacted text is %q, %v", text, err)
	}
}

func TestErrorsDoNotRepeatTheSecret(t *testing.T) {
	bad := strings.ToUpper("ab" + exampleSeed[2:])
	_, err := rng.ParseServerSeed(bad)
	if err == nil || strings.Contains(err.Error(), bad[:8]) {
		t.Errorf("error is %v", err)
	}
	_, err = rng.ParseSignature(bad)
	if err == nil || strings.Contains(err.Error(), bad[:8]) {
		t.Errorf("error is %v", err)
	}
}

func TestMissingServerSeedReadAsAnEmptyOne(t *testing.T) {
	var missing rng.ServerSeed
	if !missing.IsZero() || missing.Reveal() != "" {
		t.Error("the zero ServerSeed does not know that it was never set")
	}
	if _, err := missing.Commitment(); !errors.Is(err, rng.ErrServerSeedUnset) {
		t.Errorf("Commitment: %v", err)
	}
	if _, err := missing.RevealBytes(); !errors.Is(err, rng.ErrServerSeedUnset) {
		t.Errorf("RevealBytes: %v", err)
	}
	signature, err := missing.Sign(exampleClient, 0)
	if !errors.Is(err, rng.ErrServerSeedUnset) || !signature.IsZero() || signature.Reveal() != "" {
		t.Errorf("Sign: %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a stream was made from a signature that was never set")
		}
	}()
	rng.NewStream(signature)
}
