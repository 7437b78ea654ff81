//go:build race

package crash

const slowed = true // by the race detector
