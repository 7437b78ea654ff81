package rng_test

import (
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/openoriginals/originals/internal/rng"
)

// The lengths lie on each side of the 59 bytes above which the message fills more than one block of SHA3-256.
func TestSignerSignsLikeTheServerSeed(t *testing.T) {
	seed := mustServerSeed(t, exampleSeed)
	compared := 0
	for _, length := range []int{1, 32, 58, 59, 60, 64} {
		client := rng.ClientSeed(strings.Repeat("z", length))
		signer, err := seed.Signer(client)
		if err != nil {
			t.Fatal(err)
		}
		for _, nonce := range []uint32{4294967294, 0, 9, 10, 99, 100, 999999999, 1000000000, 1, 0} { // long ones before short ones
			signature, err := signer.Sign(nonce)
			if want := mustSign(t, seed, client, nonce).Reveal(); err != nil || signature.Reveal() != want {
				t.Errorf("%d bytes, nonce %d: %s, %v; want %s", length, nonce, signature.Reveal(), err, want)
			}
			compared++
		}
		if _, err := signer.Sign(rng.MaxNonce + 1); !errors.Is(err, rng.ErrNonce) {
			t.Errorf("a nonce above the last: %v", err)
		}
	}
	if compared != 60 {
		t.Errorf("%d signatures compared, want 60", compared)
	}
}

func TestSignerOfTheWorkedExample(t *testing.T) {
	signer, err := mustServerSeed(t, exampleSeed).Signer(exampleClient)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range exampleRounds {
		if signature, err := signer.Sign(want.nonce); err != nil || signature.Reveal() != want.signature {
			t.Errorf("nonce %d: %s, %v; want %s", want.nonce, signature.Reveal(), err, want.signature)
		}
	}
}

func TestSignerRefusesIncompletePairs(t *testing.T) {
	if _, err := (rng.ServerSeed{}).Signer(exampleClient); !errors.Is(err, rng.ErrServerSeedUnset) {
		t.Errorf("no server seed: %v", err)
	}
	if _, err := (rng.Signer{}).Sign(0); !errors.Is(err, rng.ErrServerSeedUnset) {
		t.Errorf("the zero Signer: %v", err)
	}
	for _, client := range []rng.ClientSeed{"", "a b", rng.ClientSeed(strings.Repeat("z", 65))} {
		if _, err := mustServerSeed(t, exampleSeed).Signer(client); !errors.Is(err, rng.ErrClientSeed) {
			t.Errorf("client seed %q: %v", client, err)
		}
	}
}

func TestStartedStreamIsANewOne(t *testing.T) {
	seed := mustServerSeed(t, exampleSeed)
	var stream rng.Stream
	for nonce := range uint32(100) {
		signature := mustSign(t, seed, exampleClient, nonce)
		stream.Start(signature)
		fresh := rng.NewStream(signature)
		for range nonce { // leaves it at another place each time
			if stream.Word32() != fresh.Word32() {
				t.Fatalf("nonce %d: another stream", nonce)
			}
		}
	}
}

// Every byte in every place, against the standard library.
func TestDigitsOfBytes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var raw [32]byte
	for place := range raw {
		for value := range 256 {
			for i := range raw {
				raw[i] = byte(random.Uint32())
			}
			raw[place] = byte(value)
			seed, err := rng.ServerSeedFromBytes(raw[:])
			if err != nil || seed.Reveal() != hex.EncodeToString(raw[:]) {
				t.Fatalf("%x: %s, %v", raw, seed.Reveal(), err)
			}
		}
	}
}

func TestManyRoundsDoNotAllocate(t *testing.T) {
	signer, err := mustServerSeed(t, exampleSeed).Signer(exampleClient)
	if err != nil {
		t.Fatal(err)
	}
	var stream rng.Stream
	nonce := uint32(0)
	allocations := testing.AllocsPerRun(1000, func() {
		signature, _ := signer.Sign(nonce)
		stream.Start(signature)
		stream.Uniform(10000)
		nonce++
	})
	if allocations != 0 {
		t.Errorf("%v allocations a round", allocations)
	}
}
