package settlement

import (
	"net/http"
	"time"

	"github.com/openoriginals/originals/internal/ledger"
)

// Sign returns the signature of one secret.
func (s WebhookSecret) Sign(id, timestamp, body string) string {
	return s.sign(id, timestamp, []byte(body))
}

// WebhookHeaders returns the headers of a message of this body.
func WebhookHeaders(id, body string, now time.Time, secrets ...WebhookSecret) http.Header {
	h := make(http.Header)
	webhook{id, []byte(body)}.sign(h, secrets, now)
	return h
}

// WebhookID returns the id of the message of a batch.
func WebhookID(operator string, rounds []ledger.SettledRound) (string, error) {
	w, err := newWebhook(operator, rounds, time.Unix(0, 0))
	return w.id, err
}

// Delay returns the wait after an attempt of a message.
func Delay(id string, attempt int) time.Duration { return webhook{id: id}.delay(attempt) }
