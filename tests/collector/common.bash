# Loaded by every test of the collector: runs mock_app without and with the collector, compares, reads
# the recording.  Nothing here needs a GPU.
load ../cli/common

collector="$BUILD/lib/librooflinecollector.so"
mock_cupti="$BUILD/tests/collector/libcupti_mock.so"
app="$BUILD/tests/collector/mock_app"
# A program that was not built with ASan needs its runtime loaded before a collector that was.
runtimes=$(ldd "$collector" | awk '/lib(asan|ubsan)/ { printf "%s ", $3 }')

setup() {
	cd "$BATS_TEST_TMPDIR"
	ulimit -S -c 0
	recording="$BATS_TEST_TMPDIR/recording"
	export ROOFLINE_OUTPUT="$recording" ROOFLINE_CUPTI="$mock_cupti"
}

# setup_driver: what setup() does, where the driver that is found is the stand-in for it
setup_driver() {
	cd "$BATS_TEST_TMPDIR"
	ulimit -S -c 0
	recording="$BATS_TEST_TMPDIR/recording"
	mkdir driver
	ln -s "$BUILD/tests/collector/libmock_cuda.so" driver/libcuda.so.1
	export ROOFLINE_OUTPUT="$recording" ROOFLINE_CUPTI="$mock_cupti" LD_LIBRARY_PATH="$PWD/driver"
}

# capture NAME COMMAND...: NAME.out, NAME.err and NAME.status of a command
capture() {
	local name=$1 status=0
	shift
	"$@" >"$name.out" 2>"$name.err" </dev/null || status=$?
	echo "$status" >"$name.status"
}

# same_as_bare: what the program printed and how it ended is as without the collector
same_as_bare() {
	cmp bare.out with.out
	cmp bare.status with.status || { cat with.status with.err; false; }
	grep -v '^rooflinecollector: ' with.err >own.err || true
	cmp bare.err own.err
}

# record STEP...: mock_app with the collector, compared with a run without
record() {
	capture bare "$app" "$@"
	capture with env CUDA_INJECTION64_PATH="$collector" NVTX_INJECTION64_PATH="$collector" \
		"$app" "$@"
	same_as_bare
}

# record_preloaded STEP...: the same by LD_PRELOAD alone
record_preloaded() {
	capture bare "$app" "$@"
	capture with env LD_PRELOAD="$runtimes$collector" "$app" "$@"
	same_as_bare
}

# warned COUNT [REGEX]: the collector printed so many warnings, one of which matches
warned() {
	grep '^rooflinecollector: ' with.err || true # for whoever reads a failure
	[ "$(grep -c '^rooflinecollector: ' with.err)" -eq "$1" ]
	[ $# -eq 1 ] || grep -qE "^rooflinecollector: .*$2" with.err
}

ended_with() {
	cat with.status
	[ "$(cat with.status)" -eq "$1" ]
}

wrote_nothing() {
	[ -z "$(find . -name '*.csv' -o -name 'roofline.*' | head -1)" ]
	[ ! -d "$recording" ]
}

# tables TABLE: the files of that name, one a process
tables() {
	find "$recording" -name "$1.csv"
}

# rows TABLE: how many rows, over all processes
rows() {
	tables "$1" | xargs -r tail -q -n +2 | wc -l
}

# loss KIND: how much of it was counted
loss() {
	tables losses | xargs -r cat | awk -F, -v kind="$1" '$2 == kind { sum += $3 } END { printf "%.0f\n", sum }'
}

# property KEY: its value in process.csv
property() {
	tables process | xargs -r sed -n "s/^$1,//p"
}

sealed() {
	[ -n "$(property sealed_ns)" ]
}

# equal WHAT WANTED IS: so that a failure tells both
equal() {
	[ "$2" = "$3" ] || {
		echo "$1: wanted $2, is $3"
		return 1
	}
}

# cut_off: takes away what a kill left of the last lines, and tables that it left without a header, as a reader has to
cut_off() {
	find "$recording" -name '*.csv' -empty -delete
	find "$recording" -name '*.csv' -exec perl -0777 -i -pe 's/[^\n]+\z//' {} +
}

# readable [COUNT]: every table of so many processes (1) has its header, ends with a line break, and
# all its rows have as many columns as the header
readable() {
	equal processes "${1-1}" "$(tables process | wc -l)"
	find "$recording" -name '*.csv' -exec perl -0777 -e '
		for my $name (@ARGV) {
			open my $file, "<", $name or die "$name: $!";
			my $text = <$file> // "";
			$text =~ /\n\z/ or die "$name: no whole line at its end\n";
			$text =~ s/"(?:[^"]|"")*"//g;
			my @lines = split /\n/, $text;
			$lines[0] =~ /^[a-z_]+(,[a-z0-9_]+)*$/ or die "$name: no header\n";
			my $wanted = $lines[0] =~ tr/,//;
			for (@lines) {
				tr/,// == $wanted or die "$name: wrong number of columns: $_\n";
			}
		}' {} +
}

# each_name_known: every number that markers and kernels refer to is in names and signatures
each_name_known() {
	local folder
	for folder in $(tables process | xargs -r -n1 dirname); do
		perl -e '
			my ($folder) = @ARGV;
			sub rows { open my $f, "<", "$folder/$_[0].csv" or die; my @r = <$f>; shift @r; map { chomp; [split /,/] } @r }
			my %name = map { $_->[0] => 1 } rows("names");
			my %signature = map { $_->[0] => 1 } rows("signatures");
			$name{$_->[1]} or die "signature $_->[0] names $_->[1]\n" for rows("signatures");
			$signature{$_->[2]} or die "a kernel has signature $_->[2]\n" for rows("kernels");
			for my $marker (rows("markers")) {
				$name{$_} or die "a marker names $_\n" for grep { $_ } @$marker[5, 6];
			}' "$folder"
	done
}

# needs_preload: skips the test where the loader cannot be told of the collector
needs_preload() {
	[[ $(realpath "$BUILD") != *[[:space:]:]* ]] ||
		skip "LD_PRELOAD cannot name a library in a folder with a space or colon in its name"
}

# faults_end_programs: as without sanitizers, which would catch them
faults_end_programs() {
	export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_segv=0
}
