// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// kernelSettings are the settings of the whole machine that a kubelet changes, with the
// values it wants. Files stand in for them, so that it is content and the machine as it was.
func kernelSettings() map[string]string {
	return map[string]string{
		"vm/overcommit_memory":      "1",
		"vm/panic_on_oom":           "0",
		"kernel/panic":              "10",
		"kernel/panic_on_oops":      "1",
		"kernel/keys/root_maxkeys":  "1000000",
		"kernel/keys/root_maxbytes": "25000000",
	}
}

// enter makes the host's file system and makes it the root of this process. It needs a
// mount namespace of its own; what it mounts is gone with the last process there.
func (r Root) enter(hostname string) error {
	if err := unix.Sethostname([]byte(hostname)); err != nil {
		return fmt.Errorf("host name: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mount /: %w", err)
	}
	if err := mount("tmpfs", r.Mountpoint, "tmpfs", 0, "mode=755"); err != nil {
		return err
	}
	if err := r.skeleton(); err != nil {
		return err
	}
	if err := r.mounts(); err != nil {
		return err
	}
	if err := r.settings(); err != nil {
		return err
	}
	return r.pivot()
}

// skeleton makes the directories, links and files of the host's root.
func (r Root) skeleton() error {
	for _, dir := range []string{"usr", "var", "run", "tmp", "dev", "sys", "proc", "etc", "opt", ".old"} {
		if err := os.MkdirAll(r.inside(dir), 0o755); err != nil {
			return fmt.Errorf("root: %w", err)
		}
	}
	for _, dir := range []string{"bin", "sbin", "lib", "lib64"} {
		if err := os.Symlink("usr/"+dir, r.inside(dir)); err != nil {
			return fmt.Errorf("root: %w", err)
		}
	}
	for name, text := range r.Files {
		if err := os.MkdirAll(filepath.Dir(r.inside(name)), 0o755); err != nil {
			return fmt.Errorf("root: %w", err)
		}
		if err := os.WriteFile(r.inside(name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("root: %w", err)
		}
	}
	return nil
}

func (r Root) mounts() error {
	if err := mount(filepath.Join(r.System, "usr"), r.inside("usr"), "", unix.MS_BIND, ""); err != nil {
		return err
	}
	if err := mount("", r.inside("usr"), "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		return err
	}
	if err := mount(r.Var, r.inside("var"), "", unix.MS_BIND, ""); err != nil {
		return err
	}
	for _, dir := range []string{"run", "tmp"} {
		if err := mount("tmpfs", r.inside(dir), "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777"); err != nil {
			return err
		}
	}
	for _, dir := range []string{"dev", "sys"} {
		if err := mount("/"+dir, r.inside(dir), "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return err
		}
	}
	if err := mount("proc", r.inside("proc"), "proc", 0, ""); err != nil {
		return err
	}
	for to, from := range r.Binds {
		if err := os.MkdirAll(r.inside(to), 0o755); err != nil {
			return fmt.Errorf("root: %w", err)
		}
		if err := mount(from, r.inside(to), "", unix.MS_BIND, ""); err != nil {
			return err
		}
	}
	return nil
}

func (r Root) settings() error {
	dir := r.inside("run/kernel-settings")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("root: %w", err)
	}
	for name, value := range kernelSettings() {
		setting := r.inside("proc/sys/" + name)
		if _, err := os.Stat(setting); err != nil {
			continue // a kernel without it
		}
		file := filepath.Join(dir, strings.ReplaceAll(name, "/", "."))
		if err := os.WriteFile(file, []byte(value+"\n"), 0o644); err != nil {
			return fmt.Errorf("root: %w", err)
		}
		if err := mount(file, setting, "", unix.MS_BIND, ""); err != nil {
			return err
		}
	}
	return nil
}

// pivot makes the mountpoint the root, and lets go of the machine's.
func (r Root) pivot() error {
	if err := unix.PivotRoot(r.Mountpoint, r.inside(".old")); err != nil {
		return fmt.Errorf("root %s: %w", r.Mountpoint, err)
	}
	if err := os.Chdir("/"); err != nil {
		return fmt.Errorf("root: %w", err)
	}
	if err := unix.Unmount("/.old", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("root: %w", err)
	}
	if err := os.Remove("/.old"); err != nil {
		return fmt.Errorf("root: %w", err)
	}
	// The kubelet hands mounts on to containers that ask for it.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SHARED, ""); err != nil {
		return fmt.Errorf("mount /: %w", err)
	}
	return nil
}

func (r Root) inside(name string) string { return filepath.Join(r.Mountpoint, name) }

func mount(from, to, kind string, flags uintptr, options string) error {
	if err := unix.Mount(from, to, kind, flags, options); err != nil {
		return fmt.Errorf("mount %s: %w", to, err)
	}
	return nil
}
