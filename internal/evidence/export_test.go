package evidence

import "testing"

// SetBatchBytes makes batches of another size for one test.
func SetBatchBytes(t testing.TB, size int) {
	before := batchBytes
	batchBytes = size
	t.Cleanup(func() { batchBytes = before })
}

// CrashKeys returns the keys that the reader of a crash table's answers knows, by the message of the API.
func CrashKeys() map[string][]string {
	names := func(keys []key) (all []string) {
		for _, k := range keys {
			all = append(all, k.name)
		}
		return all
	}
	return map[string][]string{
		"CrashRound": names(crashRoundKeys), "CrashSalt": names(crashSaltKeys), "CrashBeacon": names(crashBeaconKeys), "CrashTable": names(crashTableKeys),
		"CrashChain": names(crashChainKeys), "CrashTable.Timings": names(crashTimingKeys), "Crash": names(crashOfBetKeys),
		"ListCrashRoundsResponse": names(crashPageKeys),
		"Round":                   append(names(crashBetKeys), "dice", "limbo", "roulette", "mines"), // of other games
	}
}
