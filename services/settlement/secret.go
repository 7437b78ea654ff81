package settlement

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
)

// WebhookSecret is the key that signs callbacks. It cannot be printed.
type WebhookSecret struct{ key **[]byte } // behind two pointers, which fmt does not follow

// ParseWebhookSecret reads whsec_ and 24 to 64 bytes in base64, as the Standard
// Webhooks specification has it.
func ParseWebhookSecret(text string) (WebhookSecret, error) {
	encoded, ok := strings.CutPrefix(text, "whsec_")
	if !ok || strings.ContainsAny(encoded, "\r\n") { // which the decoder would skip
		return WebhookSecret{}, errWebhookSecret
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil || len(raw) < 24 || len(raw) > 64 {
		return WebhookSecret{}, errWebhookSecret
	}
	key := &raw
	return WebhookSecret{&key}, nil
}

// sign returns the signature of version 1: HMAC-SHA256 over the id, the
// timestamp and the body, with dots between.
func (s WebhookSecret) sign(id, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, **s.key)
	fmt.Fprintf(mac, "%s.%s.", id, timestamp)
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

const hiddenSecret = "[redacted]"

// String returns a fixed text in place of the secret.
func (WebhookSecret) String() string { return hiddenSecret }

// GoString returns a fixed text in place of the secret.
func (WebhookSecret) GoString() string { return hiddenSecret }

// Format writes a fixed text for every verb.
func (WebhookSecret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hiddenSecret) }

// MarshalText encodes a fixed text in place of the secret.
func (WebhookSecret) MarshalText() ([]byte, error) { return []byte(hiddenSecret), nil }
