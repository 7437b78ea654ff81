//go:build unix

package main

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"unsafe"
)

var errNoMap = errors.New("cannot be mapped")

// mapFile returns the content of a file, which lives until unmap is called. The
// error says that it cannot be had so: of a pipe, or of an empty file.
func mapFile(file *os.File, info fs.FileInfo) (text string, unmap func() error, err error) {
	size := info.Size()
	if !info.Mode().IsRegular() || size <= 0 || int64(int(size)) != size {
		return "", nil, errNoMap
	}
	memory, err := syscall.Mmap(int(file.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return "", nil, err
	}
	return unsafe.String(&memory[0], len(memory)), func() error { return syscall.Munmap(memory) }, nil
}
