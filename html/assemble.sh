#!/bin/sh
# assemble.sh - puts page.html, style.css and the scripts into one page, on stdout.
#
# The page's Content-Security-Policy names its one style and its one script by their hashes: a browser runs nothing else,
# whatever a recording's names hold.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# In the order in which they need each other; page.js, which starts everything, comes last.
scripts='format.js elements.js data.js colors.js table.js rows.js paint.js timeline.js verdict.js whatif.js plane.js
	roofline.js sections.js compare.js keys.js page.js'

{ echo '(() => {'; echo "'use strict';"; cat $scripts; echo '})();'; } >"$work/script"
cp style.css "$work/style"

# hash FILE: as a policy wants it, of the bytes in base 64
hash() {
	/usr/bin/env printf "$(sha256sum "$1" | cut -c 1-64 | sed 's/../\\x&/g')" | base64
}
policy="default-src 'none'; script-src 'sha256-$(hash "$work/script")'; style-src 'sha256-$(hash "$work/style")'"
policy="$policy; base-uri 'none'; form-action 'none'"

while IFS= read -r line; do
	case $line in
	'<!-- policy -->') printf '<meta http-equiv="Content-Security-Policy" content="%s">\n' "$policy" ;;
	'<!-- style -->') printf '<style>' && cat "$work/style" && printf '</style>\n' ;;
	'<!-- script -->') printf '<script>' && cat "$work/script" && printf '</script>\n' ;;
	*) printf '%s\n' "$line" ;;
	esac
done <page.html
