package testenv

import (
	"os/exec"
	"runtime"
	"sync"
)

// Pdeathsig ends a child when the thread that started it ends, and the Go
// runtime ends threads. So one goroutine, locked to a thread that lives as long
// as the process, starts all of them.
var (
	parentOnce sync.Once
	toStart    = make(chan startRequest)
)

type startRequest struct {
	cmd    *exec.Cmd
	result chan error
}

func startWithParent(cmd *exec.Cmd) error {
	parentOnce.Do(func() { go parent() })
	request := startRequest{cmd, make(chan error)}
	toStart <- request
	return <-request.result
}

func parent() {
	runtime.LockOSThread()
	for r := range toStart {
		r.result <- r.cmd.Start()
	}
}
