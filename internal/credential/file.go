// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// File is where Save keeps a key of a Secret.
func File(dir, secret, key string) string { return filepath.Join(dir, secret, key) }

// Save writes Secrets below a directory, a file for each key that only this user can
// read. Each is replaced at once.
func Save(dir string, secrets Secrets) error {
	for name, s := range secrets {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			return fmt.Errorf("file of Secret %s: %w", name, err)
		}
		for key, value := range s.Data {
			file := File(dir, name, key)
			err := os.WriteFile(file+".new", value, 0o600)
			if err == nil {
				err = os.Rename(file+".new", file)
			}
			if err != nil {
				return fmt.Errorf("file of Secret %s: %w", name, err)
			}
		}
	}
	return nil
}

// Load reads what Save wrote, or somebody put there before: none when there is no
// directory. The Secrets get the namespace and the labels.
func Load(dir, namespace string, labels map[string]string) (Secrets, error) {
	secrets := Secrets{}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return secrets, nil
	}
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		s := &corev1.Secret{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: entry.Name(), Labels: labels},
			Type:       corev1.SecretTypeOpaque, Data: map[string][]byte{},
		}
		keys, err := os.ReadDir(filepath.Join(dir, s.Name))
		if err != nil {
			return nil, err
		}
		for _, key := range keys {
			if key.IsDir() || strings.HasSuffix(key.Name(), ".new") {
				continue
			}
			if s.Data[key.Name()], err = os.ReadFile(File(dir, s.Name, key.Name())); err != nil {
				return nil, err
			}
		}
		secrets[s.Name] = s
	}
	return secrets, nil
}
