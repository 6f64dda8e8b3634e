// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/credential"
	"github.com/valkey-render/valkey-render/internal/localpod"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/render/script"
	"github.com/valkey-render/valkey-render/topologyjob/node"
)

// Server is one server as it is now.
type Server struct {
	Pod     string `json:"pod"`
	Address string `json:"address"`
	// Role is primary, replica or sentinel; unknown when the server does not answer.
	Role string `json:"role"`
	// Of is the pod of a replica's primary, when it is one of ours.
	Of string `json:"of,omitempty"`
	// Slots of a primary of a Cluster, such as 0-5460.
	Slots string `json:"slots,omitempty"`
	Keys  int64  `json:"keys"`
}

// Servers asks every server. It waits for a Follow to end.
func (t *Trial) Servers(ctx context.Context) []Server {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.servers(ctx)
}

func (t *Trial) servers(ctx context.Context) []Server {
	pods := t.host.Pods()
	servers := make([]Server, len(pods))
	at := map[*localpod.Pod]int{}
	byAddress := map[string]string{}
	for i, p := range pods {
		at[p] = i
		byAddress[t.address(p).String()] = p.Name()
	}
	// A server that does not answer is shown as such.
	_ = together(pods, func(p *localpod.Pod) error {
		servers[at[p]] = t.server(ctx, p, byAddress)
		return nil
	})
	return servers
}

func (t *Trial) server(ctx context.Context, p *localpod.Pod, byAddress map[string]string) Server {
	s := Server{Pod: p.Name(), Address: t.address(p).String(), Role: "unknown"}
	if t.isSentinel(p) {
		if _, err := t.ask(ctx, p, "PING"); err == nil {
			s.Role = "sentinel"
		}
		return s
	}
	info, err := t.info(ctx, p)
	if err != nil {
		return s
	}
	s.Keys, _ = info.Keys()
	s.Role = "primary"
	if info["role"] == "slave" {
		s.Role = "replica"
		s.Of = byAddress[node.Address{IP: info["master_host"], Port: number(info["master_port"])}.String()]
	}
	if !t.current.Cluster.IsCluster() || s.Role != "primary" {
		return s
	}
	reply, err := t.ask(ctx, p, "CLUSTER", "NODES")
	if err != nil {
		return s
	}
	text, _ := reply.Text()
	entries, err := node.ParseNodes(text)
	if err != nil {
		return s
	}
	for _, e := range entries {
		if e.Myself && len(e.Slots) > 0 {
			s.Slots = e.Slots.String()
		}
	}
	return s
}

func number(text string) int {
	var n int
	if _, err := fmt.Sscan(text, &n); err != nil {
		return 0
	}
	return n
}

// Connection is how a client of the cluster connects. There is no password in it, only
// where it is.
type Connection struct {
	Topology string `json:"topology"`
	// Addresses are host:port: of every primary of a Cluster, of the one primary, or of
	// the Sentinels.
	Addresses []string `json:"addresses"`
	// Primary is host:port of a server that takes writes.
	Primary string `json:"primary,omitempty"`
	// Master is what the Sentinels call the primary.
	Master string `json:"master,omitempty"`
	// Username and PasswordFile are empty without auth.
	Username     string `json:"username,omitempty"`
	PasswordFile string `json:"passwordFile,omitempty"`
	// Files of TLS, empty without. A server that asks for no certificate takes one too.
	CAFile   string `json:"caFile,omitempty"`
	CertFile string `json:"certFile,omitempty"`
	KeyFile  string `json:"keyFile,omitempty"`
	// Command is a shell command that connects.
	Command string `json:"command"`

	password, programs string
}

// Connection says how to connect now: a primary may be another one later. It waits for
// a Follow to end.
func (t *Trial) Connection(ctx context.Context) Connection {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.current.Cluster
	out := Connection{Topology: string(c.EffectiveTopology()), programs: t.opts.Programs}
	for _, s := range t.servers(ctx) {
		switch {
		case s.Role == "sentinel":
			out.Master = name.SentinelMaster
			out.Addresses = append(out.Addresses, s.Address)
		case s.Role == "primary" && (!c.IsCluster() || s.Slots != ""):
			if out.Primary == "" {
				out.Primary = s.Address
			}
			if !c.IsSentinel() {
				out.Addresses = append(out.Addresses, s.Address)
			}
		}
	}
	if c.AuthEnabled() {
		ref := c.AuthSecret()
		out.Username = "default"
		out.PasswordFile = credential.File(t.secretsDir(), ref.Name, ref.Key)
		out.password = string(t.secrets[ref.Name].Data[ref.Key])
	}
	if secret := c.TLSSecretName(); secret != "" {
		// A Secret that somebody else made has one pair only.
		cert, key := credential.ClientCert, credential.ClientKey
		if len(t.secrets[secret].Data[cert]) == 0 {
			cert, key = script.TLSCert, script.TLSKey
		}
		out.CAFile = credential.File(t.secretsDir(), secret, script.TLSCA)
		out.CertFile = credential.File(t.secretsDir(), secret, cert)
		out.KeyFile = credential.File(t.secretsDir(), secret, key)
	}
	out.Command = out.command(filepath.Join(t.opts.Programs, clientProgram), c)
	return out
}

// command is a line for a shell. The password reaches valkey-cli by its environment, as
// everybody may read arguments.
func (o Connection) command(program string, c *v1alpha1.ValkeyCluster) string {
	host, port, _ := strings.Cut(o.Primary, ":")
	words := []string{program}
	if c.IsCluster() {
		words = append(words, "-c")
	}
	words = append(words, "-h", host, "-p", port)
	if o.CAFile != "" {
		words = append(words, "--tls", "--cacert", o.CAFile)
		if c.TLSClientAuth() != v1alpha1.TLSClientAuthOff {
			words = append(words, "--cert", o.CertFile, "--key", o.KeyFile)
		}
	}
	for i, word := range words {
		words[i] = shellWord(word)
	}
	line := strings.Join(words, " ")
	if o.PasswordFile != "" {
		line = `REDISCLI_AUTH="$(cat ` + shellWord(o.PasswordFile) + `)" ` + line
	}
	return line
}

// shellWord quotes a word for a shell where it must be.
func shellWord(word string) string {
	plain := func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || strings.ContainsRune("-_./:=+,@%", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Environment is the same for a program that is started with it, as NAME=value. It
// holds the password, which arguments and logs must not.
func (o Connection) Environment() []string {
	scheme, login := "valkey", ""
	if o.CAFile != "" {
		scheme = "valkeys"
	}
	if o.Username != "" {
		login = userinfo(o.Username, o.password) + "@"
	}
	env := []string{
		"VALKEY_URL=" + scheme + "://" + login + o.Primary,
		"VALKEY_TOPOLOGY=" + o.Topology,
		"VALKEY_ADDRESSES=" + strings.Join(o.Addresses, ","),
	}
	for _, v := range [][2]string{
		{"VALKEY_MASTER", o.Master},
		{"VALKEY_USERNAME", o.Username},
		{"VALKEY_PASSWORD", o.password},
		{"VALKEY_PASSWORD_FILE", o.PasswordFile},
		{"VALKEY_CA_FILE", o.CAFile},
		{"VALKEY_CERT_FILE", o.CertFile},
		{"VALKEY_KEY_FILE", o.KeyFile},
	} {
		if v[1] != "" {
			env = append(env, v[0]+"="+v[1])
		}
	}
	slices.Sort(env)
	return env
}
