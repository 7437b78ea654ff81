package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// Group starts and ends what a process runs: listeners, and jobs beside them.
// It is filled, then Listen, then Serve.
type Group struct {
	// Drain is how long it goes on taking calls after it has said that it is
	// not ready, so that load balancers notice; zero for no wait.
	Drain time.Duration
	// Grace is how long calls in flight may take to finish; 15 s when zero.
	Grace time.Duration
	// Health answers grpc.health.v1 for the group: SERVING until the end
	// begins.
	Health *health.Server

	listeners []*listener
	jobs      []job
	serving   atomic.Bool
}

type listener struct {
	name, addr string
	socket     net.Listener
	serve      func(net.Listener) error
	stop       func(ctx context.Context) error // finishes calls in flight
	kill       func()                          // ends them
}

type job struct {
	name string
	run  func(ctx context.Context) error
}

const defaultGrace = 15 * time.Second

// NewGroup returns an empty group.
func NewGroup() *Group { return &Group{Grace: defaultGrace, Health: health.NewServer()} }

// HTTP adds a listener for an HTTP server at its Addr. The name is for Addr
// and for errors.
func (g *Group) HTTP(name string, s *http.Server) {
	g.listeners = append(g.listeners, &listener{
		name: name, addr: s.Addr,
		serve: func(socket net.Listener) error {
			if err := s.Serve(socket); !errors.Is(err, http.ErrServerClosed) {
				return err
			}
			return nil
		},
		stop: s.Shutdown,
		kill: func() { _ = s.Close() },
	})
}

// GRPC adds a listener for a gRPC server, on which every service is registered
// already: Health answers for each by its name, too.
func (g *Group) GRPC(name, addr string, s *grpc.Server) {
	for service := range s.GetServiceInfo() {
		g.Health.SetServingStatus(service, healthpb.HealthCheckResponse_SERVING)
	}
	g.listeners = append(g.listeners, &listener{
		name: name, addr: addr,
		serve: func(socket net.Listener) error {
			if err := s.Serve(socket); !errors.Is(err, grpc.ErrServerStopped) {
				return err
			}
			return nil
		},
		stop: func(ctx context.Context) error {
			defer context.AfterFunc(ctx, s.Stop)()
			s.GracefulStop()
			return ctx.Err()
		},
		kill: s.Stop,
	})
}

// Go adds a job, which runs until its context is done, after the last call has
// ended, and then returns nil. The group ends when a job returns an error.
func (g *Group) Go(name string, run func(ctx context.Context) error) {
	g.jobs = append(g.jobs, job{name, run})
}

// Listen binds every address, or none.
func (g *Group) Listen() error {
	for i, l := range g.listeners {
		socket, err := net.Listen("tcp", l.addr)
		if err != nil {
			for _, bound := range g.listeners[:i] {
				_ = bound.socket.Close()
			}
			return fmt.Errorf("server: listen for %s: %w", l.name, err)
		}
		l.socket = socket
	}
	return nil
}

// Addr returns the bound address of a listener after Listen; nil for a name
// that is unknown.
func (g *Group) Addr(name string) net.Addr {
	for _, l := range g.listeners {
		if l.name == name && l.socket != nil {
			return l.socket.Addr()
		}
	}
	return nil
}

// ErrNotServing says that a group has not begun to serve, or is ending.
var ErrNotServing = errors.New("server: not serving")

// Ready returns ErrNotServing unless the group serves. It is part of a
// readiness check.
func (g *Group) Ready() error {
	if g.serving.Load() {
		return nil
	}
	return ErrNotServing
}

// Serve serves until ctx is done or something fails. It then says that it is
// not ready, finishes the calls in flight within Grace, ends the rest by
// force, and last the jobs. It returns the first error; nil when ctx ended it
// and all calls were finished.
func (g *Group) Serve(ctx context.Context) error {
	failed := make(chan error, len(g.listeners)+len(g.jobs))
	var listeners, jobs sync.WaitGroup
	for _, l := range g.listeners {
		listeners.Go(func() {
			if err := l.serve(l.socket); err != nil {
				failed <- fmt.Errorf("server: %s: %w", l.name, err)
			}
		})
	}
	jobCtx, endJobs := context.WithCancel(context.WithoutCancel(ctx))
	defer endJobs()
	for _, j := range g.jobs {
		jobs.Go(func() {
			if err := j.run(jobCtx); err != nil {
				failed <- fmt.Errorf("server: %s: %w", j.name, err)
			}
		})
	}
	g.serving.Store(true)
	first := g.wait(ctx, failed)
	g.serving.Store(false)
	g.Health.Shutdown()
	stopped := g.stop(first == nil)
	listeners.Wait()
	endJobs()
	jobs.Wait()
	close(failed)
	return firstOf(first, stopped, <-failed)
}

// wait returns nil when ctx is done and the drain is over, or the first error.
func (g *Group) wait(ctx context.Context, failed <-chan error) error {
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	g.serving.Store(false)
	g.Health.Shutdown()
	select {
	case err := <-failed:
		return err
	case <-time.After(g.Drain):
		return nil
	}
}

// stop ends all listeners side by side.
func (g *Group) stop(gracefully bool) error {
	grace := g.Grace
	if !gracefully {
		grace = 0
	}
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	late := make(chan error, len(g.listeners))
	var all sync.WaitGroup
	for _, l := range g.listeners {
		all.Go(func() {
			if err := l.stop(ctx); err != nil {
				l.kill()
				late <- fmt.Errorf("server: %s: calls in flight were cut off: %w", l.name, err)
			}
		})
	}
	all.Wait()
	close(late)
	return <-late
}

func firstOf(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}
