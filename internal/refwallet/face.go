package refwallet

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
)

// face is what the wallet shows to its own house, and to whoever checks it.
func (w *wallet) face() http.Handler {
	mux := http.NewServeMux()
	healthy := func(rw http.ResponseWriter, _ *http.Request) { answer(rw, struct{}{}) }
	mux.HandleFunc("GET /healthz", healthy)
	mux.HandleFunc("GET /readyz", healthy)
	mux.HandleFunc("GET /books", w.showBooks)
	mux.HandleFunc("GET /digest", w.showDigest)
	mux.HandleFunc("POST /deposit", func(rw http.ResponseWriter, req *http.Request) { w.begin(rw, req, Deposit) })
	mux.HandleFunc("POST /withdraw", func(rw http.ResponseWriter, req *http.Request) { w.begin(rw, req, Withdrawal) })
	mux.HandleFunc("POST /cancel", w.giveUp)
	return mux
}

func answer(rw http.ResponseWriter, value any) {
	rw.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(rw).Encode(value) // whoever asked has gone
}

func (w *wallet) showBooks(rw http.ResponseWriter, req *http.Request) {
	shown, err := w.books.show(req.Context(), req.URL.Query().Get("playerId"))
	if err != nil {
		w.Failed("show books", err)
		http.Error(rw, "the books cannot be read", http.StatusInternalServerError)
		return
	}
	answer(rw, shown)
}

// order is what the house asks for: a deposit, a withdrawal, or that one be
// given up.
type order struct {
	ID       string  `json:"requestId"`
	Player   string  `json:"playerId"`
	Currency string  `json:"currency"`
	Amount   integer `json:"amount"`
}

type orderAnswer struct {
	ID    string `json:"transferId"`
	State string `json:"state"`
}

var idForm = regexp.MustCompile(`\A[A-Za-z0-9_-]{1,40}\z`)

func readOrder(rw http.ResponseWriter, req *http.Request) (o order, err error) {
	err = json.NewDecoder(http.MaxBytesReader(rw, req.Body, 1<<12)).Decode(&o)
	if err != nil && !errors.Is(err, io.EOF) {
		return o, err
	}
	if !idForm.MatchString(o.ID) {
		return o, errors.New("requestId must be 1 to 40 of A-Z a-z 0-9 _ and -")
	}
	return o, nil
}

// begin stores the transfer and answers. What became of it stands in the books
// later on.
func (w *wallet) begin(rw http.ResponseWriter, req *http.Request, direction string) {
	o, err := readOrder(rw, req)
	if err == nil && (o.Player == "" || o.Currency == "" || o.Amount <= 0 || o.Amount > maxAmount) {
		err = errors.New("playerId, currency and an amount of 1 to 2^53-1 are needed")
	}
	if err != nil {
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return
	}
	t, err := w.books.Begin(req.Context(), Transfer{
		ID: o.ID, Player: o.Player, Direction: direction, Currency: o.Currency, Amount: int64(o.Amount),
	})
	w.answerOrder(rw, t, err)
}

func (w *wallet) giveUp(rw http.ResponseWriter, req *http.Request) {
	o, err := readOrder(rw, req)
	if err != nil {
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return
	}
	t, err := w.books.GiveUp(req.Context(), o.ID)
	w.answerOrder(rw, t, err)
}

func (w *wallet) answerOrder(rw http.ResponseWriter, t Transfer, err error) {
	switch {
	case errors.Is(err, ErrOtherTransfer):
		http.Error(rw, "the requestId is that of another transfer", http.StatusConflict)
	case errors.Is(err, ErrNoTransfer):
		http.Error(rw, "no such transfer", http.StatusNotFound)
	case err != nil:
		w.Failed("order", err)
		http.Error(rw, "the order may not have been stored: repeat it", http.StatusServiceUnavailable)
	default:
		select {
		case w.wake <- struct{}{}:
		default:
		}
		answer(rw, orderAnswer{t.ID, t.State})
	}
}
