// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package parts

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/valkey-render/valkey-render/test/localcluster/internal/debian"
	"github.com/valkey-render/valkey-render/test/localcluster/internal/store"
)

// Packages of the groups that packages.sh downloads, and the suite each comes from. Only
// libraries follow by themselves, so that what a program calls is named here.
const (
	etcdPackages = "etcd=forky:etcd-server,libc6"
	nodePackages = "node=forky:base-files,bash,coreutils,dash,grep,sed,mawk,util-linux,mount,procps,iproute2," +
		"iptables,conntrack,ethtool,libc6,containerd,runc,containernetworking-plugins,etcd-server"
	imagePackages = ":base-files,coreutils,dash,findutils,grep,gzip,libc-bin,libc6,mawk,sed,tar,valkey-server,valkey-tools"
)

// packages gets the packages of groups into the cache.
func (p Parts) packages(ctx context.Context, groups ...string) (string, error) {
	scripts := filepath.Join(p.Source, "servers")
	script := filepath.Join(scripts, "packages.sh")
	key, err := store.Key([]string{script, filepath.Join(scripts, "debian.sh")}, groups)
	if err != nil {
		return "", err
	}
	dir, err := p.store("packages").Get(ctx, key, func(dir string) error {
		p.Say("downloading Debian packages (once)")
		_, err := p.output(ctx, p.Source, "bash", append([]string{script, dir}, groups...)...)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("packages: %w", err)
	}
	return dir, nil
}

// Etcd is the command line that etcd is started by on this machine: with the loader and the
// C library of its own suite.
func (p Parts) Etcd(ctx context.Context) ([]string, error) {
	root, err := p.root(ctx, "etcd", etcdPackages)
	if err != nil {
		return nil, err
	}
	return OnHost(root, "etcd")
}

// NodeRoot is the root file system of a node.
func (p Parts) NodeRoot(ctx context.Context) (string, error) {
	return p.root(ctx, "node", nodePackages,
		// Debian's alternatives, as its maintainer scripts would choose them.
		debian.Extra{Name: "usr/bin/awk", Link: "mawk"},
		debian.Extra{Name: "usr/sbin/iptables", Link: "xtables-nft-multi"},
		debian.Extra{Name: "usr/sbin/iptables-save", Link: "xtables-nft-multi"},
		debian.Extra{Name: "usr/sbin/iptables-restore", Link: "xtables-nft-multi"},
		debian.Extra{Name: "usr/sbin/ip6tables", Link: "xtables-nft-multi"},
		debian.Extra{Name: "usr/sbin/ip6tables-save", Link: "xtables-nft-multi"},
		debian.Extra{Name: "usr/sbin/ip6tables-restore", Link: "xtables-nft-multi"},
	)
}

// root gets the unpacked packages of one group.
func (p Parts) root(ctx context.Context, name, group string, extra ...debian.Extra) (string, error) {
	key, err := p.rootKey(group, extra)
	if err != nil {
		return "", err
	}
	dir, err := p.store(name).Get(ctx, key, func(dir string) error {
		packages, err := p.packages(ctx, group)
		if err != nil {
			return err
		}
		return debian.Unpack(ctx, filepath.Join(packages, name), extra, dir)
	})
	if err != nil {
		return "", fmt.Errorf("root file system of %s: %w", name, err)
	}
	return dir, nil
}

func (p Parts) rootKey(group string, extra []debian.Extra) (string, error) {
	scripts := filepath.Join(p.Source, "servers")
	return store.Key([]string{filepath.Join(scripts, "packages.sh"), filepath.Join(scripts, "debian.sh")},
		[]string{"2", group, fmt.Sprint(extra)})
}

// OnHost is the command line that runs a program of a root file system outside of it.
func OnHost(root, program string) ([]string, error) {
	loaders, err := filepath.Glob(filepath.Join(root, "usr/lib/*-linux-gnu*/ld-linux-*.so.?"))
	if err != nil || len(loaders) == 0 {
		return nil, fmt.Errorf("root file system %s: no dynamic loader", root)
	}
	for _, dir := range []string{"usr/bin", "usr/sbin"} {
		file := filepath.Join(root, dir, program)
		if _, err := os.Stat(file); err == nil {
			return []string{loaders[0], "--argv0", program, "--library-path", filepath.Dir(loaders[0]), file}, nil
		}
	}
	return nil, fmt.Errorf("root file system %s: no program %s", root, program)
}
