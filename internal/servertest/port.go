// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package servertest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// Ports are below those that the kernel gives to outgoing connections (from 32768), of
// which one could take a bus port between the look and the start of the server.
const (
	firstPort = 10000
	ports     = 10000
	busOffset = 10000
	// portRest is how long a port is not handed out again. Members of a cluster go on
	// looking for a server at its former address, and there must not find another's.
	portRest = 10 * time.Minute
)

// FreePort returns a TCP port of 127.0.0.1 that nobody listens on, whose cluster bus port
// (10000 above it) is free too. No other process gets it from here for some minutes.
func FreePort() (int, error) {
	path := filepath.Join(os.TempDir(), fmt.Sprintf("valkey-ports-%d", os.Getuid()))
	taken, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() { _ = taken.Close() }()
	if err := syscall.Flock(int(taken.Fd()), syscall.LOCK_EX); err != nil {
		return 0, fmt.Errorf("lock %s: %w", path, err)
	}
	defer func() { _ = syscall.Flock(int(taken.Fd()), syscall.LOCK_UN) }()
	for range 1000 {
		port := firstPort + rand.N(ports)
		if ok, err := take(taken, port, time.Now()); err != nil || ok {
			return port, err
		}
	}
	return 0, errors.New("no free pair of ports on 127.0.0.1")
}

// take notes in a file when a port was handed out, if it is free and has rested.
func take(taken *os.File, port int, now time.Time) (bool, error) {
	at := int64(port-firstPort) * 8
	var last [8]byte
	if _, err := taken.ReadAt(last[:], at); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	if now.Sub(time.Unix(int64(binary.LittleEndian.Uint64(last[:])), 0)) < portRest || !free(port) || !free(port+busOffset) {
		return false, nil
	}
	binary.LittleEndian.PutUint64(last[:], uint64(now.Unix()))
	_, err := taken.WriteAt(last[:], at)
	return err == nil, err
}

func free(port int) bool {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	_ = listener.Close()
	return true
}
