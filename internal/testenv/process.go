package testenv

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// program is the command under test, built once a run of the tests.
var program struct {
	once sync.Once
	dir  string
	path string
	err  error
}

// Main runs the tests of a package that starts processes, and removes what was
// built for them. Call it from TestMain.
func Main(m *testing.M) int {
	status := m.Run()
	if program.dir != "" {
		_ = os.RemoveAll(program.dir)
	}
	return status
}

// Program returns the path of the command, built with the race detector when
// the tests are.
func Program(t testing.TB) string {
	t.Helper()
	program.once.Do(func() {
		if program.dir, program.err = os.MkdirTemp("", "originals-test-"); program.err != nil {
			return
		}
		program.path = filepath.Join(program.dir, "originals")
		args := []string{"build", "-o", program.path}
		if raceEnabled {
			args = append(args, "-race")
		}
		out, err := exec.Command("go", append(args, "github.com/openoriginals/originals/services/originals")...).CombinedOutput()
		if err != nil {
			program.err = fmt.Errorf("go build: %w\n%s", err, out)
		}
	})
	if program.err != nil {
		t.Fatal(program.err)
	}
	return program.path
}

// Process is a serving process of the test's own.
type Process struct {
	t    testing.TB
	args []string

	cmd    *exec.Cmd
	done   chan struct{} // closed when the process of cmd has ended
	stdout output
	stderr output
}

// Serve starts a process with these arguments and waits until it says where it
// listens. It ends with the test, and with the test's process; a data race or
// a panic in it fails the test.
func Serve(t testing.TB, args ...string) *Process {
	t.Helper()
	p := &Process{t: t, args: args}
	t.Cleanup(func() {
		p.Kill9()
		text := p.stderr.String()
		if strings.Contains(text, "DATA RACE") || strings.Contains(text, "panic") {
			t.Errorf("originals %s:\n%s", strings.Join(args, " "), text)
		} else if t.Failed() {
			t.Logf("originals %s:\n%s", strings.Join(args, " "), text[max(0, len(text)-4000):])
		}
	})
	p.Start()
	p.await("its greeting", func() bool { return p.Address("/metrics, /healthz, /readyz") != "" || p.Address("REST") != "" })
	return p
}

// Start starts a process that has ended, with the arguments of the first time.
// It does not wait for it.
func (p *Process) Start() {
	p.t.Helper()
	p.stdout.reset()
	p.cmd = command(p.t, nil, p.args...)
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	if err := startWithParent(p.cmd); err != nil {
		p.t.Fatal(err)
	}
	cmd, done := p.cmd, make(chan struct{})
	p.done = done
	go func() {
		_ = cmd.Wait()
		close(done)
	}()
}

// command prepares a run of the program. It sees none of the variables that
// steer the tests, which it would refuse.
func command(t testing.TB, env []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(Program(t), args...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "ORIGINALS_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

// Run runs the program to its end, with further environment variables, and
// returns its exit status and what it printed.
func Run(t testing.TB, env []string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	cmd := command(t, env, args...)
	var out, errs output
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := startWithParent(cmd); err != nil {
		t.Fatal(err)
	}
	tooLong := time.AfterFunc(2*patience, func() { _ = cmd.Process.Kill() })
	defer tooLong.Stop()
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// Address returns where the process listens for what its greeting describes by
// words that begin so: host and port, or a URL. It is empty while it has not said it.
func (p *Process) Address(what string) string {
	line := regexp.MustCompile(`(?m)^  (\S+) +` + regexp.QuoteMeta(what))
	found := line.FindStringSubmatch(p.stdout.String())
	if found == nil {
		return ""
	}
	return found[1]
}

// Name returns the roles of the process, as it was told them.
func (p *Process) Name() string {
	for i, arg := range p.args[:len(p.args)-1] {
		if arg == "--role" {
			return p.args[i+1]
		}
	}
	return "originals"
}

// URL returns the address of the REST API.
func (p *Process) URL() string { return p.Address("REST") }

// AwaitReady waits until the process says at a URL that it is ready.
func (p *Process) AwaitReady(url string) {
	p.t.Helper()
	p.await("readiness", func() bool { return Ready(url) })
}

// Ready reports whether the process at a URL says that it is ready.
func Ready(url string) bool {
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get(url + "/readyz")
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode == http.StatusOK
}

func (p *Process) await(what string, done func() bool) {
	p.t.Helper()
	for deadline := time.Now().Add(patience); !done(); {
		select {
		case <-p.done:
			p.t.Fatalf("originals %s ended while the test waited for %s:\n%s", strings.Join(p.args, " "), what, p.stderr.String())
		case <-time.After(5 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("originals %s: waited in vain for %s:\n%s", strings.Join(p.args, " "), what, p.stderr.String())
		}
	}
}

// Kill9 ends the process as a crash does. It is fine to call it twice.
func (p *Process) Kill9() {
	_ = p.cmd.Process.Kill() // an error says that it has ended
	<-p.done
}

// Terminate asks the process to end in good order.
func (p *Process) Terminate() { _ = p.cmd.Process.Signal(syscall.SIGTERM) }

// Wait waits until the process has ended and returns its exit status, -1 when
// a signal ended it.
func (p *Process) Wait() int {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(patience):
		p.t.Fatalf("originals %s does not end:\n%s", strings.Join(p.args, " "), p.stderr.String())
	}
	return p.cmd.ProcessState.ExitCode()
}

// Stdout returns what the process has printed since its last start.
func (p *Process) Stdout() string { return p.stdout.String() }

// Stderr returns what all processes of p have logged.
func (p *Process) Stderr() string { return p.stderr.String() }

// output is a buffer that is read while it is written.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write appends.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(b)
}

// String returns all that was written.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

func (o *output) reset() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.buf.Reset()
}

// nextPort is where the search for a port goes on. Processes listen below the
// ports that the kernel gives to clients, so that a port stays free while its
// process is dead.
var nextPort = struct {
	sync.Mutex
	port int
}{port: 20000 + os.Getpid()%97*120}

// FreeAddr returns an address of 127.0.0.1 that nobody listens at, for a
// process that is to have the same one after a restart.
func FreeAddr(t testing.TB) string {
	t.Helper()
	nextPort.Lock()
	defer nextPort.Unlock()
	for range 2000 {
		if nextPort.port++; nextPort.port > 32000 {
			nextPort.port = 20000
		}
		addr := "127.0.0.1:" + strconv.Itoa(nextPort.port)
		if l, err := net.Listen("tcp", addr); err == nil {
			_ = l.Close()
			return addr
		}
	}
	t.Fatal("no free port")
	return ""
}
