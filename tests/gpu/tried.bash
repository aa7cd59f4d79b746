# Sourced by the checks of librooflinetry.so: a program with a strategy, and what the library counted.
# $library and $scratch are those of the check.

# tried STRATEGIES NAME COMMAND...: with its counts in a folder of that name
tried() {
	local strategies=$1 name=$2
	shift 2
	mkdir -p "$scratch/counts/$name"
	env ROOFLINE_TRY="$strategies" ROOFLINE_TRY_OUTPUT="$scratch/counts/$name/process" LD_PRELOAD="$library" "$@"
}

# count NAME ROW
count() {
	cat "$scratch/counts/$1"/process.* 2>/dev/null | awk -F, -v row="$2" '$1 == row { sum += $2 } END { print sum + 0 }'
}
