// Package testenv holds what tests run against: real Redis servers of their
// own, single or in a cluster, and the services on them. It must never be
// imported by anything but tests.
package testenv
