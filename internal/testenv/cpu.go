package testenv

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// clockTick is the unit of processor times in /proc on Linux.
const clockTick = 10 * time.Millisecond

// CPU returns the processor time that the process has used.
func (p *Process) CPU() time.Duration { return CPU(p.t, p.cmd.Process.Pid) }

// CPU returns the processor time that the server has used.
func (r *RedisServer) CPU() time.Duration { return CPU(r.t, r.cmd.Process.Pid) }

// CPU returns the processor time that a running process has used, user and
// system together.
func CPU(t testing.TB, pid int) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	// The second field is the command in brackets, and may hold spaces.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	var ticks int64
	for _, f := range fields[11:13] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * clockTick
}
