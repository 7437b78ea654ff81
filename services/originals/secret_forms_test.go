package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net"
	"strings"
	"sync"
)

// wire keeps every byte that comes in over the connections it dials.
type wire struct {
	mu    sync.Mutex
	conns []*bytes.Buffer
}

func (w *wire) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns = append(w.conns, new(bytes.Buffer))
	return &tapped{c, w, w.conns[len(w.conns)-1]}, nil
}

func (w *wire) bytes() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []byte
	for _, b := range w.conns {
		all = append(append(all, b.Bytes()...), '\n')
	}
	return all
}

type tapped struct {
	net.Conn
	wire *wire
	seen *bytes.Buffer
}

// Read implements net.Conn.
func (c *tapped) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.wire.mu.Lock()
	defer c.wire.mu.Unlock()
	c.seen.Write(p[:n])
	return n, err
}

// secret is something that nobody outside may see yet, in all the forms that
// it could leave in.
type secret struct {
	name  string
	forms map[string][]byte
}

// ofBytes are the forms of 32 secret bytes.
func ofBytes(name string, raw []byte) secret {
	return secret{name, map[string][]byte{
		"raw": raw, "hex": []byte(hex.EncodeToString(raw)), "HEX": []byte(strings.ToUpper(hex.EncodeToString(raw))),
		// Unpadded forms are within the padded ones.
		"base64": []byte(base64.RawStdEncoding.EncodeToString(raw)), "base64url": []byte(base64.RawURLEncoding.EncodeToString(raw)),
		"base64 of the hex": []byte(base64.RawStdEncoding.EncodeToString([]byte(hex.EncodeToString(raw)))),
		"list":              listed(raw, " "), "JSON list": listed(raw, ","),
	}}
}

// ofTiles are the forms of a list of tiles.
func ofTiles(name string, tiles []byte) secret {
	return secret{name, map[string][]byte{"raw": tiles, "list": listed(tiles, " "), "JSON list": listed(tiles, ","), "spaced list": listed(tiles, ", ")}}
}

func listed(raw []byte, between string) []byte {
	var parts []string
	for _, b := range raw {
		parts = append(parts, fmt.Sprint(b))
	}
	return []byte(strings.Join(parts, between))
}
