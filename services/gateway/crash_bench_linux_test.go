package gateway

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/server"
	originalsv1 "github.com/openoriginals/originals/proto/originals/v1"
)

// readerVariable makes the test's program a process that watches: an address of
// the loopback interface, and how often it connects.
const readerVariable = "GATEWAY_TEST_READER"

func TestMain(m *testing.M) {
	if args := os.Getenv(readerVariable); args != "" {
		if err := readEvents(strings.Fields(args)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// readEvents watches a table with many connections. For each line of its input
// it reports how many ticks came since the line before, and their delays in
// microseconds.
func readEvents(args []string) error {
	address, err := net.ResolveTCPAddr("tcp4", args[0])
	if err != nil {
		return err
	}
	count, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	poll, err := syscall.EpollCreate1(0)
	if err != nil {
		return err
	}
	to := &syscall.SockaddrInet4{Port: address.Port, Addr: [4]byte(address.IP.To4())}
	for range count {
		if err := watchBySocket(poll, to); err != nil {
			return err
		}
	}
	asked := make(chan struct{})
	go func() {
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			asked <- struct{}{}
		}
		close(asked)
	}()
	var delays []int64
	events, buffer := make([]syscall.EpollEvent, 1024), make([]byte, 64<<10)
	fmt.Println("connected")
	for {
		select {
		case _, open := <-asked:
			if !open {
				return nil
			}
			slices.Sort(delays)
			fmt.Println(len(delays), percentile(delays, 50), percentile(delays, 99))
			delays = delays[:0]
		default:
		}
		n, err := syscall.EpollWait(poll, events, 100)
		if err != nil && err != syscall.EINTR {
			return err
		}
		for _, e := range events[:max(n, 0)] {
			size, err := syscall.Read(int(e.Fd), buffer)
			if err != nil || size == 0 {
				return fmt.Errorf("a watcher was cut off: %d %v", size, err)
			}
			delays = appendDelays(delays, buffer[:size])
		}
	}
}

func watchBySocket(poll int, to *syscall.SockaddrInet4) error {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	if err := syscall.Connect(fd, to); err != nil {
		return err
	}
	if _, err := syscall.Write(fd, []byte("GET /v1/crash/tables/main:watch HTTP/1.1\r\nHost: x\r\n\r\n")); err != nil {
		return err
	}
	if err := syscall.SetNonblock(fd, true); err != nil {
		return err
	}
	return syscall.EpollCtl(poll, syscall.EPOLL_CTL_ADD, fd, &syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(fd)})
}

// appendDelays finds the time of each tick, which stands for how far it is.
func appendDelays(delays []int64, text []byte) []int64 {
	mark := []byte(`"elapsedUs":"`)
	for {
		at := bytes.Index(text, mark)
		if at < 0 {
			return delays
		}
		text = text[at+len(mark):]
		sent, err := strconv.ParseInt(string(text[:max(0, bytes.IndexByte(text, '"'))]), 10, 64)
		if err == nil {
			delays = append(delays, time.Now().UnixMicro()-sent)
		}
	}
}

func percentile(sorted []int64, p int) int64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, len(sorted)*p/100)]
}

// crowd is a gateway with many watchers, who are in another process.
type crowd struct {
	b     testing.TB
	s     *tableStage
	at    net.Addr
	count int
	in    *bufio.Scanner
	ask   func()
	leave func() // all at once
	event int64
}

// newCrowd starts a gateway without watchers.
func newCrowd(b testing.TB, count int) *crowd {
	b.Helper()
	s := &tableStage{t: b, fake: &tableFake{events: make(chan *originalsv1.CrashEvent, 1000)}, stop: make(chan struct{})}
	local := server.NewLocal(nil, nil)
	originalsv1.RegisterCrashServiceServer(local, s.fake)
	var err error
	if s.g, err = New(Options{Conn: local, Stop: s.stop}); err != nil {
		b.Fatal(err)
	}
	s.h = s.g.crash
	s.h.heartbeat = time.Hour
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	front := server.NewHTTP("", s.g)
	go func() { _ = front.Serve(l) }()
	b.Cleanup(func() { _ = front.Close() })
	b.Cleanup(s.end)
	s.fake.events <- tableSnapshot(1)
	return &crowd{b: b, s: s, at: l.Addr(), count: count, event: 1}
}

