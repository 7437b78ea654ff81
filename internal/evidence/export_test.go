package evidence

import "testing"

// SetBatchBytes makes batches of another size for one test.
func SetBatchBytes(t testing.TB, size int) {
	before := batchBytes
	batchBytes = size
	t.Cleanup(func() { batchBytes = before })
}
