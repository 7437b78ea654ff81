package main

import "testing"

// An owner of a crash table that advertises no host would have others dial
// themselves.
func TestAnAddressWithoutAHostIsNotAdvertised(t *testing.T) {
	for _, row := range []struct{ internal, advertise, want string }{
		{"10.0.0.5:9443", "", "10.0.0.5:9443"}, {"crash-1:9443", "", "crash-1:9443"}, {"[fd00::5]:9443", "", "[fd00::5]:9443"},
		{":9443", "", ""}, {"0.0.0.0:9443", "", ""}, {"[::]:9443", "", ""}, {"", "", ""},
		{":9443", "10.0.0.5:9443", "10.0.0.5:9443"}, {"10.0.0.5:9443", "crash-1:9443", "crash-1:9443"},
	} {
		if got := (settings{internal: row.internal, advertise: row.advertise}).reachable(); got != row.want {
			t.Errorf("--internal %q, --advertise %q: %q, want %q", row.internal, row.advertise, got, row.want)
		}
	}
}
