package redisledger

import (
	"context"
	"time"
)

// sealKey holds, by the id of each key that ever sealed here, a text that was
// sealed with it.
var sealKey = tag(0) + ":seal"

// SealChecks returns what KeepSealCheck kept, by the keys' ids.
func (s *Store) SealChecks(ctx context.Context) (map[string][]byte, error) {
	start := time.Now()
	kept, err := s.client.HGetAll(ctx, sealKey).Result()
	s.onCall("seal_checks", time.Since(start), err)
	if err != nil {
		return nil, s.runner.Failed(ctx, "seal_checks", err)
	}
	checks := make(map[string][]byte, len(kept))
	for id, text := range kept {
		checks[id] = []byte(text)
	}
	return checks, nil
}

// KeepSealCheck keeps a text that was sealed with a key, unless there is one of
// that key.
func (s *Store) KeepSealCheck(ctx context.Context, id string, sealed []byte) error {
	start := time.Now()
	err := s.client.HSetNX(ctx, sealKey, id, sealed).Err()
	s.onCall("keep_seal_check", time.Since(start), err)
	if err != nil {
		return s.runner.Failed(ctx, "keep_seal_check", err)
	}
	return nil
}
