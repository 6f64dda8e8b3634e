// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package settle

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"sync"

	"github.com/valkey-render/valkey-render/render/command"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
	"github.com/valkey-render/valkey-render/topologyjob/setting"
)

// Reasons of a Report about certificates, beside those of setting.Flaw.
const (
	// TLSOff: a server has no certificate.
	TLSOff = "TLSOff"
	// TLSReloadRefused: a server refuses the files that it sees. They may be on their way.
	TLSReloadRefused = "TLSReloadRefused"
	// TLSNotServed: a server still shows another certificate.
	TLSNotServed = "TLSNotServed"
	// TLSRestartNeeded: a sentinel before 9.1 reads its certificate when it starts.
	TLSRestartNeeded = "TLSRestartNeeded"
)

// TLS has every server read its certificate files again, and is done when each of them
// shows the one that is wanted. served asks for the certificate, DER, that a server shows.
//
// Nothing tells which authorities a server has read, so that a data pod that does not
// read its files by itself is told to once in a run, whatever it shows.
func TLS(ctx context.Context, o Options, wanted *setting.Certificate, served func(ctx context.Context, at node.Address) ([]byte, error)) Report {
	c := &certificates{run: newRun(o, func(Pod) bool { return true }), wanted: wanted, served: served, read: map[string]bool{}}
	report := c.loop(ctx, c.pass)
	if report.Result == outcome.Converged && !o.DryRun {
		report.Fingerprint = wanted.Fingerprint
	}
	return report
}

type certificates struct {
	*run
	wanted *setting.Certificate
	served func(ctx context.Context, at node.Address) ([]byte, error)

	readMu sync.Mutex
	// read are pods that have read their files in this run.
	read map[string]bool
}

// pass looks first at whether the certificate is for every pod: nobody is to read it else.
func (c *certificates) pass(ctx context.Context) error {
	err := c.each(ctx, c.pods, func(ctx context.Context, p Pod) error {
		at, err := c.address(ctx, p)
		if err != nil {
			// The name is known all the same.
			if at.Name == "" {
				return err
			}
			at.IP = ""
		}
		flaw := c.wanted.For(cmp.Or(at.Name, at.IP))
		if wrong, ok := errors.AsType[*setting.FlawError](flaw); ok {
			return &BlockedError{string(wrong.Flaw), wrong}
		}
		return nil
	})
	if err != nil {
		return err
	}
	var data, sentinels []Pod
	for _, p := range c.pods {
		if p.Sentinel {
			sentinels = append(sentinels, p)
		} else {
			data = append(data, p)
		}
	}
	// A sentinel may need more than waiting, which is no reason to leave the others.
	if err := c.each(ctx, data, c.renew); err != nil {
		return err
	}
	return c.each(ctx, sentinels, c.renew)
}

// renew gets one pod to show the certificate.
func (c *certificates) renew(ctx context.Context, p Pod) error {
	shown, err := c.shows(ctx, p)
	if err != nil {
		return err
	}
	if c.DryRun {
		if !shown {
			c.would("read the certificate again on %s", p.Name)
		}
		return nil
	}
	if shown && c.hasRead(p) {
		return nil
	}
	told, err := c.reload(ctx, p, shown)
	if err != nil {
		return err
	}
	if told {
		c.setRead(p)
		if shown, err = c.shows(ctx, p); err != nil {
			return err
		}
		c.say("%s: CONFIG SET tls-cert-file, tls-key-file, tls-ca-cert-file as they are", p.Name)
	}
	if !shown {
		return &waitError{TLSNotServed, errors.New("shows another certificate: its files are older, or it has not read them yet")}
	}
	return nil
}

// shows reports whether new connections to a pod get the certificate.
func (c *certificates) shows(ctx context.Context, p Pod) (bool, error) {
	at, err := c.address(ctx, p)
	if err != nil {
		return false, err
	}
	der, err := c.served(ctx, at)
	if err != nil {
		if _, unknown := errors.AsType[x509.UnknownAuthorityError](err); unknown {
			return false, &waitError{string(setting.Untrusted), fmt.Errorf("shows a certificate of an authority that is not in ca.crt: %w", err)}
		}
		return false, err
	}
	return setting.Fingerprint(der) == c.wanted.Fingerprint, nil
}

// reload has a pod read its files, if it does not do so by itself.
func (c *certificates) reload(ctx context.Context, p Pod, shown bool) (told bool, err error) {
	err = c.on(ctx, p, func(conn node.Conn) error {
		about, err := info(ctx, conn, "server")
		if err != nil {
			return err
		}
		itself := command.AtLeast(minor(about), "9.1")
		if p.Sentinel {
			if !itself && !shown {
				return blocked(TLSRestartNeeded, "is a sentinel of Valkey %s, which reads its certificate when it starts: restart it", about.Version())
			}
			return nil
		}
		values, err := config(ctx, conn, "tls-cert-file", "tls-key-file", "tls-ca-cert-file", "tls-auto-reload-interval")
		if err != nil {
			return err
		}
		if interval := values["tls-auto-reload-interval"]; interval != "" && interval != "0" {
			return nil
		}
		if values["tls-cert-file"] == "" || values["tls-key-file"] == "" {
			return blocked(TLSOff, "has no certificate")
		}
		told = true
		err = node.Ask(ctx, conn, "CONFIG", "SET", "tls-cert-file", values["tls-cert-file"], "tls-key-file", values["tls-key-file"], "tls-ca-cert-file", values["tls-ca-cert-file"]).Err
		if words, refused := rejection(err); refused {
			return &waitError{TLSReloadRefused, fmt.Errorf("refuses the files that it sees: %s", words)}
		}
		return err
	})
	return told && err == nil, err
}

func (c *certificates) hasRead(p Pod) bool {
	c.readMu.Lock()
	defer c.readMu.Unlock()
	return c.read[p.Name]
}

func (c *certificates) setRead(p Pod) {
	c.readMu.Lock()
	defer c.readMu.Unlock()
	if !c.read[p.Name] {
		c.read[p.Name] = true
		c.count("changed")
	}
}
