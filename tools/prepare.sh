#!/bin/sh
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0

# Makes sure that the programs which tests and tools call are there. On Debian and Ubuntu
# it installs what is missing when it may, else it says what to install.
set -eu

missing=
need() { # need PROGRAM PACKAGE
	command -v "$1" >/dev/null 2>&1 || missing="$missing $2"
}

need git git
need gcc gcc # the race detector is linked with cgo
[ -e /usr/include/stdlib.h ] || missing="$missing libc6-dev"

[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
	echo "installing$missing" >&2
	# shellcheck disable=SC2086 # one word a package
	{
		apt-get update -qq
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing
	} >&2
	exit 0
fi

echo "missing; install with: sudo apt-get install$missing" >&2
exit 1
