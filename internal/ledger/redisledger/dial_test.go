package redisledger

import (
	"strings"
	"testing"
)

func TestDialForms(t *testing.T) {
	for _, c := range []struct {
		url, addrs, user, password, master string
		db                                 int
		cluster, tls                       bool
	}{
		{url: "redis://127.0.0.1:6379", addrs: "127.0.0.1:6379"},
		{url: "redis://h:1/3", addrs: "h:1", db: 3},
		{url: "rediss://u:p%40ss@h:1", addrs: "h:1", user: "u", password: "p@ss", tls: true},
		{url: "redis://:secret@[::1]:7", addrs: "[::1]:7", password: "secret"},
		{url: "redis://h1:1,h2:2,h3:3?cluster=true", addrs: "h1:1,h2:2,h3:3", cluster: true},
		{url: "redis://h1:1?cluster=true", addrs: "h1:1", cluster: true},
		{url: "redis://u:p@h1:1,h2:2/4?master=mine", addrs: "h1:1,h2:2", user: "u", password: "p", master: "mine", db: 4},
	} {
		o, err := parseURL(c.url)
		if err != nil {
			t.Fatalf("%s: %v", c.url, err)
		}
		if strings.Join(o.Addrs, ",") != c.addrs || o.Username != c.user || o.Password != c.password || o.MasterName != c.master ||
			o.DB != c.db || o.IsClusterMode != c.cluster || (o.TLSConfig != nil) != c.tls {
			t.Errorf("%s: %+v", c.url, o)
		}
		if o.MaxRetries != -1 || !o.ContextTimeoutEnabled || o.PoolSize < 64 || o.ReadTimeout <= 0 {
			t.Errorf("%s: options %+v", c.url, o)
		}
	}
}

func TestDialRefusesWithoutShowingThePassword(t *testing.T) {
	for _, url := range []string{
		"", "h:1", "http://u:hunter2@h:1", "redis://", "redis://u:hunter2@h", "redis://u:hunter2@h:1,h2:2", "redis://u:hunter2@h:1/x",
		"redis://u:hunter2@h:1/-1", "redis://u:hunter2@h:1?cluster=yes", "redis://u:hunter2@h:1?retries=3",
		"redis://u:hunter2@h:1?master=", "redis://u:hunter2@h:1/2?cluster=true", "redis://u:hunter2@h:1?cluster=true&master=m",
		"redis://u:%zzhunter2@h:1", "redis://u:hunter2@h:1\x7f/%zz",
	} {
		_, err := parseURL(url)
		if err == nil {
			t.Errorf("%q was accepted", url)
			continue
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", url, err)
		}
	}
}
