package crash

import (
	"sync"

	"google.golang.org/grpc"
)

// peers keeps connections to other owners.
type peers struct {
	mu    sync.Mutex
	conns map[string]grpc.ClientConnInterface
}

func (p *peers) dial(address string, dial func(string) (grpc.ClientConnInterface, error)) (grpc.ClientConnInterface, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if conn, ok := p.conns[address]; ok {
		return conn, nil
	}
	conn, err := dial(address)
	if err != nil {
		return nil, err
	}
	if p.conns == nil {
		p.conns = make(map[string]grpc.ClientConnInterface)
	}
	p.conns[address] = conn
	return conn, nil
}
