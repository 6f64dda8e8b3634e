# shellcheck shell=bash
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0
#
# Debian packages for scripts that source this, of bookworm (with its backports),
# trixie and forky. Nothing is installed: apt runs with its own state, cache and
# sources below $work, so that neither root is needed nor the machine's apt is
# changed. The mirror and the archive keys come from the machine's apt
# configuration; each suite's own debian-archive-keyring package, verified by the
# keys known so far, adds the keys of the next suite.
#
# The sourcing script sets work to a directory of its own, calls prepare_all once,
# and then download or unpack.
#
# Environment:
#   VALKEY_RENDER_DEBIAN_MIRROR   a Debian mirror, when this machine's apt has none
#   VALKEY_RENDER_DEBIAN_KEYRING  the keys that sign it
: "${work:=}"

die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

# Lines "<keyring or -> <uri>" of every apt source for this Debian release's main
# component, deb822 and one-line style.
apt_sources() {
	local codename=$1 file
	for file in /etc/apt/sources.list.d/*.sources; do
		[ -r "$file" ] || continue
		awk -v code="$codename" '
			function flush(  i, n, list) {
				if (enabled != "no" && types ~ /(^| )deb( |$)/ && comps ~ /(^| )main( |$)/ &&
					(" " suites " ") ~ (" (" code "|stable|testing|unstable|sid) ")) {
					n = split(uris, list, " ")
					for (i = 1; i <= n; i++) print (key ~ /^\// ? key : "-"), list[i]
				}
				types = uris = suites = comps = key = enabled = field = ""
			}
			/^#/ { next }
			/^[ \t]*$/ { flush(); next }
			/^[ \t]/ { value = $0 }
			/^[A-Za-z-]+:/ { field = tolower(substr($0, 1, index($0, ":") - 1)); value = substr($0, index($0, ":") + 1) }
			{
				gsub(/^[ \t]+|[ \t]+$/, "", value)
				if (field == "types") types = types " " value
				else if (field == "uris") uris = uris " " value
				else if (field == "suites") suites = suites " " value
				else if (field == "components") comps = comps " " value
				else if (field == "signed-by" && key == "") key = value
				else if (field == "enabled") enabled = value
			}
			END { flush() }
		' "$file"
	done
	for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
		[ -r "$file" ] || continue
		awk -v code="$codename" '
			$1 == "deb" {
				key = "-"; line = $0; sub(/^deb[ \t]+/, "", line)
				if (line ~ /^\[/) {
					options = substr(line, 2, index(line, "]") - 2)
					sub(/^\[[^]]*\][ \t]*/, "", line)
					n = split(options, list, " ")
					for (i = 1; i <= n; i++) if (list[i] ~ /^signed-by=\//) key = substr(list[i], 11)
				}
				n = split(line, list, " ")
				if (list[2] !~ ("^(" code "|stable|testing|unstable|sid)$")) next
				for (i = 3; i <= n; i++) if (list[i] == "main") print key, list[1]
			}
		' "$file"
	done
}

# Candidate mirrors, the likely ones (path ends in /debian) first.
mirrors() {
	local codename
	if [ -n "${VALKEY_RENDER_DEBIAN_MIRROR:-}" ]; then
		printf -- '- %s\n' "$VALKEY_RENDER_DEBIAN_MIRROR"
		return
	fi
	codename=$(sed -n 's/^VERSION_CODENAME="\{0,1\}\([a-z]*\).*/\1/p' /etc/os-release)
	apt_sources "${codename:-none}" | awk '
		seen[$0]++ { next }
		$2 ~ /\/debian\/?$/ { print; next }
		{ later[++n] = $0 }
		END { for (i = 1; i <= n; i++) print later[i] }'
}

# apt STATE COMMAND...: apt with its own state below $work/apt/STATE.
apt() {
	local state=$work/apt/$1 tool=$2
	shift 2
	LC_ALL=C "$tool" -c "$state/apt.conf" -q "$@"
}

# prepare STATE KEYRING MIRROR SUITE...: make the state and read the indexes.
prepare() {
	local name=$1 keyring=$2 mirror=$3 state=$work/apt/$1 suite
	shift 3
	rm -rf "$state"
	mkdir -p "$state/lists/partial" "$state/archives/partial" "$state/etc" "$state/dpkg"
	: >"$state/dpkg/status"
	for suite in "$@"; do
		printf 'deb [target=Packages signed-by=%s] %s %s main\n' "$keyring" "$mirror" "$suite"
	done >"$state/etc/sources.list"
	# The hooks of the machine's configuration would act on the machine.
	cat >"$state/apt.conf" <<CONF
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Pre-Invoke;
#clear DPkg::Post-Invoke;
#clear DPkg::Pre-Install-Pkgs;
Dir::State "$state";
Dir::State::lists "lists";
Dir::State::status "$state/dpkg/status";
Dir::Cache "$state";
Dir::Cache::archives "archives";
Dir::Etc::sourcelist "$state/etc/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
APT::Sandbox::User "root";
APT::Get::List-Cleanup "true";
APT::Install-Recommends "false";
APT::Default-Release "";
Acquire::Languages "none";
Acquire::Retries "3";
Acquire::http::Timeout "30";
Acquire::AllowInsecureRepositories "false";
CONF
	apt "$name" apt-get update -o APT::Update::Error-Mode=any >"$state/update.log" 2>&1
}

