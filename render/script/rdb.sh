# shellcheck shell=dash
# What is set here is for the files that use it.
# shellcheck disable=SC2034
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0
#
# What the head of an RDB file tells about it. Sourced by start.sh.

# rdb_begun FILE: the Unix time in the head of an RDB file: "ctime" with a length
# byte, and a number of four bytes, least significant first.
rdb_begun() {
	local hex byte
	hex=$(head -c 512 "$1" 2>/dev/null | od -An -v -tx1 | tr -d ' \n')
	case $hex in
	*056374696d65c2????????*) ;;
	*) return 1 ;;
	esac
	hex=${hex#*056374696d65c2}
	byte=''
	for _ in 1 2 3 4; do
		byte=$(printf '%.2s' "$hex")$byte
		hex=${hex#??}
	done
	printf '%s\n' $((0x$byte))
}

# rdb_history FILE: sets RDB_ID and RDB_OFFSET, the repl-id and repl-offset in the
# head of an RDB file. Names and values are strings with a length byte.
rdb_history() {
	local hex rest
	RDB_ID='' RDB_OFFSET=''
	hex=$(head -c 512 "$1" 2>/dev/null | od -An -v -tx1 | tr -d ' \n')
	case $hex in
	*077265706c2d696428*0b7265706c2d6f6666736574*) ;;
	*) return 1 ;;
	esac
	rest=${hex#*077265706c2d696428}
	text 40 "$rest" || return 1
	RDB_ID=$TEXT
	rdb_number "${hex#*0b7265706c2d6f6666736574}" || return 1
	RDB_OFFSET=$TEXT
}

# rdb_number HEX: sets TEXT to the number that HEX begins with. A server writes one
# that fits into 1, 2 or 4 bytes as these, with the sign, least significant first, and
# else its digits.
rdb_number() {
	local bytes number=0 scale=1 rest=${1#??}
	case $1 in
	c0*) bytes=1 ;;
	c1*) bytes=2 ;;
	c2*) bytes=4 ;;
	0[1-9a-f]* | 1[0-3]*)
		text "$((0x$(printf '%.2s' "$1")))" "$rest" && whole "$TEXT"
		return
		;;
	*) return 1 ;;
	esac
	while [ "$bytes" -gt 0 ]; do
		case $rest in
		[0-9a-f][0-9a-f]*) ;;
		*) return 1 ;;
		esac
		number=$((number + 0x$(printf '%.2s' "$rest") * scale))
		scale=$((scale * 256)) bytes=$((bytes - 1)) rest=${rest#??}
	done
	# An offset is never negative.
	[ $((number * 2)) -lt "$scale" ] || return 1
	TEXT=$number
}

# text COUNT HEX: sets TEXT to the first COUNT characters of HEX, which are digits
# or a to f: 30-39 and 61-66.
text() {
	local left=$1 hex=$2 next
	TEXT=''
	while [ "$left" -gt 0 ]; do
		next=${hex#??}
		case $hex in
		3[0-9]*) hex=${hex#3} && TEXT=$TEXT${hex%"$next"} ;;
		61*) TEXT=${TEXT}a ;;
		62*) TEXT=${TEXT}b ;;
		63*) TEXT=${TEXT}c ;;
		64*) TEXT=${TEXT}d ;;
		65*) TEXT=${TEXT}e ;;
		66*) TEXT=${TEXT}f ;;
		*) return 1 ;;
		esac
		hex=$next left=$((left - 1))
	done
}
