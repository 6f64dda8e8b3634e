// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package node

import "sync"

// Each runs work for the numbers below n, so many at once: there may be thousands of servers. It
// returns when all of it is done.
func Each(n, parallel int, work func(i int)) {
	turns := make(chan struct{}, parallel)
	var wg sync.WaitGroup
	for i := range n {
		turns <- struct{}{}
		wg.Go(func() {
			defer func() { <-turns }()
			work(i)
		})
	}
	wg.Wait()
}
