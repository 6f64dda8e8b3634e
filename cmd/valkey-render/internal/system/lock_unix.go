// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix && !solaris && !illumos && !aix

package system

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// again is how long to wait before asking for a lock once more.
const again = 20 * time.Millisecond

// lock takes the lock of a directory. Some network file systems have none for
// directories: nothing is locked there.
func lock(ctx context.Context, dir string) (unlock func(), locked bool, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, false, err
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return func() { f.Close() }, err == nil, nil
		}
		pause, end := context.WithTimeout(ctx, again)
		<-pause.Done()
		end()
		if err := ctx.Err(); err != nil {
			f.Close()
			return nil, false, err
		}
	}
}
