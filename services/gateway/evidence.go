package gateway

import (
	"mime"
	"net/http"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/protobuf/proto"

	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// evidencePage is the number of rounds asked for at once.
const evidencePage = 200

// evidencePace is how long a client may take to read one page.
const evidencePace = 30 * time.Second

// evidence serves a revealed pair with all its rounds as one document, which
// is written page by page and never held as a whole.
type evidence struct {
	mux   *runtime.ServeMux
	codec codec
	pairs originalsv1.SeedPairServiceClient
}

func (e evidence) serve(w http.ResponseWriter, r *http.Request, path map[string]string) {
	request := &originalsv1.GetEvidenceRequest{
		SeedPairId: path["seed_pair_id"], PageSize: proto.Int32(evidencePage),
	}
	page, err := e.pairs.GetEvidence(r.Context(), request)
	if err != nil {
		runtime.HTTPError(r.Context(), e.mux, e.codec, w, r, err)
		return
	}
	name := "evidence-" + page.GetSeedPair().GetSeedPairId() + ".json"
	w.Header().Set("Content-Type", jsonType)
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	d := &document{w: w, codec: e.codec, pace: http.NewResponseController(w)}
	d.begin(page.GetSeedPair())
	for {
		d.rounds(page.GetRounds())
		token := page.GetNextPageToken()
		if token == "" {
			break
		}
		if token == request.GetPageToken() {
			d.abort()
		}
		request.PageToken = token
		if page, err = e.pairs.GetEvidence(r.Context(), request); err != nil {
			d.abort()
		}
	}
	d.end()
}

// document is an evidence document that is being written. When anything fails
// after its beginning the connection is broken off: the status is already
// sent, and half a document must not look like a whole one.
type document struct {
	w     http.ResponseWriter
	codec codec
	pace  *http.ResponseController
	buf   []byte
	begun bool // a round is written
}

func (d *document) begin(pair *originalsv1.SeedPair) {
	d.buf = append(d.buf[:0], `{"format":"originals-evidence-v1","seedPair":`...)
	d.message(pair)
	d.buf = append(d.buf, `,"rounds":[`...)
	d.flush()
}

func (d *document) rounds(rounds []*originalsv1.Round) {
	for _, round := range rounds {
		if d.begun {
			d.buf = append(d.buf, ',')
		}
		d.begun = true
		d.buf = append(d.buf, '\n')
		d.message(round)
	}
	d.flush()
}

func (d *document) end() {
	d.buf = append(d.buf, "\n]}\n"...)
	d.flush()
}

func (d *document) message(m proto.Message) {
	var err error
	if d.buf, err = d.codec.encoder.Append(d.buf, m); err != nil {
		d.abort()
	}
}

// flush writes what is buffered. Each page has its own time, so that a long
// document outlives the server's bound on one answer and a stalled reader does
// not.
func (d *document) flush() {
	// A writer without deadlines is a test's or a proxy's, and has its own.
	_ = d.pace.SetWriteDeadline(time.Now().Add(evidencePace))
	if _, err := d.w.Write(d.buf); err != nil {
		d.abort()
	}
	d.buf = d.buf[:0]
}

func (d *document) abort() { panic(http.ErrAbortHandler) }
