# shellcheck shell=dash
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0
#
# One server to a data directory, to which servers do not see themselves: what a
# cluster node locks is nodes.conf, and each change replaces that file.

# lock_data: the kernel lets go when the last process with the descriptor ends, so
# a server that converts or stands in is started without it: the next start ends one
# that outlived this. Without flock(1), or locks of the file system, nothing is
# kept out.
lock_data() {
	local file=$VR_STATE/lock deadline words told=no
	command -v flock >/dev/null || return 0
	# A redirection of exec that fails would end the shell.
	{ : >>"$file"; } 2>/dev/null || return 0
	exec 8>>"$file"
	deadline=$(($(now) + 3000))
	until words=$(flock -n 8 2>&1); do
		if [ -n "$words" ]; then
			say "$file: cannot be locked ($words)"
			return 0
		fi
		[ "$(left "$deadline")" -gt 0 ] ||
			die "$VR_DATA: another server has this directory; refusing to start"
		[ "$told" = yes ] || say "$VR_DATA: waiting for another server to leave this directory"
		told=yes
		sleep 1
	done
}
