#!/usr/bin/env bash
# How long a report takes and how much memory it needs, against the length of the recording.
#
# KERNELS (default "1000000 10000000") names the sizes, REPEATS (default 3) the runs of each.  Runs
# are interleaved, so that a slow moment of the machine falls on every size; medians are shown.
set -eu
BUILD=${BUILD:-build}
sizes=${KERNELS:-1000000 10000000}
repeats=${REPEATS:-3}
folder=$(mktemp -d "${TMPDIR:-/tmp}/roofline-bench.XXXXXX")
trap 'rm -rf "$folder"' EXIT

# measure COMMAND...: appends 'seconds kilobytes' of one run to the file $figures
measure() {
	perl -MTime::HiRes=time -e '
		my $figures = shift;
		my $start = time;
		my $pid = fork // die "fork: $!";
		if (!$pid) { open STDOUT, ">", "/dev/null"; exec @ARGV or die "$ARGV[0]: $!" }
		# The peak falls with the process: read it while waiting.
		my $peak = 0;
		require POSIX;
		while (waitpid($pid, POSIX::WNOHANG()) == 0) {
			if (open my $status, "<", "/proc/$pid/status") {
				while (<$status>) { $peak = $1 if /^VmHWM:\s+(\d+)/ && $1 > $peak }
			}
			select undef, undef, undef, 0.005;
		}
		die "@ARGV failed\n" if $?;
		open my $out, ">>", $figures or die "$figures: $!";
		printf $out "%.3f %d\n", time - $start, $peak;
	' "$figures" "$@"
}

# median COLUMN FILE
median() {
	awk -v column="$1" '{print $column}' "$2" | sort -n | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'
}

for kernels in $sizes; do
	echo "making a recording of $kernels kernels" >&2
	"$BUILD/tests/tools/make_trace" "$folder/$kernels" "$kernels" >/dev/null
done
for repeat in $(seq "$repeats"); do
	for kernels in $sizes; do
		echo "report on $kernels kernels, $repeat of $repeats" >&2
		figures=$folder/$kernels.figures
		measure "$BUILD/bin/rooflinectl" report --format json "$folder/$kernels"
	done
done

printf '%12s %10s %10s %12s %22s\n' kernels size_MB seconds peak_MB seconds_per_million
first=
for kernels in $sizes; do
	seconds=$(median 1 "$folder/$kernels.figures")
	printf '%12d %10d %10.2f %12.0f %22.3f\n' "$kernels" \
		"$(du -sm "$folder/$kernels" | cut -f1)" "$seconds" \
		"$(awk -v kb="$(median 2 "$folder/$kernels.figures")" 'BEGIN {print kb / 1024}')" \
		"$(awk -v s="$seconds" -v n="$kernels" 'BEGIN {print s / n * 1e6}')"
	first=${first:-$kernels:$seconds}
done
awk -v a="$first" -v n="$kernels" -v s="$seconds" 'BEGIN {
	split(a, f, ":")
	if (n != f[1])
		printf "%s against %s kernels: %.1f times as many, %.2f times as long\n", n, f[1], n / f[1], s / f[2]
}'