// join has all watchers come, as fast as they can.
func (c *crowd) join() {
	c.b.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	readers := exec.CommandContext(ctx, os.Args[0])
	readers.Env = append(os.Environ(), readerVariable+"="+c.at.String()+" "+strconv.Itoa(c.count))
	readers.Stderr = os.Stderr
	stdin, err := readers.StdinPipe()
	if err != nil {
		c.b.Fatal(err)
	}
	stdout, err := readers.StdoutPipe()
	if err != nil {
		c.b.Fatal(err)
	}
	if err := readers.Start(); err != nil {
		c.b.Fatal(err)
	}
	c.leave = sync.OnceFunc(func() {
		cancel()
		_ = readers.Wait() // killed
	})
	c.b.Cleanup(c.leave)
	c.in, c.ask = bufio.NewScanner(stdout), func() { fmt.Fprintln(stdin) }
	if !c.in.Scan() {
		c.b.Fatal("the readers did not connect")
	}
}

// settle waits until all have come, and were sent what there was.
func (c *crowd) settle() {
	c.b.Helper()
	c.s.awaitLeft(c.count)
	time.Sleep(time.Second)
	c.report()
}

// report returns how many ticks were read since the last report, and their 50th
// and 99th percentiles in microseconds.
func (c *crowd) report() (read int, p50, p99 int64) {
	c.b.Helper()
	c.ask()
	if !c.in.Scan() {
		c.b.Fatal("the readers have ended")
	}
	if _, err := fmt.Sscan(c.in.Text(), &read, &p50, &p99); err != nil {
		c.b.Fatal(err)
	}
	return read, p50, p99
}

const (
	crowdRounds = 20
	crowdPace   = 100 * time.Millisecond
)

// play tells events at the pace of a table and returns the processor time of one
// delivery.
func (c *crowd) play(tell func()) (perDelivery time.Duration, p50, p99 int64) {
	c.b.Helper()
	before := processorTime()
	next := time.Now()
	for range crowdRounds {
		tell()
		next = next.Add(crowdPace)
		time.Sleep(time.Until(next))
	}
	used := processorTime() - before
	time.Sleep(300 * time.Millisecond)
	read, p50, p99 := c.report()
	if read != crowdRounds*c.count {
		c.b.Fatalf("%d events were read, want %d", read, crowdRounds*c.count)
	}
	return used / time.Duration(read), p50, p99
}

func (c *crowd) tick() *originalsv1.CrashEvent {
	c.event++
	e := tableTick(c.event)
	e.GetTick().ElapsedUs, e.GetTick().MultiplierE2 = time.Now().UnixMicro(), 12345
	return e
}

// bare writes one frame to all connections, one after the other.
func (c *crowd) bare(conns []net.Conn) func() {
	f := &crashFeed{codec: c.s.h.codec}
	return func() {
		frame, err := f.frame(c.tick())
		if err != nil {
			c.b.Fatal(err)
		}
		for _, conn := range conns {
			if _, err := conn.Write(frame); err != nil {
				c.b.Fatal(err)
			}
		}
	}
}

func (c *crowd) conns() (all []net.Conn) {
	for _, w := range c.s.h.writers {
		for _, g := range w.groups { // nothing is told, so that the writers rest
			for _, watcher := range g.watchers {
				all = append(all, watcher.conn)
			}
		}
	}
	return all
}

func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkWatchers is 10,000 watchers of one process, who are in another, at ten
// events a second; beside it a bare loop that writes one prepared frame to the
// same connections, by turns.
func BenchmarkWatchers(b *testing.B) {
	const count = 10_000
	memory := memoryInUse()
	c := newCrowd(b, count)
	c.join()
	c.settle()
	b.ReportMetric(float64(memoryInUse()-memory)/count, "B/watcher")
	conns := c.conns()
	if len(conns) != count {
		b.Fatalf("%d connections", len(conns))
	}
	var ours, bare, ours99, bare99 []int64
	for range max(5, b.N) {
		per, _, p99 := c.play(c.bare(conns))
		bare, bare99 = append(bare, per.Nanoseconds()), append(bare99, p99)
		per, _, p99 = c.play(func() { c.s.fake.events <- c.tick() })
		ours, ours99 = append(ours, per.Nanoseconds()), append(ours99, p99)
	}
	b.Logf("ns of processor time a delivery: %d, bare %d; p99 in us: %d, bare %d", ours, bare, ours99, bare99)
	b.ReportMetric(float64(slices.Min(ours))/float64(slices.Min(bare)), "times-bare")
	b.ReportMetric(float64(slices.Min(ours)), "cpu-ns/delivery")
	b.ReportMetric(float64(slices.Min(ours99))/1000, "p99-ms") // the least that others on the machine have disturbed
	b.ReportMetric(float64(slices.Min(bare99))/1000, "bare-p99-ms")
	b.ReportMetric(0, "ns/op")
}

// memoryInUse returns the bytes of heap and stacks.
func memoryInUse() int64 {
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}
