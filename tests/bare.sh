#!/usr/bin/env bash
# tests/bare.sh SUITE... - do what README.md asks of a newcomer on bare systems: make demo, then make check.
#
# For each suite (bookworm, trixie, jammy) debootstrap makes a minimal system, which gets make and the files of HEAD in a folder
# whose name has spaces. A log of each command stays in $BUILD/bare. Needs root, as debootstrap and chroot do.
#   COMMANDS="demo check"   what make is asked for
#   AS="root user"          who asks: root, or a user of the new system that may use sudo (root)
#   PTS=no                  without /dev/pts, as in some sandboxes
#   MIRROR=URL              where packages come from (debootstrap's own)
#   RESULTS=FOLDER          write what is printed of a suite to check-bare-debian12.txt there, too
#   DEBOOTSTRAP=OPTIONS     of Ubuntu: '--components=main,universe', and --no-check-gpg where its keys are missing
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

fail() {
	echo "bare.sh: $*" >&2
	exit 1
}

[ "$(id -u)" -eq 0 ] || fail "debootstrap and chroot need root: sudo make check-bare"
git rev-parse -q --verify HEAD >/dev/null || fail "HEAD is copied, and this is no checkout of git"
# In namespaces of its own: what is mounted and started here ends with it, however it ends.
if [ -z "${BARE_NAMESPACE-}" ]; then
	unshare --mount true 2>/dev/null || fail "no file system can be mounted here (a container without CAP_SYS_ADMIN?)"
	here=$(mktemp -d "${TMPDIR:-/var/tmp}/bare.XXXXXX") || exit 1
	trap 'rm -rf --one-file-system "$here"' EXIT
	BARE_NAMESPACE=$here unshare --mount --pid --fork --kill-child "${BASH_SOURCE[0]}" "$@"
	exit
fi
logs=${BUILD:-build}/bare
mkdir -p "$logs" "${RESULTS:-$logs}"

# mounted ROOT: what programs expect there, which debootstrap does not leave
mounted() {
	mount -t proc proc "$1/proc" && mount -t tmpfs tmpfs "$1/dev/shm" || return
	[ "${PTS-}" = no ] || mount -t devpts -o newinstance,ptmxmode=666,gid=5,mode=620 devpts "$1/dev/pts"
}

# inside ROOT WHO COMMAND: a shell's command in the system, with the environment of a fresh login
inside() {
	if [ "$2" = root ]; then
		chroot "$1" env -i HOME=/root TERM=dumb PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin bash -c "$3"
	else
		chroot "$1" env -i TERM=dumb PATH=/usr/sbin:/usr/bin:/sbin:/bin su -l newcomer -c "$3"
	fi </dev/null
}

# made_bare ROOT SUITE: a minimal system with make
made_bare() {
	local update='apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends'
	# shellcheck disable=SC2086 # options are several words
	debootstrap --variant=minbase ${DEBOOTSTRAP-} "$2" "$1" ${MIRROR:+"$MIRROR"} && mounted "$1" || return
	# Ubuntu mends its packages in a suite of their own.
	! grep -q '^ID=ubuntu' "$1/etc/os-release" || sed -i "p; s| $2 | $2-updates |" "$1/etc/apt/sources.list"
	inside "$1" root "$update make"
}

# with_user ROOT: one who has no rights but by sudo
with_user() {
	inside "$1" root 'apt-get install -y -qq --no-install-recommends sudo && useradd -m -s /bin/bash newcomer' &&
		echo 'newcomer ALL=(ALL) NOPASSWD: ALL' >"$1/etc/sudoers.d/newcomer"
}

# copied ROOT WHO: a clean checkout in the user's folder
copied() {
	git archive --prefix='a clone/' HEAD | tar -x -C "$1/$(home "$2")" &&
		inside "$1" root "chown -R $(id_of "$2") '/$(home "$2")/a clone'"
}

home() { if [ "$1" = root ]; then echo root; else echo home/newcomer; fi; }
id_of() { if [ "$1" = root ]; then echo root:; else echo newcomer:; fi; }

# summed_up LOG: the lines that say how the tests ended
summed_up() {
	sed -n -E '/^(Files=|Result:|All tests|Test Summary)/p' "$1" | sed 's/^/               /'
}

# commands SUITE ROOT WHO: each of the commands, and how long it took
commands() {
	local command began status
	for command in ${COMMANDS:-demo check}; do
		began=$EPOCHREALTIME
		inside "$2" "$3" "cd '/$(home "$3")/a clone' && make $command" >"$logs/$1-$3-$command.log" 2>&1
		status=$?
		awk -v command="make $command" -v who="$3" -v began="$began" -v ended="$EPOCHREALTIME" -v status=$status 'BEGIN {
			printf "%-10s  %6.0f s  as %s%s\n", command, ended - began, who, status ? ": FAILED, exit code " status : "" }'
		summed_up "$logs/$1-$3-$command.log"
		[ $status -eq 0 ] || { echo "see $logs/$1-$3-$command.log" >&2; return 1; }
	done
}

# versions ROOT: of what differs between distributions
versions() {
	inside "$1" root '. /etc/os-release; echo "$PRETTY_NAME, $(uname -m), $(nproc) cores, $(date -u +%F)"
		for program in gcc clang make gnuplot bats python3 perl cppcheck shfmt; do
			command -v $program >/dev/null && echo "  $program $($program --version 2>&1 | grep -oE "[0-9]+[.][0-9]+[^ ),]*" | head -n 1)"
		done; true'
}

# suite_passes SUITE ROOT: prints its block
suite_passes() {
	local who status=0 commands_log=$logs/$1.commands
	made_bare "$2" "$1" >"$logs/$1-root.log" 2>&1 || fail "$1: no bare system: $(tail -n 1 "$logs/$1-root.log"); see $logs/$1-root.log"
	for who in ${AS:-root}; do
		[ "$who" = root ] || with_user "$2" >>"$logs/$1-root.log" 2>&1 || fail "$1: no user: see $logs/$1-root.log"
		copied "$2" "$who" || fail "$1: the copy for $who failed"
		commands "$1" "$2" "$who" || status=1
	done >"$commands_log"
	echo "$ make check-bare BARE=$1${PTS:+ PTS=$PTS}${AS:+ AS=\"$AS\"}${COMMANDS:+ COMMANDS=\"$COMMANDS\"}"
	versions "$2"
	cat "$commands_log"
	rm "$commands_log"
	return $status
}

bad=0
for suite; do
	root=$BARE_NAMESPACE/$suite
	suite_passes "$suite" "$root" >"$logs/$suite.txt" || bad=1
	cat "$logs/$suite.txt"
	release=$(. "$root/etc/os-release" && echo "$ID$VERSION_ID")
	[ -z "${RESULTS-}" ] || [ -z "$release" ] || cp "$logs/$suite.txt" "$RESULTS/check-bare-$release.txt"
	umount -l "$root/proc" "$root/dev/shm" "$root/dev/pts" 2>/dev/null
	rm -rf --one-file-system "$root"
done
exit $bad
