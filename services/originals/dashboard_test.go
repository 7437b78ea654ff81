package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/openoriginals/originals/internal/auth"
	"github.com/openoriginals/originals/internal/reason"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// exported plays a session in this process and returns every sample that its
// metrics have then: name and labels.
func exported(t *testing.T) map[string][]string {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	p, err := newProcess(ctx, settings{
		roles: allRoles, http: "127.0.0.1:0", grpc: "127.0.0.1:0", demoBalance: -1, minesExpiry: time.Hour, duelTimes: duelSettings{minExpiry: time.Minute, retention: time.Hour}, watchers: 100, logLevel: "error",
	}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- p.group.Serve(ctx) }()
	defer func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if err := p.close(); err != nil {
			t.Error(err)
		}
	}()
	token, err := p.devKey.Mint(auth.Identity{Subject: "alice", Operator: p.devKey.Operator(), Role: auth.Player}, time.Hour, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	d := &demo{out: io.Discard, rounds: 2, client: newClient("http://"+p.address("http"), token)}
	if err := d.play(ctx); err != nil {
		t.Fatal(err)
	}
	playCrash(t, d.client)
	res, err := http.Get("http://" + p.address("http") + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return samples(string(text))
}

// playCrash bets at a table and watches it until its metrics show the bet.
func playCrash(t *testing.T, c *client) {
	t.Helper()
	bet := &originalsv1.CrashServicePlaceBetRequest{BetId: "seen", Stake: &originalsv1.Money{Currency: playMoney, Amount: 100}}
	w := tableWatcher{url: c.url + "/v1/crash/tables/main:watch"}
	err := w.watch(t.Context(), func(e tableEvent) error {
		switch {
		case e.Name == "snapshot":
			return c.post(t.Context(), "/v1/crash/tables/main/bets", bet, new(originalsv1.Round))
		case e.Name == "bets" && !strings.Contains(string(e.Data), `"count":0`):
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) {
		t.Fatal(err)
	}
}

var sample = regexp.MustCompile(`(?m)^([a-z_]+)(?:\{(.*)\})? \S+$`)

func samples(text string) map[string][]string {
	all := make(map[string][]string)
	for _, m := range sample.FindAllStringSubmatch(text, -1) {
		for _, label := range regexp.MustCompile(`(\w+)="`).FindAllStringSubmatch(m[2], -1) {
			if !slices.Contains(all[m[1]], label[1]) {
				all[m[1]] = append(all[m[1]], label[1])
			}
		}
		if all[m[1]] == nil {
			all[m[1]] = []string{}
		}
	}
	return all
}

// expressions returns every query of the dashboard and of the alert rules.
func expressions(t *testing.T) (all []string) {
	t.Helper()
	var dashboard struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	if err := json.Unmarshal([]byte(deployed(t, "dashboards/originals.json")), &dashboard); err != nil {
		t.Fatal(err)
	}
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			all = append(all, target.Expr)
		}
	}
	var alerts struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	if err := yaml.NewDecoder(strings.NewReader(deployed(t, "dashboards/alerts.yaml")), yaml.Strict()).Decode(&alerts); err != nil {
		t.Fatal(err)
	}
	for _, g := range alerts.Groups {
		for _, r := range g.Rules {
			all = append(all, r.Expr)
		}
	}
	return all
}

// TestDashboardAndAlertsUseMetricsThatExist: each metric of each query is
// exported, with each label that the query looks at; job and instance are
// Prometheus' own.
func TestDashboardAndAlertsUseMetricsThatExist(t *testing.T) {
	have := exported(t)
	have["up"] = nil
	queries := expressions(t)
	if len(queries) < 15 {
		t.Fatalf("%d queries, fewer than there are", len(queries))
	}
	selector := regexp.MustCompile(`\b(originals_\w+|process_\w+|go_\w+|up)(?:\{([^}]*)\})?`)
	labelName := regexp.MustCompile(`(\w+)\s*(?:=~|!~|!=|=)\s*"`)
	grouping := regexp.MustCompile(`by \(([^)]*)\)`)
	for _, q := range queries {
		found := selector.FindAllStringSubmatch(q, -1)
		if len(found) == 0 {
			t.Errorf("no metric in %s", q)
		}
		for _, m := range found {
			labels, ok := have[m[1]]
			if !ok {
				t.Errorf("nothing exports %s", m[1])
			}
			checkResults(t, m[2])
			var used []string
			for _, l := range labelName.FindAllStringSubmatch(m[2], -1) {
				used = append(used, l[1])
			}
			for _, g := range grouping.FindAllStringSubmatch(q, -1) {
				used = append(used, strings.FieldsFunc(g[1], func(r rune) bool { return r == ',' || r == ' ' })...)
			}
			for _, l := range used {
				if l != "job" && l != "instance" && !slices.Contains(labels, l) {
					t.Errorf("%s has no label %s: %s", m[1], l, q)
				}
			}
		}
	}
}

// checkResults: each result that a query looks for can be counted.
func checkResults(t *testing.T, labels string) {
	t.Helper()
	known := []string{"WON", "LOST", "OPEN", "VOID"}
	for _, r := range reason.All() {
		known = append(known, string(r))
	}
	for _, m := range regexp.MustCompile(`result(?:=~|!~|!=|=)"([^"]*)"`).FindAllStringSubmatch(labels, -1) {
		for result := range strings.SplitSeq(m[1], "|") {
			if !slices.Contains(known, result) {
				t.Errorf("no bet has the result %s", result)
			}
		}
	}
}
