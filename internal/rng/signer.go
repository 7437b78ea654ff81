package rng

// Signer signs many rounds of one seed pair: what their messages share is checked and written once. It is as secret as
// the server seed, and redacts in the same way. A Signer belongs to one goroutine, together with its copies. The zero
// Signer is unusable.
type Signer struct {
	hidden                          // the server seed
	message **[maxMessageBytes]byte // the prefix and room for a nonce, behind two pointers for the reason that hidden gives
	prefix  int                     // length of the prefix
}

// Signer returns a signer of the rounds with this client seed, or ErrServerSeedUnset or ErrClientSeed.
func (s ServerSeed) Signer(c ClientSeed) (Signer, error) {
	if err := s.signs(c); err != nil {
		return Signer{}, err
	}
	message := new([maxMessageBytes]byte)
	prefix := s.appendPrefix(message[:0], c)
	return Signer{s.hidden, &message, len(prefix)}, nil
}

// Sign returns what ServerSeed.Sign returns for these seeds, or ErrNonce; of the zero Signer it is ErrServerSeedUnset.
func (s Signer) Sign(nonce uint32) (Signature, error) {
	d := new(digits) // in the caller's frame, as in ServerSeed.Sign
	return s.sign(&d, nonce)
}

func (s Signer) sign(d **digits, nonce uint32) (Signature, error) {
	if s.IsZero() {
		return Signature{}, ErrServerSeedUnset
	}
	return signMessage(d, (*s.message)[:s.prefix], nonce)
}
