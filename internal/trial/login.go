// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package trial

import "net/url"

// userinfo writes credentials for a URL.
func userinfo(user, password string) string { return url.UserPassword(user, password).String() }
