// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package settle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/acl"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/setting"
)

// LinksDown: a replica, or a sentinel, is not connected with the current password.
const LinksDown = "LinksDown"

// Links are the passwords with which servers log in at each other: the current ones, as
// start.sh gives them to a server that starts.
type Links struct {
	// Replication and Sentinel are those of the system users of these names.
	Replication, Sentinel string
}

// Rotate makes passwords those of the ACL files, in an order in which nobody who has one
// that is right is ever refused: first every server takes every password of the files,
// beside those that it knows; then links log in with the current ones; and when all of
// them are up, servers forget what is in no file.
//
// What it is run for is in the Secrets alone, so it is the same at every stage of a
// rotation.
func Rotate(ctx context.Context, o Options, wanted Users, links Links) Report {
	r := newRun(o, func(Pod) bool { return true })
	p := &rotation{run: r, links: links, wide: newAccess(r, wanted), exact: newAccess(r, wanted)}
	p.wide.widen = true
	return p.loop(ctx, p.pass)
}

type rotation struct {
	*run
	links Links
	// wide adds passwords, exact takes away as well.
	wide, exact *access
}

func (p *rotation) pass(ctx context.Context) error {
	// A pod that does not answer may be one that knows none but an old password.
	if err := p.wide.pass(ctx); err != nil {
		return err
	}
	if err := p.each(ctx, p.pods, p.link); err != nil {
		return err
	}
	if err := p.each(ctx, p.pods, p.linked); err != nil {
		return err
	}
	return p.exact.pass(ctx)
}

// link has a pod log in at others with the current password from now on. A link that is
// up stays up.
func (p *rotation) link(ctx context.Context, pod Pod) error {
	return p.on(ctx, pod, func(conn node.Conn) error {
		if pod.Sentinel {
			return p.linkSentinel(ctx, conn, pod)
		}
		has, err := config(ctx, conn, "primaryuser", "primaryauth")
		if err != nil || has["primaryuser"] != name.UserReplication || has["primaryauth"] == p.links.Replication {
			return err
		}
		if p.DryRun {
			p.would("CONFIG SET primaryauth on %s", pod.Name)
			return nil
		}
		if err := node.Ask(ctx, conn, "CONFIG", "SET", "primaryauth", p.links.Replication).Err; err != nil {
			return fmt.Errorf("CONFIG SET primaryauth: %w", secretive(err))
		}
		p.count("links")
		p.say("%s: CONFIG SET primaryauth", pod.Name)
		return nil
	})
}

// linkSentinel sets the password for data pods, which a sentinel does not show, before the
// one for sentinels, which it does: where that one is right, so is the other.
func (p *rotation) linkSentinel(ctx context.Context, conn node.Conn, pod Pod) error {
	has, err := sentinelConfig(ctx, conn)
	if err != nil || has["sentinel-user"] != name.UserSentinel || has["sentinel-pass"] == p.links.Sentinel {
		return err
	}
	if p.DryRun {
		p.would("SENTINEL SET auth-pass on %s", pod.Name)
		return nil
	}
	err = node.Ask(ctx, conn, "SENTINEL", "SET", name.SentinelMaster, "auth-pass", p.links.Sentinel).Err
	// One that watches nothing is told the password with what to watch.
	if err != nil && !strings.Contains(err.Error(), "No such master") {
		return fmt.Errorf("SENTINEL SET auth-pass: %w", secretive(err))
	}
	if err := node.Ask(ctx, conn, "SENTINEL", "CONFIG", "SET", "sentinel-pass", p.links.Sentinel).Err; err != nil {
		return fmt.Errorf("SENTINEL CONFIG SET sentinel-pass: %w", secretive(err))
	}
	p.count("links")
	p.say("%s: SENTINEL SET auth-pass, SENTINEL CONFIG SET sentinel-pass", pod.Name)
	return nil
}

// secretive keeps a server from repeating a password.
func secretive(err error) error {
	if refused, ok := errors.AsType[*node.RefusedError](err); ok {
		return &node.RefusedError{Words: refused.Code() + " …"}
	}
	return err
}

func sentinelConfig(ctx context.Context, conn node.Conn) (map[string]string, error) {
	reply := node.Ask(ctx, conn, "SENTINEL", "CONFIG", "GET", "sentinel-*")
	if reply.Err != nil {
		return nil, fmt.Errorf("SENTINEL CONFIG GET: %w", reply.Err)
	}
	return node.Pairs(reply.Value), nil
}

// linked returns what keeps a pod's link from being up.
func (p *rotation) linked(ctx context.Context, pod Pod) error {
	if p.DryRun {
		return nil
	}
	return p.on(ctx, pod, func(conn node.Conn) error {
		up, words, err := linkUp(ctx, conn, pod.Sentinel)
		if err == nil && !up {
			err = &waitError{LinksDown, errors.New(words)}
		}
		return err
	})
}

// linkUp reports whether a replica is connected to its primary, or a sentinel to what it
// watches.
func linkUp(ctx context.Context, conn node.Conn, sentinel bool) (up bool, words string, err error) {
	if !sentinel {
		about, err := info(ctx, conn, "replication")
		if err != nil {
			return false, "", err
		}
		return about["role"] != "slave" || about["master_link_status"] == "up", "its link to its primary is " + about["master_link_status"], nil
	}
	reply := node.Ask(ctx, conn, "SENTINEL", "MASTER", name.SentinelMaster)
	if reply.Err != nil {
		if strings.Contains(reply.Err.Error(), "No such master") {
			return true, "", nil
		}
		return false, "", fmt.Errorf("SENTINEL MASTER: %w", reply.Err)
	}
	flags := node.Pairs(reply.Value)["flags"]
	return flags == "master", "its primary is " + flags, nil
}

// SurveyPasswords asks every pod what StageOf needs, those that are stopped left out. It
// sends no command that changes anything.
func SurveyPasswords(ctx context.Context, o Options) []setting.Passwords {
	r := newRun(o, func(Pod) bool { return true })
	all := make([]setting.Passwords, len(r.pods))
	var mu sync.Mutex
	// Who does not answer is not Known.
	_ = r.each(ctx, r.pods, func(ctx context.Context, pod Pod) error {
		return r.on(ctx, pod, func(conn node.Conn) error {
			one, err := askPasswords(ctx, conn, pod.Sentinel)
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			all[slices.Index(r.pods, pod)] = one
			return nil
		})
	})
	return all
}

func askPasswords(ctx context.Context, conn node.Conn, sentinel bool) (setting.Passwords, error) {
	p := setting.Passwords{Known: true, Logins: map[string]setting.Login{}}
	there, err := users(ctx, conn)
	if err != nil {
		return p, err
	}
	for _, u := range there {
		p.Logins[u.Name] = setting.LoginOf(u)
	}
	var user, password string
	if sentinel {
		has, err := sentinelConfig(ctx, conn)
		if err != nil {
			return p, err
		}
		user, password = has["sentinel-user"], has["sentinel-pass"]
	} else {
		has, err := config(ctx, conn, "primaryuser", "primaryauth")
		if err != nil {
			return p, err
		}
		user, password = has["primaryuser"], has["primaryauth"]
	}
	if user != "" {
		// One without a password has a link that is not right.
		p.Link = "none"
		if hash, err := acl.Hash([]byte(password)); err == nil {
			p.Link = hash
		}
	}
	p.LinkUp, _, err = linkUp(ctx, conn, sentinel)
	return p, err
}
