# Sourced by every lint: TAP with one line a rule, and what broke it as comments.
set -u
shopt -s lastpipe # verdict, at the end of a pipe, counts in this shell
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
BUILD=${BUILD:-build}
test_count=0

# sources PATTERN...: source files that match, in the folders that exist
sources() {
	local folder names=()
	for pattern; do names+=(-o -name "$pattern"); done
	for folder in analyzer collector include workloads tests; do
		[ -d "$folder" ] && find "$folder" -type f \( "${names[@]:1}" \)
	done | sort
}

# verdict SENTENCE: ok when standard input is empty, else not ok with its lines
verdict() {
	local problems
	problems=$(cat)
	test_count=$((test_count + 1))
	if [ -z "$problems" ]; then
		echo "ok $test_count - $1"
	else
		echo "not ok $test_count - $1"
		sed 's/^/# /' <<<"$problems"
	fi
}

skip() {
	test_count=$((test_count + 1))
	echo "ok $test_count - $1 # SKIP $2"
}

finish() {
	echo "1..$test_count"
}

skip_all_without() {
	command -v "$1" >/dev/null && return
	echo "1..0 # SKIP $1 is not installed (make setup)"
	exit 0
}
