#!/usr/bin/env bash
# How long a report takes and how much memory it needs, against the length of the recording.
#
# KERNELS (default "1000000 10000000") names the sizes, REPEATS (default 3) the runs of each, for a chain
# of kernels, for loops of decisions, and for as many samples of 17 counters beside a chain (tests/tools/make_trace.c).  With measured ceilings, whose
# GPU is not that of the recording, all advice is re-simulated.  Runs are interleaved, so that a slow
# moment of the machine falls on every size; medians are shown.
set -eu
BUILD=${BUILD:-build}
sizes=${KERNELS:-1000000 10000000}
repeats=${REPEATS:-3}
ceilings=$(ls "$(dirname "$0")"/../../ceilings/NVIDIA_H200*.json | head -n 1)
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
	echo "making recordings of $kernels" >&2
	"$BUILD/tests/tools/make_trace" "$folder/chain.$kernels" "$kernels" >/dev/null
	"$BUILD/tests/tools/make_trace" "$folder/decisions.$kernels" "$kernels" decisions >/dev/null
	# every 300 ns, 3 us from kernel to kernel: 7.6 samples for each that are a row
	"$BUILD/tests/tools/make_trace" "$folder/samples.$kernels" $((kernels * 10 / 76)) 300 >/dev/null
done
for repeat in $(seq "$repeats"); do
	for kernels in $sizes; do
		for kind in chain decisions samples; do
			echo "report on $kind of $kernels, $repeat of $repeats" >&2
			figures=$folder/$kind.$kernels.figures
			measure "$BUILD/bin/rooflinectl" report --format json --ceilings "$ceilings" "$folder/$kind.$kernels"
		done
	done
done

printf '%-10s %12s %10s %10s %12s %22s\n' recording of size_MB seconds peak_MB seconds_per_million
for kind in chain decisions samples; do
	first=
	for kernels in $sizes; do
		figures=$folder/$kind.$kernels.figures
		seconds=$(median 1 "$figures")
		printf '%-10s %12d %10d %10.2f %12.0f %22.3f\n' "$kind" "$kernels" \
			"$(du -sm "$folder/$kind.$kernels" | cut -f1)" "$seconds" \
			"$(awk -v kb="$(median 2 "$figures")" 'BEGIN {print kb / 1024}')" \
			"$(awk -v s="$seconds" -v n="$kernels" 'BEGIN {print s / n * 1e6}')"
		first=${first:-$kernels:$seconds}
	done
	awk -v a="$first" -v n="$kernels" -v s="$seconds" -v kind="$kind" 'BEGIN {
		split(a, f, ":")
		if (n != f[1])
			printf "%s: %s against %s: %.1f times as many, %.2f times as long\n", kind, n, f[1], n / f[1], s / f[2]
	}'
done
