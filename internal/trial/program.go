// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Programs that pods need, in one directory.
const (
	serverProgram = "valkey-server"
	clientProgram = "valkey-cli"
)

// FindPrograms returns the directory with valkey-server and valkey-cli of a minor
// version: dir or one below it, when given, else one of path, a list as in $PATH.
// A server of another version is a *VersionError.
func FindPrograms(ctx context.Context, dir, path, version string) (string, error) {
	places := filepath.SplitList(path)
	if dir != "" {
		places = []string{filepath.Join(dir, version, "bin"), filepath.Join(dir, "bin"), dir}
	}
	for _, place := range places {
		place, err := filepath.Abs(place)
		if err != nil {
			return "", err
		}
		server := filepath.Join(place, serverProgram)
		if !executable(server) {
			continue
		}
		if !executable(filepath.Join(place, clientProgram)) {
			return "", fmt.Errorf("%s: no %s beside it, which the scripts of the pods call", server, clientProgram)
		}
		return place, checkVersion(ctx, server, version)
	}
	if dir != "" {
		return "", fmt.Errorf("%s: no %s there, in bin, or in %s", dir, serverProgram, filepath.Join(version, "bin"))
	}
	return "", fmt.Errorf("%s: not on PATH. %s", serverProgram, howToGet)
}

const howToGet = `Install it, for example with:
  apt-get install valkey-server valkey-tools    Debian 13, Ubuntu 25.04 and later
  dnf install valkey                            Fedora, RHEL 10
  apk add valkey valkey-cli                     Alpine
  brew install valkey                           Homebrew
or name the directory that holds it with --server`

func executable(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

// VersionError says that a server is of another version than is asked for.
type VersionError struct {
	// Server is its path, and Found its version such as 8.1.4.
	Server, Found string
	// Wanted is the minor version.
	Wanted string
}

// Minor is Found without its last part.
func (e *VersionError) Minor() string { return minor(e.Found) }

func (e *VersionError) Error() string {
	return fmt.Sprintf("%s: version %s, and the spec asks for %s", e.Server, e.Found, e.Wanted)
}

func minor(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

func checkVersion(ctx context.Context, server, wanted string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, server, "--version").CombinedOutput()
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return err
		}
		return fmt.Errorf("%s --version failed: %w: %s", server, err, strings.TrimSpace(string(out)))
	}
	found := versionIn(string(out))
	if found == "" {
		return fmt.Errorf("%s --version says no version: %q", server, strings.TrimSpace(string(out)))
	}
	if minor(found) != wanted {
		return &VersionError{Server: server, Found: found, Wanted: wanted}
	}
	return nil
}

// versionIn finds the version in "Valkey server v=8.1.4 sha=…".
func versionIn(text string) string {
	for word := range strings.FieldsSeq(text) {
		if version, found := strings.CutPrefix(word, "v="); found {
			return version
		}
	}
	return ""
}
