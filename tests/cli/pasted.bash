# pasted.bash - a name that attacks who pastes a command with it, and a look at whether it can.
hostile=$'-a b\'c"d\n$(touch ran)`touch ran`;touch ran\t\e[31m\xff\xc2\x9b#&|é'
path="./$hostile"

# pasted TEXT [WORD]: each command in what was printed on a line of its own, or behind ": ", is run by a shell, in which the
# programs only note their arguments; one of these is the hostile path, or WORD
pasted() {
	local found=0 line command
	[ "$(tr -d '[:print:]\n' <<<"$1" | LC_ALL=C tr -d '\200-\377' | wc -c)" -le 1 ] # no control character
	while IFS= read -r line; do
		command=$(sed -nE 's/^rooflinectl [a-z]+: //; s/, then rooflinectl import .*//; s/ and import what .*//
			s/^(.*: |.*; |.*run | *)((rooflinectl|nsys|rocpd|ncu|perf) [a-z-].*)/\2/p' <<<"$line")
		[ -n "$command" ] || continue
		bash -c 'for name in rooflinectl nsys rocpd ncu perf; do
			eval "$name() { printf \"%s\\0\" \"\$@\"; }"
		done
		eval "$1"' bash "$command" >words || { echo "cannot be pasted: $command"; return 1; }
		[ ! -e ran ] || { echo "ran something: $command"; return 1; }
		if ! W="${2-$path}" python3 -c '
import os, sys
words = open("words", "rb").read().split(b"\0")
sys.exit(not any(os.environb[b"W"] in word for word in words))'; then
			echo "does not have the name: $command"
			return 1
		fi
		found=$((found + 1))
	done <<<"$1"
	[ "$found" -gt 0 ] || { echo "no command in: $1"; return 1; }
}
