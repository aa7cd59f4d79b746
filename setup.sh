#!/bin/sh
# setup.sh PACKAGE[:COMMAND]... - installs what is missing of these Debian or Ubuntu packages.
#
# A package counts as there when dpkg knows it as installed or when its command is found.
# Nothing is downloaded when nothing is missing.  Elsewhere it names the packages and goes on.
missing=
for item; do
	package=${item%%:*}
	case $item in *:*) command -v "${item##*:}" >/dev/null 2>&1 && continue ;; esac
	dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed && continue
	missing="$missing $package"
done
[ -z "$missing" ] && exit 0

if ! command -v apt-get >/dev/null 2>&1; then
	echo "setup: no apt-get here; please install the likes of:$missing" >&2
	exit 0
fi
as_root=
if [ "$(id -u)" -ne 0 ]; then
	as_root=sudo
	command -v sudo >/dev/null 2>&1 || {
		echo "setup: not root and no sudo; as root: apt-get install$missing" >&2
		exit 1
	}
fi
echo "setup: installing$missing" >&2
# A fresh image has no package lists: fetch them once when the first try fails.
install() {
	$as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get install -y -qq --no-install-recommends $missing >&2
}
install || { $as_root apt-get update -qq >&2 && install; }
