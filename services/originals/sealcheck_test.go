package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/ledger/redisledger"
	"github.com/openoriginals/originals/internal/testenv"
)

// starts reports why a process with these seal keys does not start; nil when it
// does.
func starts(t *testing.T, redis string, keys ...string) error {
	t.Helper()
	file := filepath.Join(t.TempDir(), "seal.key")
	if err := os.WriteFile(file, []byte(strings.Join(keys, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := newProcess(t.Context(), settings{
		roles: allRoles, http: "127.0.0.1:0", grpc: "127.0.0.1:0", redis: redis, sealKeyFile: file, devKey: filepath.Join(t.TempDir(), "dev.key"),
		minesExpiry: time.Hour, duelTimes: duelSettings{minExpiry: time.Minute, retention: time.Hour}, watchers: 10, logLevel: "error",
	}, io.Discard)
	if err != nil {
		return err
	}
	return p.close()
}

// A key file that is not the store's is refused at the start, before it closes any
// pair; the store's own is taken again and again, also while keys are exchanged.
func TestAKeyFileOfAnotherStoreIsRefusedAtTheStart(t *testing.T) {
	redis := testenv.Redis(t, testenv.InMemory)
	a, b, c := strings.Repeat("5c", 32), strings.Repeat("a7", 32), strings.Repeat("11", 32)
	wantStart := func(what string, keys ...string) {
		t.Helper()
		if err := starts(t, redis.URL(), keys...); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	wantRefused := func(what string, keys ...string) {
		t.Helper()
		err := starts(t, redis.URL(), keys...)
		if err == nil || !strings.Contains(err.Error(), "--seal-key-file") || !strings.Contains(err.Error(), "not that of this store") {
			t.Errorf("%s: %v", what, err)
			return
		}
		for _, key := range keys {
			if strings.Contains(err.Error(), key) {
				t.Errorf("%s: the error shows a key", what)
			}
		}
	}
	wantStart("an empty store", a)
	wantStart("the same key", a)
	wantRefused("another key", b)
	wantStart("the same key after a refusal", a)
	wantStart("a new key before the old one", b, a)
	wantStart("the same in another order", a, b)
	wantRefused("the old key alone, after the new one sealed", a)
	wantRefused("the new key alone, which opens nothing of before", b)
	wantRefused("a third key with the new one", c, b)

	client, err := redisledger.Dial(redis.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := client.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	wantStart("an emptied store", c)
	wantRefused("the key of before it was emptied", a)
}
