package gateway

import (
	"runtime"
	"syscall"
	"testing"
	"time"
)

// TestTenThousandJoinAndLeaveAtOnce: all are sent the table and what follows, and
// once they are gone, all at once too, nothing of them is left: no goroutine, and
// no memory. A watcher who stayed would hold some four hundred bytes.
func TestTenThousandJoinAndLeaveAtOnce(t *testing.T) {
	c := newCrowd(t, 0)
	stays := view(t, "http://"+c.at.String()+"/v1/crash/tables/main:watch")
	stays.want("event: snapshot|id: 1|")
	count := manyConnections(t)
	c.storm(count) // what is made once is made
	goroutines, memory := runtime.NumGoroutine(), reachable()
	c.storm(count)
	if now := awaitFewGoroutines(goroutines); now > goroutines {
		t.Errorf("%d goroutines, before %d", now, goroutines)
	}
	if grown := reachable() - memory; grown > 1<<20+int64(count)*128 {
		t.Errorf("%d bytes more than before", grown)
	}
}

// storm has watchers come at once, beside the one who stays, and go at once.
func (c *crowd) storm(count int) {
	c.b.Helper()
	begin := time.Now()
	c.count = count
	c.join()
	c.s.awaitLeft(count + 1)
	came := time.Since(begin)
	time.Sleep(time.Second) // the last ones are sent the table
	c.s.fake.events <- c.tick()
	read := 0
	for end := time.Now().Add(10 * time.Second); read < count && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		some, _, _ := c.report()
		read += some
	}
	if read != count {
		c.b.Errorf("%d events came to %d watchers who came at once", read, count)
	}
	begin = time.Now()
	c.leave()
	for c.s.left() > 1 && time.Since(begin) < 10*time.Second { // who has gone is found out by writing
		c.s.fake.events <- c.tick()
		time.Sleep(crowdPace)
	}
	c.s.awaitLeft(1)
	c.b.Logf("%d watchers had come after %v, and were known to be gone after %v", count, came, time.Since(begin))
}

// manyConnections returns ten thousand, or how many the machine lets a process have.
func manyConnections(t *testing.T) int {
	t.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	return int(min(10_000, limit.Cur-min(limit.Cur/2, 200)))
}

// reachable returns the bytes that something still holds: not what the heap takes
// for them, in which a busy machine leaves gaps, and nothing of pools, which two
// collections empty.
func reachable() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// awaitFewGoroutines waits a while until there are no more goroutines than some.
func awaitFewGoroutines(some int) int {
	for end := time.Now().Add(3 * time.Second); runtime.NumGoroutine() > some && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	return runtime.NumGoroutine()
}
