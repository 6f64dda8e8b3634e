#!/usr/bin/env bash
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0

# tools/stages.sh TARGET...: runs the make targets, each to its end whatever happened to the
# others, and closes with a table of results and times. Exit status 1 if any failed.
#
# They run in order. Fuzzing runs beside the tests of an API server and of a cluster, if
# there are any: it has its time, whatever it comes to in that, and they wait half of theirs.
# It takes what is left of the processors and prints what it says when it ends.
#
# The Kubernetes of the last stages takes a quarter of an hour to build on a machine that
# has none in its cache yet. That begins at once, also with what is left; a stage that needs
# it waits for it, and fuzzing does, so as not to take half of that.
set -euo pipefail
cd "$(dirname "$0")/.."

# stage DIRECTORY TARGET: runs one, and leaves its row of the table.
stage() {
	local start=$SECONDS result=passed
	make "$2" || result=FAILED
	printf '%-14s %-7s %3dm%02ds\n' "$2" "$result" $(((SECONDS - start) / 60)) $(((SECONDS - start) % 60)) >"$1/rows/$2"
}

# tools/stages.sh --beside DIRECTORY BUILDER TARGET...: is how this script calls itself.
if [[ ${1:-} == --beside ]]; then
	directory=$2
	while kill -0 "$3" 2>/dev/null; do
		sleep 1
	done
	for name in "${@:4}"; do
		stage "$directory" "$name" >"$directory/output" 2>&1
		printf '\n==> make %s (beside the others)\n%s\n' "$name" "$(<"$directory/output")"
	done
	exit
fi

results=$(mktemp -d)
mkdir "$results/rows"
builder=
beside=
# shellcheck disable=SC2329 # it is the trap
cleanup() {
	local group
	for group in $builder $beside; do
		if kill -- "-$group" 2>/dev/null; then
			wait "$group" || true
		fi
	done
	rm -rf "$results"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

ordered=()
background=()
for name in "$@"; do
	case $name in
	fuzz) background+=("$name") ;;
	*) ordered+=("$name") ;;
	esac
done

case " $* " in
*' test-api '* | *' test-e2e '*)
	# What goes wrong is said by the stage that needs it and tries again.
	tools/idle.sh tools/kubernetes.sh >/dev/null 2>&1 &
	builder=$!
	;;
esac

for name in "${ordered[@]}"; do
	case $name in
	test-api | test-e2e)
		if [[ -z $beside ]] && ((${#background[@]} > 0)); then
			tools/idle.sh tools/stages.sh --beside "$results" "$builder" "${background[@]}" &
			beside=$!
			background=()
		fi
		;;
	esac
	printf '\n==> make %s\n' "$name"
	stage "$results" "$name"
done
if [[ -n $beside ]]; then
	wait "$beside" || true
	beside=
fi
for name in "${background[@]}"; do
	printf '\n==> make %s\n' "$name"
	stage "$results" "$name"
done

printf '\n==> results\n'
for name in "$@"; do
	cat "$results/rows/$name" 2>/dev/null || printf '%-14s %s\n' "$name" FAILED
done
printf '%-14s         %3dm%02ds\n' all $((SECONDS / 60)) $((SECONDS % 60))
passed=$(cat "$results"/rows/* 2>/dev/null | grep -c '^[a-z0-9-]* *passed ' || true)
printf 'stages: %d passed, %d failed\n' "$passed" $(($# - passed))
((passed == $#))
