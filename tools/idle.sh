#!/usr/bin/env bash
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0

# tools/idle.sh COMMAND...: becomes the command, which takes only what nobody else wants of
# the processors, as does whatever it starts. It leads a session, and so a process group, of
# its own: where the kernel groups programs by session it weighs those groups against each
# other, and the niceness of a process counts within its group only.
set -euo pipefail

if [[ $(ps -o sid= -p $$) -ne $$ ]]; then
	exec setsid "$0" "$@"
fi
renice -n 19 -p $$ >/dev/null
{ echo 19 >/proc/self/autogroup; } 2>/dev/null || true
exec "$@"
