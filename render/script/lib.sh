# shellcheck shell=dash
# Half of what is set here is for the files that source this one.
# shellcheck disable=SC2034
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0
#
# What start.sh, probe.sh and prestop.sh share. Sourced, never run. Needs a
# POSIX sh with `local` (dash, busybox), coreutils or busybox, and valkey-cli:
# no grep, sed, awk or cmp.

VR_ROOT=${VALKEY_ROOT:-/valkey}
VR_DATA=${VALKEY_DATA:-/data}
VR_RUN=$VR_ROOT/run
VR_STATE=$VR_DATA/.valkey-render
VR_ACL=$VR_ROOT/acl/${VALKEY_VERSION:-}.acl
VR_PORT=${VALKEY_PORT:-6379}
VR_SENTINEL_PORT=${VALKEY_SENTINEL_PORT:-26379}
VR_MASTER=mymaster
HOST='' PORT=''
NL='
'

say() { printf 'valkey-render: %s\n' "$*" >&2; }

die() {
	say "$*"
	exit 1
}

# now: centiseconds of a clock that is never set back. date(1) has no portable
# fractions, and reading /proc forks nothing.
now() {
	local up
	read -r up _ </proc/uptime
	printf '%s\n' "${up%.*}${up#*.}"
}

# left DEADLINE: whole seconds until then, 0 when it has passed.
left() {
	local rest
	rest=$((($1 - $(now)) / 100))
	[ "$rest" -gt 0 ] || rest=0
	printf '%s\n' "$rest"
}

# ends_with FILE LINE: FILE's last line is LINE. A projected volume that lost
# its source is an empty file, a copy cut short by a full disk lacks its end.
ends_with() { [ -r "$1" ] && [ "$(tail -n 1 "$1")" = "$2" ]; }

# has_line_starting FILE TEXT: some line of FILE starts with TEXT.
has_line_starting() {
	local text
	text=$NL$(cat "$1") || return 1
	case $text in
	*"$NL$2"*) return 0 ;;
	esac
	return 1
}

# replace SOURCE TARGET: TARGET becomes a copy of SOURCE or stays as it was.
replace() {
	if cat "$1" >"$2.new" 2>/dev/null && mv -f "$2.new" "$2" 2>/dev/null; then
		return 0
	fi
	rm -f "$2.new" 2>/dev/null
	return 1
}

# digest FILE…: one hash over the contents, in order.
digest() {
	local sum
	sum=$(cat "$@" 2>/dev/null | sha1sum) || return 1
	printf '%s\n' "${sum%% *}"
}

# quoted FILE: the bytes of FILE as one double-quoted configuration argument.
# The server's parser knows \xHH, so no byte of a password needs a rule.
quoted() {
	local bytes byte
	bytes=$(od -An -v -tx1 <"$1") || return 1
	printf '"'
	# The pattern characters of a hex dump are none: splitting is all it does.
	for byte in $bytes; do
		printf '\\x%s' "$byte"
	done
	printf '"'
}

# directive NAME FILE…: the first argument of NAME's last
# occurrence, which is the one that counts for the server.
directive() {
	local name=$1 found='' key value _rest
	shift
	# read keeps backslashes and splits at blanks, which is all a yes/no needs.
	while read -r key value _rest || [ -n "$key" ]; do
		[ "$key" = "$name" ] && found=$value
	done <<-END
		$(cat "$@" 2>/dev/null)
	END
	printf '%s\n' "$found"
}

# value TEXT KEY: VALUE is that of "KEY:value" in an INFO reply, whose lines end with
# a carriage return. Forks nothing, as all that probes call: a node runs many.
value() {
	local rest=$NL$1
	VALUE=''
	case $rest in
	*"$NL$2:"*) ;;
	*) return 1 ;;
	esac
	rest=${rest#*"$NL$2:"}
	VALUE=${rest%%"$NL"*}
	VALUE=${VALUE%[[:cntrl:]]}
}

# field TEXT KEY: prints that.
field() {
	local VALUE
	value "$@" || return 1
	printf '%s\n' "$VALUE"
}

# after TEXT LINE: the line that follows LINE, for replies of name/value pairs.
after() {
	local rest=$NL$1$NL
	case $rest in
	*"$NL$2$NL"*) ;;
	*) return 1 ;;
	esac
	rest=${rest#*"$NL$2$NL"}
	printf '%s\n' "${rest%%"$NL"*}"
}

# split ENTRY PORT: sets HOST and PORT from host, host:port, [v6]:port or v6.
split() {
	HOST=$1
	PORT=$2
	case $1 in
	\[*\]:*)
		HOST=${1%\]:*}
		HOST=${HOST#\[}
		PORT=${1##*\]:}
		;;
	*:*:*) ;;
	*:*)
		HOST=${1%:*}
		PORT=${1##*:}
		;;
	esac
}

