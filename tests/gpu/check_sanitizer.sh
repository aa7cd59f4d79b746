#!/usr/bin/env bash
# compute-sanitizer finds nothing in any variant of any workload: memcheck no access out of bounds and no
# leak, racecheck no race in shared memory.  What a tool cannot look at is skipped, in the tool's own words.
#
#   ONLY=REGEX JOBS=N SANITIZER=PATH tests/gpu/check_sanitizer.sh     workloads whose name matches, N at a time
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"
# shellcheck source=tests/gpu/sanitizer.bash
. "$(dirname "${BASH_SOURCE[0]}")/sanitizer.bash"

folder=$BUILD/lib/rooflinectl/workloads
found_code=86 # of the tool, when it has found something
first_port=49152

sanitizer=$(find_sanitizer)
if [ -z "$sanitizer" ]; then
	echo "1..0 # SKIP compute-sanitizer is not installed: it comes with the CUDA toolkit (SANITIZER names it)"
	exit 0
fi
echo "# $("$sanitizer" --version | grep -i '^version')"

# options TOOL: errors of API calls are the programs' affair: those that they do not provoke end them with 1
options() {
	case $1 in
	memcheck) echo "--leak-check full --report-api-errors no" ;;
	racecheck) echo "--racecheck-report analysis" ;;
	esac
}

# sanitize TOOL COMMAND...: starts it under the tool, with ports of its own
sanitize() {
	local tool=$1
	shift
	# shellcheck disable=SC2046 # options are several words
	start "$sanitizer" --tool "$tool" $(options "$tool") --error-exitcode $found_code \
		--target-processes application-only --port $((first_port + 20 * run_count % 16000)) "$@"
}

# size WORKLOAD: small, with a last block that is not full, and large enough that every kernel runs
size() {
	case $1 in
	device_choice) echo 20001 ;; # three segments of 8,192 bytes
	device_graph) echo 70001 ;;  # two parts of 65,536 values
	dp_irregular) echo 40001 ;;  # pixels, of which some cells are split
	clusters) echo 70001 ;;      # two rows of 65,536 values
	autotune) echo 129 ;;        # rows and columns
	transformer) echo 65 ;;      # tokens
	*) echo 3001 ;;
	esac
}

# is_found RUN: the tool ended with its code for findings
is_found() {
	[ "$(cat "$1.code")" = $found_code ] && return
	echo "#   exit code $(cat "$1.code")"
	shown "$1.out" "$1.err"
	return 1
}

# is_clean RUN: the program was right, and the tool found nothing
is_clean() {
	[ "$(cat "$1.code")" = 0 ] && grep -q 'every result matches the scalar reference$' "$1.out" && return
	echo "#   exit code $(cat "$1.code") ($found_code: the tool found something, 124: not done within $limit_s s)"
	shown "$1.out" "$1.err"
	return 1
}

# races_of_library RUN: the library's kernel in which all races lie that the tool reports; nothing where one lies elsewhere
races_of_library() {
	local kernels
	kernels=$(grep -hoE '(Read|Write|Atomic) access at [A-Za-z0-9_]+' "$1.out" "$1.err" | sed 's/.* at //' | sort -u)
	[ -z "$kernels" ] || grep -qvE '^(nvjet_|cudnn|cutlass|cask)' <<<"$kernels" || head -n 1 <<<"$kernels"
}

# why_not_looked_at RUN: what the tool, or the program, says that it cannot do; nothing when it can
why_not_looked_at() {
	local words
	words=$(grep -hoE '[A-Z][A-Za-z ]+ is not supported by the selected tool' "$1.out" "$1.err" | head -n 1)
	[ -n "$words" ] || words=$(sed -nE 's/^[a-z0-9_]+:? +skipped: (.*)/\1/p' "$1.out" | head -n 1)
	[ -n "$words" ] || words=$(races_of_library "$1")
	echo "$words"
}

# judge SENTENCE RUN
judge() {
	local reason
	reason=$(why_not_looked_at "$2")
	if [ -n "$reason" ]; then skip "$1" "$reason"; else check "$1" is_clean "$2"; fi
}

# A tool that finds nothing where something is planted says nothing by finding nothing elsewhere.
sanitize memcheck "$programs/planted_errors" bounds
sanitize racecheck "$programs/planted_errors" race
sanitize memcheck "$programs/planted_errors" leak
wait
check "memcheck finds a planted write out of bounds" is_found "$scratch/1"
check "racecheck finds a planted race" is_found "$scratch/2"
if [ "$(cat "$scratch/3.code")" = 0 ]; then
	skip "memcheck finds a planted leak" "it looks for leaks when a context is destroyed, which these programs leave to their end"
else
	check "memcheck finds a planted leak" is_found "$scratch/3"
fi

sentences=() # by run
for name in $(workload_names "${ONLY:-.}"); do
	if [ "$name" = pytorch ]; then
		skip "$name" "its kernels are PyTorch's own"
		continue
	fi
	for variant in $("$folder/$name" --list | awk '{ print $1 }'); do
		for tool in memcheck racecheck; do
			sanitize $tool "$folder/$name" "$variant" --size "$(size "$name")" --iterations 2 --repeats 1
			sentences[run_count]="$name $variant: $tool finds nothing"
		done
	done
done
wait
for run in "${!sentences[@]}"; do judge "${sentences[run]}" "$scratch/$run"; done
finish
