//go:build !race

package crash

const slowed = false