# download STATE DIR PACKAGE...: the packages and every library they need, and no
# other dependency, as DIR/*.deb; their versions in DIR/packages.
download() {
	local state=$1 dir=$2 list
	shift 2
	apt "$state" apt-get -s install "$@" >"$work/resolve.log" 2>&1 ||
		die "apt cannot resolve $* in $state: $(tail -n 3 "$work/resolve.log")"
	list=$(awk -v asked=" $* " '$1 == "Inst" && ($2 ~ /^z?lib/ || index(asked, " " $2 " ")) {
		version = $3; sub(/^\(/, "", version); print $2 "=" version }' "$work/resolve.log")
	[ -n "$list" ] || die "apt found nothing to unpack for $* in $state: $(tail -n 3 "$work/resolve.log")"
	say "$state: $* and libraries, $(wc -l <<<"$list") packages"
	mkdir -p "$dir"
	# Package names and versions hold no white space: one argument a line.
	# shellcheck disable=SC2086
	(cd "$dir" && apt "$state" apt-get download $list >"$work/download.log" 2>&1) ||
		die "downloading $* of $state failed: $(tail -n 3 "$work/download.log")"
	printf '%s\n' "$list" >"$dir/packages"
}

# unpack STATE DIR PACKAGE...: what download gets, below DIR/rootfs; versions in
# DIR/packages.
unpack() {
	local state=$1 dir=$2 deb
	download "$state" "$work/debs" "${@:3}"
	mkdir -p "$dir/rootfs"
	mv "$work/debs/packages" "$dir/packages"
	for deb in "$work/debs"/*.deb; do
		dpkg -x "$deb" "$dir/rootfs"
	done
	rm -rf "${work:?}/debs"
}

# keyring_of SUITE: the keys in that suite's debian-archive-keyring.
keyring_of() {
	local file
	for file in "$work/keys-$1"/rootfs/usr/share/keyrings/debian-archive-keyring.{pgp,gpg}; do
		if [ -f "$file" ]; then
			printf '%s\n' "$file"
			return
		fi
	done
	die "debian-archive-keyring of $1 holds no keyring"
}

# Reads the indexes of every suite from the first candidate mirror that has them.
prepare_all() {
	local key uri keyring tried=0
	while read -r key uri; do
		tried=$((tried + 1))
		keyring=${VALKEY_RENDER_DEBIAN_KEYRING:-$key}
		[ "$keyring" != - ] || keyring=/usr/share/keyrings/debian-archive-keyring.gpg
		[ -r "$keyring" ] || die "the keyring $keyring is missing; install debian-archive-keyring or set VALKEY_RENDER_DEBIAN_KEYRING"
		say "reading the package indexes"
		if ! prepare bookworm "$keyring" "$uri" bookworm bookworm-backports; then
			say "apt source $tried of this machine does not serve bookworm"
			continue
		fi
		unpack bookworm "$work/keys-bookworm" debian-archive-keyring
		prepare trixie "$(keyring_of bookworm)" "$uri" trixie ||
			die "reading trixie failed: $(tail -n 3 "$work/apt/trixie/update.log")"
		unpack trixie "$work/keys-trixie" debian-archive-keyring
		prepare forky "$(keyring_of trixie)" "$uri" forky ||
			die "reading forky failed: $(tail -n 3 "$work/apt/forky/update.log")"
		return
	done <<<"$(mirrors)"
	[ -s "$work/apt/bookworm/update.log" ] && tail -n 3 "$work/apt/bookworm/update.log" >&2
	die "this machine's apt knows no working Debian mirror; set VALKEY_RENDER_DEBIAN_MIRROR (and VALKEY_RENDER_DEBIAN_KEYRING)"
}

# need_debian: die where this is no Debian or Ubuntu.
need_debian() {
	local tool
	for tool in apt-get dpkg awk sha256sum readlink; do
		command -v "$tool" >/dev/null || die "$tool is missing; this needs a Debian or Ubuntu machine"
	done
}
