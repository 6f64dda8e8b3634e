// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/valkey-render/valkey-render/test/localcluster/internal/process"
)

// Down ends the cluster and removes all there is of it.
func (c *Cluster) Down(ctx context.Context) error {
	unlock, err := c.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := c.clear(ctx); err != nil {
		return err
	}
	return c.removeLock()
}

// removeLock removes the file of the lock, which is held.
func (c *Cluster) removeLock() error {
	if err := os.Remove(c.lockFile()); err != nil {
		return fmt.Errorf("cluster %s: %w", c.Name, err)
	}
	return nil
}

func (c *Cluster) lockFile() string {
	return filepath.Join(filepath.Dir(c.State()), "."+c.Name+".lock")
}

// clear ends the processes of the cluster and removes its control groups and its state.
func (c *Cluster) clear(ctx context.Context) error {
	if err := process.Kill(ctx, c.State()); err != nil {
		return fmt.Errorf("cluster %s: %w", c.Name, err)
	}
	if os.Geteuid() == 0 {
		if err := groups().Remove(c.group()); err != nil {
			return fmt.Errorf("cluster %s: %w", c.Name, err)
		}
	}
	if err := unmounted(c.State()); err != nil {
		return fmt.Errorf("cluster %s: %w", c.Name, err)
	}
	if err := os.RemoveAll(c.State()); err != nil {
		return fmt.Errorf("cluster %s: %w", c.Name, err)
	}
	return nil
}
