package mines

import (
	"crypto/sha3"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/openoriginals/originals/internal/rng"
)

func oldBoard(s *rng.Stream, mineCount uint8, dst *[MaxMines]uint8) []uint8 {
	var tiles [Tiles]uint8
	for i := range tiles {
		tiles[i] = uint8(i)
	}
	left := tiles[:]
	for i := range mineCount {
		k := s.Uniform(uint64(len(left)))
		dst[i] = left[k]
		copy(left[k:], left[k+1:])
		left = left[:len(left)-1]
	}
	return dst[:mineCount]
}


func TestMicro(t *testing.T) {
	if os.Getenv("MICRO") == "" {
		return
	}
	seed, _ := rng.ParseServerSeed("6f3c054cd6b00951e8b542069c29f73c26cf261a47f4156acf95538d9e16377d")
	cs := rng.ClientSeed("0123456789abcdef0123456789abcdef")
	signer, _ := seed.Signer(cs)
	var shake sha3.SHAKE
	var block [136]byte
	var st rng.Stream
	var d [MaxMines]uint8
	nn := uint32(100000)
	variants := []struct {
		name string
		f    func(n uint32)
	}{
		{"bare2", func(n uint32) { shake.Read(block[:]); shake.Read(block[:]) }},
		{"sign+new", func(n uint32) { sig, _ := seed.Sign(cs, n); s := rng.NewStream(sig); s.Uniform(10000) }},
		{"sign+new+old24", func(n uint32) { sig, _ := seed.Sign(cs, n); s := rng.NewStream(sig); oldBoard(&s, 24, &d) }},
		{"sign+new+24", func(n uint32) { sig, _ := seed.Sign(cs, n); s := rng.NewStream(sig); Board(&s, 24, &d) }},
		{"sign+new+3", func(n uint32) { sig, _ := seed.Sign(cs, n); s := rng.NewStream(sig); Board(&s, 3, &d) }},
		{"signer+start+24", func(n uint32) { sig, _ := signer.Sign(n); st.Start(sig); Board(&st, 24, &d) }},
	}
	times := make([][]float64, len(variants))
	for range 400 {
		for i, v := range variants {
			t0 := time.Now()
			for range 300 {
				nn++
				v.f(nn)
			}
			times[i] = append(times[i], float64(time.Since(t0).Nanoseconds())/300)
		}
	}
	for i, v := range variants {
		slices.Sort(times[i])
		fmt.Printf("%-26s min %.0f p10 %.0f med %.0f\n", v.name, times[i][0], times[i][40], times[i][200])
	}
}