# is_me HOST PORT: this pod's own data server.
is_me() {
	[ "$2" = "$VR_PORT" ] || return 1
	case $1 in
	"$POD_IP" | "${VALKEY_FQDN:-$POD_IP}" | "$POD_NAME".*) return 0 ;;
	esac
	return 1
}

# others: how many pods the shard has besides this one.
others() {
	local count=0 entry
	for entry in ${VALKEY_PEERS:-}; do
		split "$entry" "$VR_PORT"
		is_me "$HOST" "$PORT" || count=$((count + 1))
	done
	printf '%s\n' "$count"
}

# survey DIRECTORY SECONDS PORT "ENTRIES" COMMAND…: asks every entry at once;
# DIRECTORY/<n> holds host, port and reply of the n-th (0 is the first). This
# pod's own server is left out: it is either down or known.
survey() {
	local dir=$1 seconds=$2 port=$3 entries=$4 n=0 entry children=''
	shift 4
	rm -rf "$dir"
	mkdir -p "$dir" || return 1
	for entry in $entries; do
		split "$entry" "$port"
		if ! is_me "$HOST" "$PORT"; then
			(
				reply=$(ask "$seconds" "$HOST" "$PORT" "$@")
				printf '%s\n%s\n%s\n' "$HOST" "$PORT" "$reply" >"$dir/$n"
			) &
			children="$children $!"
		fi
		n=$((n + 1))
	done
	# Not for every child: the stand-in of identity.sh is one too.
	# shellcheck disable=SC2086 # the numbers are wanted
	[ -z "$children" ] || wait $children
}

# answer FILE: sets HOST, PORT and REPLY from a survey's file.
answer() {
	REPLY=$(cat "$1")
	HOST=${REPLY%%"$NL"*}
	REPLY=${REPLY#*"$NL"}
	PORT=${REPLY%%"$NL"*}
	REPLY=${REPLY#*"$NL"}
}

# announced HOST PORT: the address that the server there gives to others, which
# is what the sentinels and INFO know it by.
announced() {
	local name
	name=$(after "$(ask 2 "$1" "$2" CONFIG GET replica-announce-ip)" replica-announce-ip)
	printf '%s\n' "${name:-$1}"
}

# sentinel_view DIRECTORY SECONDS: what the sentinels say about the primary.
# VIEW is "address HOST PORT" when more than half of those that answer name it,
# "divided" when they differ, "none" when they answer and watch nothing, "silent"
# when nobody answers. FLAGS holds the flags they show for it. SENTINEL_HOST and
# SENTINEL_PORT are of one that names that address.
sentinel_view() {
	local dir=$1 file host port voices=0 answers=0 address='' others='' voters='' most=0 count entry
	survey "$dir" "$2" "$VR_SENTINEL_PORT" "${VALKEY_SENTINELS:-}" SENTINEL MASTER "$VR_MASTER"
	FLAGS='' VIEW=silent SENTINEL_HOST='' SENTINEL_PORT=''
	for file in "$dir"/*; do
		[ -f "$file" ] || continue
		answer "$file"
		case $REPLY in
		*'No such master'*)
			answers=$((answers + 1))
			;;
		*)
			host=$(after "$REPLY" ip) || continue
			port=$(after "$REPLY" port) || continue
			answers=$((answers + 1))
			voices=$((voices + 1))
			others="$others $host|$port"
			FLAGS="$FLAGS,$(after "$REPLY" flags)"
			voters="$voters $host|$port|$HOST|$PORT"
			;;
		esac
	done
	rm -rf "$dir"
	[ "$answers" -gt 0 ] || return 0
	VIEW=none
	[ "$voices" -gt 0 ] || return 0
	for entry in $others; do
		count=0
		for host in $others; do
			[ "$host" = "$entry" ] && count=$((count + 1))
		done
		[ "$count" -gt "$most" ] && most=$count address=$entry
	done
	VIEW=divided
	if [ $((most * 2)) -gt "$voices" ]; then
		VIEW="address ${address%|*} ${address##*|}"
		entry=${voters#*" $address|"}
		entry=${entry%% *}
		SENTINEL_HOST=${entry%|*} SENTINEL_PORT=${entry##*|}
	fi
}

# sentinel_names ADDRESS: what the sentinel at SENTINEL_HOST watches now is "HOST PORT".
sentinel_names() {
	local reply
	reply=$(ask 2 "$SENTINEL_HOST" "$SENTINEL_PORT" SENTINEL MASTER "$VR_MASTER")
	[ "$(after "$reply" ip) $(after "$reply" port)" = "$1" ]
}

# shellcheck source=client.sh
. "$SCRIPTS/client.sh"
# shellcheck source=members.sh
. "$SCRIPTS/members.sh"
