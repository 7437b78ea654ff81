package gateway

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// origins are those whose pages may read answers, compared exactly.
type origins map[string]bool

func newOrigins(list []string) (origins, error) {
	all := make(origins, len(list))
	for _, o := range list {
		u, err := url.Parse(o)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" ||
			strings.Contains(u.Host, "*") || u.Scheme+"://"+u.Host != o || strings.ToLower(o) != o {
			return nil, fmt.Errorf("gateway: %q is not an origin such as https://casino.example", o)
		}
		all[o] = true
	}
	return all, nil
}

// allow tells a browser whether the page that calls may read the answer, and
// reports whether the request was only that question.
func (o origins) allow(w http.ResponseWriter, r *http.Request) (answered bool) {
	if len(o) == 0 {
		return false
	}
	header := w.Header()
	header.Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	preflight := r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
	if o[origin] && len(r.Header.Values("Origin")) == 1 {
		header.Set("Access-Control-Allow-Origin", origin)
		header.Set("Access-Control-Expose-Headers", requestIDHeader)
		if preflight {
			header.Set("Access-Control-Allow-Methods", "GET, POST")
			header.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Grpc-Timeout, Last-Event-ID, "+requestIDHeader)
			header.Set("Access-Control-Max-Age", "600")
		}
	}
	if preflight {
		w.WriteHeader(http.StatusNoContent)
	}
	return preflight
}
