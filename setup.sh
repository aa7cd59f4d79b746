#!/bin/sh
# setup.sh PACKAGE[:COMMAND]|PACKAGE?... - installs what is missing of these Debian or Ubuntu packages.
#
# A package counts as there when dpkg knows it as installed or when its command is found.
# One with a question mark is left out where the distribution has no such package.
# Nothing is downloaded when nothing is missing.  Elsewhere it names the packages and goes on.
missing=
optional=
for item; do
	package=${item%%:*}
	package=${package%\?}
	case $item in *:*) command -v "${item##*:}" >/dev/null 2>&1 && continue ;; esac
	dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed && continue
	case $item in
	*\?) optional="$optional $package" ;;
	*) missing="$missing $package" ;;
	esac
done
[ -z "$missing$optional" ] && exit 0

if ! command -v apt-get >/dev/null 2>&1; then
	echo "setup: no apt-get here; please install the likes of:$missing$optional" >&2
	exit 0
fi
as_root=
if [ "$(id -u)" -ne 0 ]; then
	as_root=sudo
	command -v sudo >/dev/null 2>&1 || {
		echo "setup: not root and no sudo; as root: apt-get install$missing$optional" >&2
		exit 1
	}
fi
echo "setup: installing$missing$optional" >&2
# A fresh image has no package lists: fetch them once when the first try fails.
install() {
	known=
	for package in $optional; do
		apt-cache show "$package" >/dev/null 2>&1 && known="$known $package"
	done
	[ "$known" = "$optional" ] || [ -n "$has_lists" ] || return 1
	[ -z "$missing$known" ] || $as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get install -y -qq --no-install-recommends $missing $known >&2
}
has_lists=
install || { $as_root apt-get update -qq >&2 && has_lists=yes && install; }
