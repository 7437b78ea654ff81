// Package server holds what every process needs to serve: the in-process
// connection, interceptors, listeners, metrics, logs, health and shutdown; it
// must never import a service, a store or a game.
package server
