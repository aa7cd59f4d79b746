#!/usr/bin/env bash
# clang-tidy (.clang-tidy says which checks) has nothing to say about analyzer and collector.
source "$(dirname "$0")/common.bash"
skip_all_unless clang-tidy

# The analyzer follows paths through a function and what it calls, up to so many states a function; TIDY_STATES,
# which `make check` sets, makes that fewer.  Most functions need none of it.
states=${TIDY_STATES:-225000}

# tidy FOLDER FLAG...: warnings about the .c files of a folder
tidy() {
	local folder=$1
	shift
	find "$folder" -name '*.c' | sort | # several a process: starting one takes as long as most files
		xargs -P"${TIDY_JOBS:-2}" -n12 sh -c 'flags=$1; shift
			clang-tidy --quiet --vfsoverlay="$0" "$@" -- $flags 2>/dev/null
			[ $? -lt 2 ] || echo "error: clang-tidy ended before it had seen all of: $*"' \
			"$overlay" "-Xclang -analyzer-config -Xclang max-nodes=$states -std=gnu11 -Iinclude -DROOFLINE_VERSION=\"\" $*" |
		grep -E '(warning|error):' | sed "s|$PWD/||" | sort -u
}

# What checked.h opens ends with each file: clang-tidy sees them with one more line.
overlay=$(mktemp -d)/overlay.json
trap 'rm -rf "${overlay%/*}"' EXIT
find analyzer -name '*.c' | while read -r file; do
	copy=${overlay%/*}/${file//\//.}
	cat "$file" - <<<'#pragma clang attribute pop' >"$copy"
	echo "{\"type\": \"file\", \"name\": \"$PWD/$file\", \"external-contents\": \"$copy\"}"
done | paste -sd, | sed 's/.*/{"version": 0, "use-external-names": false, "roots": [&]}/' >"$overlay"

tidy analyzer -Ianalyzer -I. -include tests/lint/checked.h | verdict "clang-tidy finds nothing in the analyzer"
if [ ! -d collector ] || [ -z "${CUDA_FLAGS-}" ]; then
	skip "clang-tidy finds nothing in the collector" "no CUPTI headers (make lint passes them)"
else
	tidy collector -Icollector $CUDA_FLAGS | verdict "clang-tidy finds nothing in the collector"
fi
if [ ! -d try ] || [ -z "${CUDA_FLAGS-}" ]; then
	skip "clang-tidy finds nothing in the library of try" "no CUDA headers (make lint passes them)"
else
	tidy try -Itry $CUDA_FLAGS | verdict "clang-tidy finds nothing in the library of try"
fi
finish
