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
	for folder in analyzer collector include try workloads tests; do
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

# What these tools say depends on their version.  Another one than these of Debian 12 would find fault with code in which
# nothing is wrong: its check is skipped.
declare -A holds_for=([clang-format]=14 [clang-tidy]=14 [cppcheck]=2.10)

# version_of TOOL: the first number that it prints as its version; of LLVM's the major one alone
version_of() {
	"$1" --version 2>/dev/null | grep -oE '[0-9]+(\.[0-9]+)+' | head -1 | if [[ $1 == clang* ]]; then cut -d. -f1; else cat; fi
}

# skip_all_unless TOOL: skips the file where the tool is missing or has another version than the check holds for
skip_all_unless() {
	local version
	skip_all_without "$1"
	version=$(version_of "$1")
	[ "$version" = "${holds_for[$1]}" ] && return
	echo "1..0 # SKIP holds for $1 ${holds_for[$1]}; this is ${version:-of unknown version}"
	exit 0
}

skip_all_without() {
	command -v "$1" >/dev/null && return
	echo "1..0 # SKIP $1 is not installed (make setup)"
	exit 0
}
