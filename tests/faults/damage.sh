#!/usr/bin/env bash
# damage.sh [RUNS]: small recordings, and every table that there is, in every command that reads a recording (tests/fuzz), with one
# byte damaged, in RUNS runs spread over all bytes of each (200; 0: one run for each byte).  Nothing ends by a signal, or takes
# as long as a minute.  Prints a line for each, and the last words of each that did.
source "$(dirname "${BASH_SOURCE[0]}")/commands.bash"
runs=${1:-200}
code=0

python3 "$root/tests/fuzz/seeds.py" "$program" "$there/seeds" || exit
for file in "$there"/seeds/recording/*; do
	if (cd "$root" && FUZZ_TARGET=recording FUZZ_DAMAGE=$runs timeout $((runs ? 60 : 3600)) "$BUILD/fuzz/fuzz" "$file") \
		>/dev/null 2>"$there/err"; then
		echo "$(basename "$file"): $(stat -c %s "$file") bytes, $((runs ? runs : $(stat -c %s "$file"))) runs at most"
	else
		echo "$(basename "$file"): ended with $?: $(tail -n 3 "$there/err")"
		code=1
	fi
done
exit $code
