#!/usr/bin/env bash
# Two clients of CUPTI in one program: what each gets, and that the collector says so.
#
#   CUPTI_VERSIONS=/opt/cupti/13.3:/opt/cupti/13.5 tests/gpu/check_two_clients.sh
#
# CUPTI_VERSIONS: folders that hold a libcupti.so.13 and what it needs; that of this machine is tried always.
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"
rooflinectl=$BUILD/bin/rooflinectl
launches=1000
ways=("one with the older functions" "one that allows no other" "one that allows others")

# expected NAME: what the program said
expected() {
	awk -v name="$1" '$1 == name { print $2 }' "$scratch/out"
}

# run WAY FIRST LIBRARY: the program asks for records whatever CUPTI answers
run() {
	rm -rf "$recording"
	ROOFLINE_CUPTI=$3 LD_LIBRARY_PATH=$(dirname "$3")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
		timeout -k 5 60 "$rooflinectl" record -o "$recording" -- "$programs/second_subscriber" --way "$1" --first "$2" \
		--records 1 --launches $launches "$3" >"$scratch/out" 2>"$scratch/said"
}

at_least() {
	[ "${2:-0}" -ge "$1" ] || { echo "# at least $1, got ${2:-nothing}"; return 1; }
}

both_got_kernels() {
	at_least $launches "$(expected kernels)" && at_least $launches "$(recorded_kernels)"
}

recorded_kernels() {
	tail -q -n +2 "$recording"/*/kernels.csv 2>/dev/null | wc -l
}

property() {
	tail -q -n +2 "$recording"/*/process.csv 2>/dev/null | sed -n "s/^$1,//p"
}

IFS=: read -ra folders <<<"${CUPTI_VERSIONS-}"
run 0 0 libcupti.so.13
libraries=("$(property cupti_path)" "${folders[@]/%//libcupti.so.13}")
for library in "${libraries[@]}"; do
	for first in 0 1; do
		for way in 0 1 2; do
			run $way $first "$library"
			ended=$?
			version=$(property cupti)
			[ -z "$version" ] || known=$version
			what="CUPTI ${version:-$known}, ${ways[way]} $([ $first = 1 ] && echo before us || echo after us)"
			echo "# $what: CUPTI answers $(expected subscribed); kernels: ours $(recorded_kernels), its $(expected kernels)"
			grep rooflinecollector "$scratch/said" | sort -u | sed 's/^/#   /'
			check "$what: the program ends as ever, and its kernels count right" equal "0 1" "$ended $(expected counted)"
			[ $first = 1 ] || [ "${version:-0}" -lt 130400 ] ||
				check "$what: the collector loses nothing" at_least $((2 * launches)) "$(recorded_kernels)"
			[ $way != 2 ] || [ "${version:-$known}" -lt 130400 ] ||
				check "$what: both get the kernels" both_got_kernels
		done
	done
done
finish
