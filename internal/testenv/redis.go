package testenv

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// patience is how long a test waits for a server before it gives up. Nothing
// is measured by it: every wait ends as soon as it can.
const patience = 30 * time.Second

// RedisOption adjusts a server before it starts.
type RedisOption func(*RedisServer)

// Always makes the server write each command to the disk before it answers.
func Always(r *RedisServer) {
	r.args = append(r.args, "--appendonly", "yes", "--appendfsync", "always")
}

// InMemory makes the server keep nothing.
func InMemory(r *RedisServer) { r.args = append(r.args, "--appendonly", "no") }

// Args adds arguments of redis-server.
func Args(args ...string) RedisOption {
	return func(r *RedisServer) { r.args = append(r.args, args...) }
}

// RedisServer is a redis-server of the test's own.
type RedisServer struct {
	t      testing.TB
	port   int
	dir    string
	config string // a file, where there has to be one
	args   []string

	cmd  *exec.Cmd
	done chan struct{} // closed when the process of cmd has ended
}

// Redis starts a redis-server on a free port, with a directory of its own and
// the append-only file on. It ends with the test, and with the test's process.
func Redis(t testing.TB, options ...RedisOption) *RedisServer {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Fatal("redis-server is needed to run this test: install Redis 7 (apt-get install redis-server)")
	}
	r := &RedisServer{t: t, port: freePort(t), dir: t.TempDir(), args: []string{"--save", "", "--appendonly", "yes"}}
	for _, o := range options {
		o(r)
	}
	t.Cleanup(r.Stop)
	r.Start()
	return r
}

// Addr returns the host and port, which stay the same over restarts.
func (r *RedisServer) Addr() string { return "127.0.0.1:" + strconv.Itoa(r.port) }

// URL returns the address as the ledger dials it.
func (r *RedisServer) URL() string { return "redis://" + r.Addr() }

// Dir returns where the server keeps its data.
func (r *RedisServer) Dir() string { return r.dir }

// Start starts a stopped server and waits until it has loaded its data.
func (r *RedisServer) Start() {
	r.t.Helper()
	var args []string
	if r.config != "" {
		args = append(args, r.config)
	}
	args = append(args, "--port", strconv.Itoa(r.port), "--bind", "127.0.0.1", "--dir", r.dir, "--logfile", "redis.log")
	args = append(args, r.args...)
	r.cmd = exec.Command("redis-server", args...)
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := startWithParent(r.cmd); err != nil {
		r.t.Fatalf("redis-server: %v", err)
	}
	cmd, done := r.cmd, make(chan struct{})
	r.done = done
	go func() {
		_ = cmd.Wait()
		close(done)
	}()
	r.awaitPong()
}

func (r *RedisServer) awaitPong() {
	r.t.Helper()
	for deadline := time.Now().Add(patience); !r.pong(); time.Sleep(5 * time.Millisecond) {
		select {
		case <-r.done:
			r.t.Fatalf("redis-server ended at once:\n%s", r.log())
		default:
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("redis-server does not answer:\n%s", r.log())
		}
	}
}

// pong reports whether the server takes commands, and is not loading any more.
func (r *RedisServer) pong() bool {
	conn, err := net.DialTimeout("tcp", r.Addr(), time.Second)
	if err != nil {
		return false
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return false
	}
	var answer [7]byte
	_, err = io.ReadFull(conn, answer[:])
	return err == nil && string(answer[:]) == "+PONG\r\n"
}

func (r *RedisServer) log() []byte {
	text, err := os.ReadFile(filepath.Join(r.dir, "redis.log"))
	if err != nil {
		return []byte(err.Error())
	}
	return text[max(0, len(text)-2000):]
}

// Kill9 ends the server as a crash does.
func (r *RedisServer) Kill9() { r.end(syscall.SIGKILL) }

// Stop ends the server in good order. It is fine to call it twice.
func (r *RedisServer) Stop() { r.end(syscall.SIGTERM) }

// Pause stops the server from answering, as a hanging machine does, until
// Resume.
func (r *RedisServer) Pause() { _ = r.cmd.Process.Signal(syscall.SIGSTOP) }

// Resume ends a Pause.
func (r *RedisServer) Resume() { _ = r.cmd.Process.Signal(syscall.SIGCONT) }

func (r *RedisServer) end(s syscall.Signal) {
	if r.cmd == nil {
		return
	}
	_ = r.cmd.Process.Signal(s)
	_ = r.cmd.Process.Signal(syscall.SIGCONT)
	select {
	case <-r.done:
	case <-time.After(patience):
		_ = r.cmd.Process.Kill()
		<-r.done
	}
	r.cmd = nil
}

// Restart stops the server, if it runs, and starts it with the data that it
// has on disk.
func (r *RedisServer) Restart() {
	r.t.Helper()
	r.Stop()
	r.Start()
}

// Copy returns a copy of the data on disk, taken while the server runs: what
// an operator's backup, or a replica that lags, holds.
func (r *RedisServer) Copy() string {
	r.t.Helper()
	to := r.t.TempDir()
	if err := os.CopyFS(to, os.DirFS(r.dir)); err != nil {
		r.t.Fatal(err)
	}
	return to
}

// Restore stops the server and starts it again with the data of a Copy.
func (r *RedisServer) Restore(from string) {
	r.t.Helper()
	r.Kill9()
	if err := replaceDir(r.dir, from); err != nil {
		r.t.Fatal(err)
	}
	r.Start()
}

func replaceDir(dir, from string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return os.CopyFS(dir, os.DirFS(from))
}

// freePort returns a port of 127.0.0.1 that was free a moment ago, and whose
// cluster port, 10000 above it, was free as well.
func freePort(t testing.TB) int {
	t.Helper()
	var problems bytes.Buffer
	for range 100 {
		port, err := tryPort()
		if err == nil {
			return port
		}
		fmt.Fprintln(&problems, err)
	}
	t.Fatalf("no free port:\n%s", &problems)
	return 0
}

var errPortTooHigh = errors.New("port above 55000")

func tryPort() (int, error) {
	first, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer first.Close()
	port := first.Addr().(*net.TCPAddr).Port
	if port > 55000 {
		return 0, errPortTooHigh
	}
	second, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port+10000))
	if err != nil {
		return 0, err
	}
	return port, second.Close()
}
