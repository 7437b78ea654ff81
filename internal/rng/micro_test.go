package rng

import (
	"crypto/sha3"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"
)

func TestMicro(t *testing.T) {
	if os.Getenv("MICRO") == "" {
		return
	}
	seed, _ := ParseServerSeed("6f3c054cd6b00951e8b542069c29f73c26cf261a47f4156acf95538d9e16377d")
	cs := ClientSeed("0123456789abcdef0123456789abcdef")
	signer, _ := seed.Signer(cs)
	var shake sha3.SHAKE
	var block [136]byte
	var st Stream
	var m [103]byte
	var d digits
	pd := &d
	variants := []struct {
		name string
		f    func(n uint32)
	}{
		{"bare2", func(n uint32) { shake.Read(block[:]); shake.Read(block[:]) }},
		{"sign+new", func(n uint32) { sig, _ := seed.Sign(cs, n); s := NewStream(sig); s.Uniform(10000) }},
		{"sign+start", func(n uint32) { sig, _ := seed.Sign(cs, n); st.Start(sig); st.Uniform(10000) }},
		{"signer+new", func(n uint32) { sig, _ := signer.Sign(n); s := NewStream(sig); s.Uniform(10000) }},
		{"signer+start", func(n uint32) { sig, _ := signer.Sign(n); st.Start(sig); st.Uniform(10000) }},
		{"sum", func(n uint32) { m[0] = byte(n); x := sha3.Sum256(m[:]); m[1] = x[0] }},
		{"sum+encode", func(n uint32) { m[0] = byte(n); x := sha3.Sum256(m[:]); d.encode(&x) }},
		{"sum+encode+start", func(n uint32) { m[0] = byte(n); x := sha3.Sum256(m[:]); d.encode(&x); st.Start(Signature{hidden{&pd}}) }},
		{"append+sum+encode+start", func(n uint32) {
			x := sha3.Sum256(strconv.AppendUint(m[:90], uint64(n), 10))
			d.encode(&x)
			st.Start(Signature{hidden{&pd}})
		}},
	}
	times := make([][]float64, len(variants))
	for range 400 {
		for i, v := range variants {
			t0 := time.Now()
			for n := range uint32(300) {
				v.f(n + 100000)
			}
			times[i] = append(times[i], float64(time.Since(t0).Nanoseconds())/300)
		}
	}
	for i, v := range variants {
		slices.Sort(times[i])
		fmt.Printf("%-26s min %.0f p10 %.0f med %.0f\n", v.name, times[i][0], times[i][40], times[i][200])
	}
}
