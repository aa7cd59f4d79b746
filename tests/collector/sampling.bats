#!/usr/bin/env bats
# The whole GPU over time, beside the trace: that samples are of what ran, when they are taken, what becomes
# of them when something fails, and that the program notices nothing.  The mock's samples follow from the
# kernels, which it notes in MOCK_SAMPLED_FILE.
load common

# Here decoding keeps pace with the clock: a machine that is busy with other tests may be too late once.
setup_file() {
	export BATS_TEST_RETRIES=2
}

setup() {
	cd "$BATS_TEST_TMPDIR"
	ulimit -c 0
	recording="$BATS_TEST_TMPDIR/recording"
	export ROOFLINE_OUTPUT="$recording" ROOFLINE_CUPTI="$mock_cupti" ROOFLINE_FLUSH_MS=50
	export ROOFLINE_SAMPLE=20us MOCK_SAMPLED_FILE="$PWD/truth" MOCK_CALLS="$PWD/calls"
}

# sampled ASK: what the recording holds, once it has been seen to be consistent: spans do not overlap and have
# no hole, samples in which nothing ran are one row, every kernel that began in a span is in one sample of it.
#   spans           each as "device length_ns"
#   starts, ends    of spans, in ns since the recording began
#   COLUMN,...      sums of columns of samples
sampled() {
	python3 - "$recording" "$1" truth <<-'END'
		import csv, glob, os, sys
		folder = glob.glob(sys.argv[1] + "/*/")[0]
		def rows(table):
		    return [{k: v if k in ("role", "name", "key", "value") else int(v) for k, v in r.items()}
		            for r in csv.DictReader(open(folder + table + ".csv"))]
		spans = sorted(rows("sampled_spans"), key=lambda s: (s["device"], s["start_ns"]))
		samples = sorted(rows("samples"), key=lambda s: (s["device"], s["start_ns"]))
		truth = []
		has_truth = os.path.exists(sys.argv[3])
		if has_truth:
		    for line in open(sys.argv[3]):
		        device, start, end, blocks, name, _ = line.split(",")
		        truth.append((int(device), int(start), int(end), int(blocks), name))
		for a, b in zip(spans, spans[1:]):
		    assert a["device"] != b["device"] or a["end_ns"] <= b["start_ns"], "spans overlap"
		for s in spans:
		    s["rows"] = [r for r in samples if r["device"] == s["device"]
		                 and s["start_ns"] <= r["start_ns"] < s["end_ns"]]
		    at = s["start_ns"]
		    for r in s["rows"]:
		        assert r["start_ns"] == at, "a hole in a span"
		        assert r["length_ns"] == r["sample_count"] * s["interval_ns"], "a sample of another length"
		        assert r["sample_count"] == 1 or not r["dispatches"] + r["blocks"] + r["sm_cycles"]
		        at += r["length_ns"]
		    assert at == s["end_ns"], "a span ends elsewhere than its samples"
		    quiet = [not (r["dispatches"] or r["compute_cycles"]) for r in s["rows"]]
		    assert not any(a and b for a, b in zip(quiet, quiet[1:])), "idle rows are not merged"
		assert sum(len(s["rows"]) for s in spans) == len(samples), "samples outside of spans"
		def inside(device, time):
		    return any(s["device"] == device and s["start_ns"] <= time < s["end_ns"] for s in spans)
		for device in {s["device"] for s in spans if has_truth}:
		    ran = [t for t in truth if t[0] == device and inside(device, t[1])]
		    own = [r for r in samples if r["device"] == device]
		    for column, wanted in (("dispatches", len(ran)), ("blocks", sum(t[3] for t in ran))):
		        found = sum(r[column] for r in own)
		        has_column = any(m["role"] == column and m["name"] for m in rows("sampled_metrics"))
		        assert found == wanted * has_column, f"device {device}: {found} {column}, and {wanted} ran"
		start = int(next(r["value"] for r in rows("process") if r["key"] == "start_ns"))
		if sys.argv[2] == "spans":
		    lines = [f"{s['device']} {s['end_ns'] - s['start_ns']}" for s in spans]
		elif sys.argv[2] in ("starts", "ends"):
		    lines = [s[sys.argv[2][:-1] + "_ns"] - start for s in spans]
		else:
		    lines = [" ".join(str(sum(r[c] for r in samples)) for c in sys.argv[2].split(","))]
		if lines:
		    print(*lines, sep="\n")
	END
}

# roles [DEVICE]: the columns that were sampled
roles() {
	tables sampled_metrics | xargs cat | awk -F, -v device="${1-0}" '$1 == device && $3 != "" { print $2 }' | xargs
}

# Steps that wait until the GPU is sampled, which it was once before for a trial, and until it is no more.
started="until_lines:2:calls:cuptiPmSamplingStart sleep_ms:5"
# A range that begins while samples are decoded begins no window.
stopped="until_lines:2:calls:cuptiPmSamplingStop sleep_ms:400"

# What begins in the first sample is lost, as it is not one: something else than what a test looks for.
begin="launch:name=first,blocks=1,run_us=1 $started sleep_ms:5"

front="dispatches blocks compute_cycles front_cycles pcie_read_bytes pcie_write_bytes sm_elapsed_cycles"
sm="sm_cycles sm_cycles_min sm_cycles_max"

# calls_of FUNCTION: of the mock, several in a row taken for one
calls_of() {
	[ -e calls ] || { echo 0; return; }
	grep -cx "$1" calls || true
}

# truth NAME-REGEX: kernels that ran while their GPU was sampled
truth() {
	[ -e truth ] || { echo 0; return; }
	grep -cE "$1" truth || true
}

# nothing_sampled: neither samples nor spans
nothing_sampled() {
	equal samples 0 "$(rows samples)"
	equal spans 0 "$(rows sampled_spans)"
}

# at_most WHAT LIMIT IS, at_least WHAT LIMIT IS
at_most() {
	[ "$3" -le "$2" ] || { echo "$1: at most $2, is $3"; return 1; }
}

at_least() {
	[ "$3" -ge "$2" ] || { echo "$1: at least $2, is $3"; return 1; }
}

# ---- what is recorded ----

@test "samples hold every kernel that ran while they were taken, whoever launched it" {
	ROOFLINE_SAMPLE_WINDOWS=800ms/10s record cuda context:1 $begin launch:count=20,run_us=100,pause_us=300 \
		device_launch:count=30,busy_us=50,blocks=64,pause_us=100 sleep_ms:50
	warned 0
	readable
	sealed
	equal kernels 21 "$(rows kernels)"
	equal "kernels while sampling" 50 "$(truth step\|device)"
	at_least "kernels in samples" 50 "$(sampled dispatches)"
	at_least "blocks in samples" $((20 * 8 + 30 * 64)) "$(sampled blocks)"
	at_most "blocks in samples" $((1 + 20 * 8 + 30 * 64)) "$(sampled blocks)"
	equal interval 20000 "$(property sample_ns)"
}

@test "each column is its counter" {
	export ROOFLINE_SAMPLE=1ms MOCK_UNSAMPLED=
	record cuda context:1 $begin launch:name=gemm,blocks=1000,run_us=5000 sleep_ms:100
	warned 0
	# the kernel before may be in them, and each of some samples is rounded
	sampled compute_cycles,sm_cycles,sm_cycles_min,sm_cycles_max,tensor_cycles,pcie_read_bytes | awk '
		function near(is, wanted, more) { return is >= wanted - 7 && is <= wanted + more + 7 }
		!(near($1, 5e6, 1e3) && near($2, 660e6, 132e3) && near($3, 2.5e6, 500) &&
		$4 >= 5e6 && $4 <= 6.26e6 && near($5, 330e6, 0) && near($6, 100, 100)) { print "cycles:", $0; exit 1 }'
	sampled dram_read_bytes,dram_write_bytes,l2_sectors,nvlink_rx_bytes,nvlink_tx_bytes | awk '
		function near(is, wanted) { return is >= wanted - 7 && is <= wanted * 1.001 + 7 }
		!(near($1, 1e6) && near($2, 5e5) && near($3, 48000) && near($4, 64000) && near($5, 32000)) {
			print "bytes and sectors:", $0; exit 1 }'
	# 0.25 and 0.125 of the sectors while anything ran
	sampled atomic_sectors,l2_sectors | awk '$1 < 0.37 * $2 || $1 > 0.38 * $2 { print "atomics:", $0; exit 1 }'
	# every sample has its time: 1 GHz everywhere
	sampled front_cycles,sm_elapsed_cycles,length_ns | awk '$1 != $3 || $2 != $3 { print "time:", $0; exit 1 }'
}

@test "what a GPU cannot sample is a gap, and the rest is there" {
	record cuda context:1 launch $started sleep_ms:25
	equal "without NVLink" "$front $sm dram_read_bytes dram_write_bytes tensor_cycles l2_sectors atomic_sectors" "$(roles)"
	equal "rows for each column" 17 "$(rows sampled_metrics)"
	rm -rf "$recording"
	export MOCK_UNSAMPLED= MOCK_NO_METRICS=dram__bytes_read,gr__ctas_launched.sum,pipe_tensor MOCK_TWO_PASSES=lts__t_sectors
	record cuda context:1 launch sleep_ms:30
	warned 0
	equal "with NVLink" "$front $sm dram_write_bytes atomic_sectors nvlink_rx_bytes nvlink_tx_bytes" "$(roles)"
	tables sampled_metrics | xargs grep -qx '0,blocks,gr__ctas_launched_realtime.sum'
}

@test "what is no number is nothing" {
	MOCK_NAN=1 record cuda context:1 launch $started sleep_ms:25
	warned 0
	equal "what ran" "0 0 0" "$(tables samples | xargs tail -q -n +2 |
		awk -F, '{ a += $5; b += $9; c += $14 } END { print a, b, c }')"
	at_least samples 1 "$(rows samples)"
}

@test "nothing of sampling is touched unless it is asked for" {
	unset ROOFLINE_SAMPLE
	record cuda context:1 launch_callbacks:no launch launch_callbacks:no push:x pop
	warned 0
	[ -s calls ]
	[ "$(grep -c 'PmSampling\|ProfilerHost\|EnableDomain' calls)" -eq 0 ]
	nothing_sampled
	equal interval "" "$(property sample_ns)"
}

@test "the first launch or copy on each device begins it, and they cost nothing again afterwards" {
	record cuda launch_callbacks:no context:1 context:3 context:2 launch_callbacks:yes copy_callbacks:yes sleep_ms:50 \
		device_launch:count=3 launch:context=1 launch_callbacks:yes device_launch:device=1 \
		launch:context=2,blocks=9 launch_callbacks:no copy_callbacks:no sleep_ms:5 device_launch:device=1,blocks=5,count=2 sleep_ms:50
	warned 0
	equal "kernels while sampling" "_Z4stepPfi _Z4stepPfi device_launched device_launched" "$(cut -d, -f5 truth | sort | xargs)"
	at_least kernels 2 "$(sampled dispatches)" # the first sample of each is none
	at_least "blocks of device 1" 10 "$(tables samples | xargs awk -F, '$3 == 1 { sum += $6 } END { print sum }')"
	equal "devices" "0 1" "$(sampled spans | cut -d' ' -f1 | sort -u | xargs)"
	equal "columns of both" "$(roles 0)" "$(roles 1)"
	equal "a second context of a device opens nothing" 2 "$(calls_of cuptiPmSamplingEnable)"
}

# ---- when ----

@test "it goes on without end where decoding keeps up, and in windows where it does not" {
	local interval sets wanted
	while read -r interval sets wanted; do
		rm -rf "$recording"
		ROOFLINE_SAMPLE=$interval ROOFLINE_SAMPLE_METRICS=${sets#all} record cuda context:1 launch sleep_ms:5
		warned 0
		equal "$interval $sets" "$wanted" "$(property sample_windows)"
	done <<-END
		1us front continuous
		1us sm 43854000 ns at most
		9us sm continuous
		25us all 287275000 ns at most
		35us all continuous
	END
}

@test "without end it takes as much as can be decoded, unless it is reported what" {
	export ROOFLINE_SAMPLE_WINDOWS=continuous
	ROOFLINE_SAMPLE=1us record cuda context:1 launch sleep_ms:5
	warned 0
	equal "at 1 us" "$front" "$(roles)"
	rm -rf "$recording"
	ROOFLINE_SAMPLE=10us record cuda context:1 launch sleep_ms:5
	equal "at 10 us" "$front $sm" "$(roles)"
	rm -rf "$recording"
	ROOFLINE_SAMPLE=10us ROOFLINE_SAMPLE_METRICS=tensor,sm record cuda context:1 launch sleep_ms:5
	equal "named" "$front $sm tensor_cycles" "$(roles)"
	equal windows continuous "$(property sample_windows)"
}

@test "without end and undisturbed nothing is lost, and spans touch" {
	export ROOFLINE_SAMPLE=1ms # an image has room for a second, whatever else the machine does
	record cuda context:1 $begin launch:count=100,run_us=500,pause_us=10000
	warned 0
	equal lost 0 "$(loss lost_sample_ns)"
	at_least spans 3 "$(rows sampled_spans)"
	equal "spans that touch" "$(rows sampled_spans)" "$(tables sampled_spans | xargs tail -n +2 |
		awk -F, '!end || $2 == end { n++ } { end = $3 } END { print n }')"
	at_least kernels 100 "$(sampled dispatches)"
}

@test "windows of a given length begin with the first launch and then in every period" {
	ROOFLINE_SAMPLE=100us ROOFLINE_SAMPLE_WINDOWS=20ms/150ms record cuda context:1 sleep_ms:60 \
		launch:count=700,run_us=100,pause_us=1000
	warned 0
	equal windows "20000000 ns at most" "$(property sample_windows)"
	sampled starts >starts
	at_least "the first window" 60000000 "$(head -1 starts)"
	at_least windows 3 "$(wc -l <starts)"
	awk 'NR > 1 && $1 - last < 145e6 { print "windows begin too early:", last, $1; exit 1 } { last = $1 }' starts
	sampled spans | head -n -1 | awk '$2 < 18e6 { print "a window is too short:", $0; exit 1 }'
	equal lost 0 "$(loss lost_sample_ns)"
}

# What begins a window takes the callbacks away.  A kernel that the device launches shows that it is sampled.
@test "windows begin with the sixteenth copy where nothing was launched before, and not with the fifteenth" {
	local begun="launch_callbacks:no copy_callbacks:no $started device_launch sleep_ms:30"
	export ROOFLINE_SAMPLE=100us ROOFLINE_SAMPLE_WINDOWS=20ms/10s
	record cuda context:1 driver_copy:15 launch_callbacks:yes copy_callbacks:yes sleep_ms:60 device_launch \
		driver_copy $begun
	warned 0
	equal "kernels while sampling" 1 "$(truth .)"
	at_least "the first window" 60000000 "$(sampled starts | head -1)"
	rm -rf "$recording" truth calls
	record cuda context:1 driver_copy:15 sleep_ms:60 device_launch:count=2 launch $begun
	warned 0
	equal "kernels while sampling, after 15 copies and a launch" 2 "$(truth .)"
	at_least "the first window" 60000000 "$(sampled starts | head -1)"
	rm -rf "$recording" truth calls
	record cuda context:1 driver_copy:15 sleep_ms:20 device_launch
	warned 0
	nothing_sampled
}

@test "without end sampling begins with the first copy" {
	export ROOFLINE_SAMPLE=1ms ROOFLINE_SAMPLE_WINDOWS=continuous
	record cuda context:1 copy_callbacks:yes device_launch driver_copy launch_callbacks:no copy_callbacks:no \
		$started device_launch sleep_ms:30
	warned 0
	equal "kernels while sampling" 1 "$(truth .)"
	at_least spans 1 "$(rows sampled_spans)"
}

@test "windows follow each other as soon as the last one has been decoded" {
	ROOFLINE_SAMPLE=2us ROOFLINE_SAMPLE_BUFFER_MB=16 record cuda context:1 \
		launch:count=300,run_us=100,pause_us=1000
	warned 0
	at_least windows 3 "$(rows sampled_spans)"
	[[ "$(property sample_windows)" == *"ns at most" ]]
	at_least kernels 3 "$(sampled dispatches)"
	equal lost 0 "$(loss lost_sample_ns)"
}

@test "a window that would not fit into memory is cut, and that is reported" {
	export ROOFLINE_SAMPLE=1us ROOFLINE_SAMPLE_METRICS=sm ROOFLINE_SAMPLE_BUFFER_MB=8
	ROOFLINE_SAMPLE_WINDOWS=1s/1s record cuda context:1 launch $started sleep_ms:25
	warned 1 'GPU 0: a window of 1000.0 ms would take 5.7 GiB; windows are 5.5 ms. Choose fewer metrics, a longer'
	equal windows "5480000 ns at most" "$(property sample_windows)"
	at_least samples 1 "$(rows samples)"
}

@test "a period that everything would not keep leaves out what cannot be decoded" {
	ROOFLINE_SAMPLE=1us ROOFLINE_SAMPLE_WINDOWS=10ms/100ms record cuda context:1 launch sleep_ms:20
	warned 0
	equal metrics "$front $sm" "$(roles | sed 's/ dram.*//')"
	[[ "$(roles)" != *l2_sectors* ]]
}

@test "only what lies within --delay and --duration is recorded" {
	ROOFLINE_DELAY_S=0.5 ROOFLINE_DURATION_S=1 record cuda context:1 \
		launch:count=170,run_us=100,pause_us=10000
	warned 0
	at_least "the first sample" 500000000 "$(sampled starts | head -1)"
	at_most "the last" 1500020000 "$(sampled ends | tail -1)"
	at_least kernels 1 "$(sampled dispatches)"
}

# ---- in NVTX ranges ----

# A window is at most 180 ms, and goes on for 45 after its range; of buffer_mb four times as long.
in_ranges() {
	export ROOFLINE_SAMPLE=100us ROOFLINE_SAMPLE_BUFFER_MB=${buffer_mb-40} ROOFLINE_SAMPLE_RANGE='^train$'
	record cuda context:1 "$@"
	warned 0
}

@test "a window begins with its NVTX range and ends soon after it" {
	in_ranges device_launch push:other device_launch pop push:train $started device_launch:count=3,name=wanted pop \
		$stopped device_launch:count=2
	equal "while sampling" 3 "$(truth .)"
	equal wanted 3 "$(truth wanted)"
	equal windows 1 "$(rows sampled_spans)"
	equal kernels 3 "$(sampled dispatches)"
}

@test "each range of that name has its window, also those of domains and of nvtxRangeStart" {
	in_ranges push:train $started device_launch:name=wanted pop $stopped \
		push_domain:train ${started/2/3} device_launch:name=wanted pop ${stopped/2/3} \
		range_start:train ${started/2/4} device_launch:name=wanted range_end:1 ${stopped/2/4} device_launch
	equal windows 3 "$(rows sampled_spans)"
	equal "while sampling" 3 "$(truth .)"
	equal wanted 3 "$(truth wanted)"
	equal kernels 3 "$(sampled dispatches)"
}

@test "ranges with a registered string match by what was registered, also before CUDA starts" {
	export ROOFLINE_SAMPLE=100us ROOFLINE_SAMPLE_BUFFER_MB=40 ROOFLINE_SAMPLE_RANGE='^train$'
	record nvtx register:train cuda context:1 push_registered $started device_launch:name=wanted pop \
		$stopped device_launch
	warned 0
	equal windows 1 "$(rows sampled_spans)"
	equal wanted 1 "$(truth wanted)"
}

@test "what is pushed inside, or by other threads, does not end a range" {
	buffer_mb=160 in_ranges push:train push:train push:x pop pop range_in_thread:train range_in_thread:x range_end:7 \
		sleep_ms:240 device_launch:name=wanted pop $stopped device_launch
	equal windows 1 "$(rows sampled_spans)"
	equal "while sampling" 1 "$(truth .)"
	equal wanted 1 "$(truth wanted)"
}

@test "a range that began before its device was used is sampled from there" {
	export ROOFLINE_SAMPLE=100us ROOFLINE_SAMPLE_RANGE=train
	record cuda push:training device_launch context:1 $started device_launch:name=wanted pop
	warned 0
	equal wanted 1 "$(truth wanted)"
	equal "while sampling" 1 "$(truth .)"
	equal kernels 1 "$(sampled dispatches)"
}

@test "without such a range nothing is sampled" {
	export ROOFLINE_SAMPLE=100us ROOFLINE_SAMPLE_BUFFER_MB=40 ROOFLINE_SAMPLE_RANGE='^train$'
	record cuda context:1 launch:count=5 push:trains device_launch pop range_start:no device_launch range_end:1 \
		register:no push_registered pop
	warned 1 'no samples: no NVTX range has a name that matches .\^train\$. \(--sample-range\)'
	nothing_sampled
	equal kernels 5 "$(rows kernels)"
	equal "started but for the trial" 0 $(($(calls_of cuptiPmSamplingStart) - 1))
	[[ "$(property sample_windows)" == *", in NVTX ranges"* ]]
}

# ---- what goes wrong ----

@test "a buffer that overflowed is a loss, and sampling goes on" {
	export ROOFLINE_SAMPLE=200us ROOFLINE_SAMPLE_WINDOWS=continuous # a busy machine decodes some samples in 50 us
	MOCK_COUNTERS=cuptiPmSamplingDecodeData=8@4-4 record cuda context:1 \
		launch:count=600,run_us=100,pause_us=1000 exit:3
	warned 1 'GPU 0: decoding was delayed until its buffer overflowed; what was lost is counted'
	ended_with 3
	equal kernels 600 "$(rows kernels)"
	at_least lost 10000000 "$(loss lost_sample_ns)" # a batch takes 50 ms
	at_most lost 5000000000 "$(loss lost_sample_ns)"
	at_least "spans before and after" 5 "$(rows sampled_spans)"
	at_least sessions 2 "$(calls_of cuptiPmSamplingEnable)"
	at_most "kernels in samples" 599 "$(sampled dispatches)"
	at_least "kernels in samples" 10 "$(sampled dispatches)"
	equal problem "" "$(property sample_problem)"
	equal "interval as ever" 200000 "$(property sample_used_ns)"
}

# intervals: that were used, in ns, in the order of time
intervals() {
	tables sampled_spans | xargs tail -q -n +2 | sort -t, -k2n | cut -d, -f4 | uniq | xargs
}

# holes [FROM_NS]: how many there are between spans of that interval
holes() {
	tables sampled_spans | xargs tail -q -n +2 | sort -t, -k2n |
		awk -F, -v of="$1" '$4 == of { holes += end && $2 != end; end = $3 } END { print holes + 0 }'
}

# slow: without end each 50 us, which no machine that takes 60 us to decode a sample keeps up with
slow() {
	ROOFLINE_SAMPLE=50us ROOFLINE_SAMPLE_METRICS=sm MOCK_DECODE_NS=60000 record cuda context:1 \
		$begin launch:count=300,run_us=100,pause_us=1000
}

@test "where decoding is too slow there are fewer samples without end, and none is lost" {
	ROOFLINE_SAMPLE_WINDOWS=continuous slow
	warned 1 'GPU 0: decoding a sample takes up to [0-9.]+ us here, too long for an interval of 50 us: it is [0-9.]+ us, continuously. For 50 us choose fewer metrics, or windows'
	equal asked 50000 "$(property sample_ns)"
	at_least used 75000 "$(property sample_used_ns)"
	at_most used 200000 "$(property sample_used_ns)"
	grep -q "it is $(property sample_used_ns | sed 's/000$//') us" with.err
	equal "of spans" "$(property sample_used_ns)" "$(intervals)"
	equal lost 0 "$(loss lost_sample_ns)"
	equal holes 0 "$(holes "$(property sample_used_ns)")"
	at_least "decoding of a sample" 60000 "$(property sample_decode_ns)"
	at_least kernels 295 "$(sampled dispatches)"
	equal "sessions: it was tried first" 2 "$(calls_of cuptiPmSamplingEnable)"
}

@test "auto takes windows where decoding is too slow here, whatever could be expected" {
	slow
	warned 0
	[[ "$(property sample_windows)" == *"ns at most" ]]
	equal "of spans" 50000 "$(intervals)"
	equal lost 0 "$(loss lost_sample_ns)"
	rm -rf "$recording" truth
	ROOFLINE_SAMPLE=50us ROOFLINE_SAMPLE_METRICS=sm record cuda context:1 launch sleep_ms:5
	equal "where it is not" continuous "$(property sample_windows)"
}

@test "decoding that becomes too slow makes samples fewer, once, and what was missed is a loss" {
	export ROOFLINE_SAMPLE=100us ROOFLINE_SAMPLE_WINDOWS=continuous
	MOCK_DECODE_NS=120000@5 record cuda context:1 $begin launch:count=900,run_us=100,pause_us=2000
	warned 1 'GPU 0: decoding a sample takes up to [0-9.]+ us here, too long for an interval of 100 us: .*counted as lost'
	equal "first as asked" 100000 "$(intervals | cut -d' ' -f1)"
	at_least "then longer" 150000 "$(intervals | cut -d' ' -f2)"
	equal "once" 2 "$(intervals | wc -w)"
	equal "last" "$(property sample_used_ns)" "$(intervals | cut -d' ' -f2)"
	at_most "lost while it was opened" 300000000 "$(loss lost_sample_ns)"
	at_least "lost while it was opened" 1 "$(loss lost_sample_ns)"
	equal "holes before" 0 "$(holes 100000)"
	equal "holes after" 0 "$(holes "$(property sample_used_ns)")"
	equal sessions 2 "$(calls_of cuptiPmSamplingEnable)"
	sampled dispatches
}

@test "decoding that is far too slow makes samples fewer as soon as some are lost" {
	export ROOFLINE_SAMPLE=100us ROOFLINE_SAMPLE_WINDOWS=continuous
	MOCK_DECODE_NS=300000@3 record cuda context:1 $begin launch:count=2000,run_us=100,pause_us=2000
	warned 1 'GPU 0: decoding a sample takes up to 3[0-9.e+]+ us here, too long for an interval of 100 us'
	equal "of two intervals" 2 "$(intervals | wc -w)"
	at_least "then" 375000 "$(property sample_used_ns)"
	at_least lost 100000000 "$(loss lost_sample_ns)"
	equal "holes after" 0 "$(holes "$(property sample_used_ns)")"
	sampled dispatches
}

@test "a buffer that overflows while decoding is too slow is not tried again at the same interval" {
	export ROOFLINE_SAMPLE=100us ROOFLINE_SAMPLE_WINDOWS=continuous
	MOCK_DECODE_NS=98000@2 MOCK_COUNTERS=cuptiPmSamplingDecodeData=8@5-5 record cuda context:1 $begin \
		launch:count=300,run_us=100,pause_us=2000
	warned 1 'too long for an interval of 100 us: .*what was lost until now is counted'
	at_least "then longer" 120000 "$(intervals | cut -d' ' -f2)"
	equal sessions 2 "$(calls_of cuptiPmSamplingEnable)"
}

# held_up SECONDS: the recording of a program that was stopped three times for so long
held_up() {
	local pid
	export ROOFLINE_SAMPLE=100us ROOFLINE_SAMPLE_WINDOWS=continuous
	env CUDA_INJECTION64_PATH="$collector" "$app" cuda context:1 \
		launch:count=600,run_us=300,pause_us=1500 >out 2>err 3>&- &
	pid=$!
	for _ in 1 2 3; do
		sleep 0.3
		kill -STOP "$pid"
		sleep "$1"
		kill -CONT "$pid"
	done
	wait "$pid"
	equal complaints 0 "$(grep -c rooflinecollector err || true)"
}

# undisturbed: skips what a test cannot see where decoding is late
undisturbed() {
	[[ $BUILD != */sanitized ]] || skip "sanitizers slow decoding: samples may be lost beside other work"
}

# An image holds 102 ms, and one in reserve 250.
@test "a program that is held up for 50 or 150 ms loses no sample of them" {
	undisturbed
	held_up 0.05
	equal lost 0 "$(loss lost_sample_ns)"
	equal holes 0 "$(tables sampled_spans | xargs tail -q -n +2 | sort -t, -k2n |
		awk -F, 'NR > 1 && $2 != end { holes++ } { end = $3 } END { print holes + 0 }')"
	at_least samples 100 "$(rows samples)"
	rm -rf "$recording"
	held_up 0.15
	equal lost 0 "$(loss lost_sample_ns)"
	at_least "decodings into an image in reserve" 3 "$(property sample_reserve_decodes)"
}

@test "decoding that takes two fifths of the time makes batches no longer" {
	undisturbed
	export ROOFLINE_SAMPLE=100us ROOFLINE_SAMPLE_WINDOWS=continuous
	# 256 samples in 25.6 ms, of which decoding takes 10; a pause after it would make batches of 35 ms and more
	MOCK_DECODE_NS=40000 record cuda context:1 launch:count=700,run_us=100,pause_us=2000
	warned 0
	at_least "longest decoding" 9000000 "$(property sample_decode_max_ns)"
	at_least decodings 30 "$(property sample_decodes)"
	equal lost 0 "$(loss lost_sample_ns)"
}

@test "a recording tells how late decoding was, and what it lost by that" {
	held_up 0.4
	at_least lost 300000000 "$(loss lost_sample_ns)" # thrice 150 ms, by and large
	at_least "full images" 3 "$(property sample_full_images)"
	equal "room of an image" 2500 "$(property sample_image_samples)"
	equal buffer 116795000 "$(property sample_buffer_bytes)" # two of 23,359 bytes a sample
	at_least "longest time between decodings" 390000000 "$(property sample_decode_gap_max_ns)"
	at_most "longest time between decodings" 5000000000 "$(property sample_decode_gap_max_ns)"
	at_most "wait for an image" "$(property sample_decode_gap_max_ns)" "$(property sample_image_wait_max_ns)"
	at_least "longest decoding" 1 "$(property sample_decode_max_ns)"
	at_least decodings $((3 + $(property sample_full_images))) "$(property sample_decodes)"
}

@test "images in reserve that cannot be had are done without" {
	export ROOFLINE_SAMPLE=100us ROOFLINE_SAMPLE_WINDOWS=continuous ROOFLINE_SAMPLE_METRICS=front
	MOCK_IMAGE_SAMPLES=2000 record cuda context:1 $begin launch:count=300,run_us=100,pause_us=1000
	warned 0
	equal problem "" "$(property sample_problem)"
	equal "decodings into them" 0 "$(property sample_reserve_decodes)"
	at_least kernels 200 "$(sampled dispatches)"
	rm -rf "$recording" truth
	# the others are smaller, and that of the trial smaller still
	MOCK_IMAGE_SAMPLES=800 record cuda context:1 launch:count=3
	[ -n "$(property sample_problem)" ]
}

@test "what is lost before the first samples of all is a loss" {
	export ROOFLINE_SAMPLE_WINDOWS=continuous
	MOCK_COUNTERS=cuptiPmSamplingDecodeData=8@2-2 record cuda context:1 launch:count=100,pause_us=1000 \
		"until_lines:2:recording/*/sampled_spans.csv"
	at_least lost 10000000 "$(loss lost_sample_ns)"
	at_least "spans" 1 "$(rows sampled_spans)"
	rm -rf "$recording" truth
	# but for the trial before them
	ROOFLINE_SAMPLE=1ms MOCK_COUNTERS=cuptiPmSamplingDecodeData=8@1-1 record cuda context:1 launch:count=400,pause_us=1000
	warned 0
	equal lost 0 "$(loss lost_sample_ns)"
	at_least "spans" 1 "$(rows sampled_spans)"
	equal sessions 4 "$(calls_of cuptiPmSamplingEnable)" # of both
}

@test "a window whose buffer overflowed is a loss, and the next one is sampled" {
	export ROOFLINE_SAMPLE_WINDOWS=20ms/60ms
	MOCK_COUNTERS=cuptiPmSamplingDecodeData=8@2-2 record cuda context:1 launch:count=300,pause_us=1000
	warned 1 'GPU 0: decoding of a window began so late that its buffer overflowed; what was lost is counted'
	at_least lost 20000000 "$(loss lost_sample_ns)"
	at_least windows 2 "$(rows sampled_spans)"
	sampled dispatches
}

@test "after overflow upon overflow it gives up, and says so" {
	export ROOFLINE_SAMPLE_WINDOWS=continuous
	MOCK_COUNTERS=cuptiPmSamplingDecodeData=8@2 record cuda context:1 launch "until_lines:1:with.err:no samples" sleep_ms:1000 launch exit:4
	warned 3 'no samples: its buffer overflowed again and again: CUPTI_ERROR_OUT_OF_MEMORY'
	warned 3 'GPU 0: decoding was delayed until its buffer overflowed'
	warned 3 'GPU 0: decoding is delayed repeatedly: from now on the interval is 40 us'
	equal sessions 7 "$(calls_of cuptiPmSamplingEnable)" # and six more
	ended_with 4
	equal kernels 2 "$(rows kernels)"
	[[ "$(property sample_problem)" == "its buffer overflowed again and again"* ]]
	at_least lost 1000000000 "$(loss lost_sample_ns)"
	sealed
}

@test "without permission the trace is recorded, and one line says what helps" {
	MOCK_COUNTERS=cuptiPmSamplingEnable=35 record cuda context:1 context:2 launch:count=5 exit:6
	warned 1 'no samples: this GPU cannot be sampled: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES \(35\): .*NVreg_RestrictProfilingToAdminUsers=0; the trace is still recorded'
	ended_with 6
	equal kernels 5 "$(rows kernels)"
	property sample_problem | grep -q 'CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35)'
	nothing_sampled
	sealed
}

@test "whatever fails, at whichever call, the program and the trace go on" {
	local function call
	for function in ProfilerInitialize DeviceGetChipName ProfilerHostInitialize ProfilerHostConfigAddMetrics \
		ProfilerHostGetConfigImage PmSampling{GetCounterAvailability,Enable,SetConfig,Start,GetCounterDataSize} \
		PmSampling{CounterDataImageInitialize,DecodeData,GetCounterDataInfo}; do
		for call in 1 2 4; do
			rm -rf "$recording" truth
			MOCK_COUNTERS=cupti$function=999@$call ROOFLINE_SAMPLE_WINDOWS=5ms/10ms record cuda context:1 \
				launch:count=40,pause_us=1000 exit:6
			ended_with 6
			equal "kernels when $function fails" 40 "$(rows kernels)"
			equal seals 1 "$(property sealed_ns | wc -l)"
			at_most "complaints" 1 "$(grep -c ^rooflinecollector with.err)"
			[ "$call" -gt 1 ] || [ -n "$(property sample_problem)" ]
			sampled dispatches
		done
	done
}

@test "functions that only evaluate may fail: there are fewer samples" {
	local function
	for function in PmSamplingCounterDataGetSampleInfo ProfilerHostEvaluateToGpuValues PmSamplingStop; do
		rm -rf "$recording" truth
		MOCK_COUNTERS=cupti$function=999@50 record cuda context:1 launch:count=40,pause_us=1000 exit:6
		ended_with 6
		equal kernels 40 "$(rows kernels)"
		sealed
	done
}

@test "a CUPTI without sampling is reported, and the trace is recorded" {
	ROOFLINE_CUPTI="$BUILD/tests/collector/libcupti_nosampling.so" record cuda context:1 launch exit:3
	warned 1 'no samples: this CUPTI lacks PM sampling, which 12.6 and newer have; the trace is still recorded'
	equal kernels 1 "$(rows kernels)"
	nothing_sampled
}

@test "counters of launches use the same hardware: with them there are no samples" {
	mkdir driver
	ln -s "$BUILD/tests/collector/libmock_cuda.so" driver/libcuda.so.1
	export ROOFLINE_COUNTERS=roofline LD_LIBRARY_PATH="$PWD/driver"
	record driver cuda context:1 launch:count=9
	warned 1 'no samples: --sample and --counters use the same hardware counters; make two recordings'
	at_least counted 1 "$(rows counted)"
	equal opened 0 "$(calls_of cuptiPmSamplingEnable)"
	nothing_sampled
}

@test "what the environment says wrong is reported once and takes its default" {
	local variable value wanted
	while read -r variable value wanted; do
		rm -rf "$recording"
		export "ROOFLINE_SAMPLE$variable=$value"
		record cuda context:1 launch sleep_ms:5
		warned 1 "ROOFLINE_SAMPLE$variable='$value' is not "
		equal "windows of $variable $value" "$wanted" "$(property sample_windows | sed 's/[0-9]* ns at most/windows/')"
		unset "ROOFLINE_SAMPLE$variable"
		export ROOFLINE_SAMPLE=20us
	done <<-END
		_METRICS sm,nonsense,worse windows
		_WINDOWS sometimes windows
		_WINDOWS 2s/1s windows
		_WINDOWS 40us/1s windows
		_BUFFER_MB many windows
		_BUFFER_MB -1 windows
	END
	for value in 1 0us 100ns 2s nonsense 1e300s; do
		rm -rf "$recording"
		ROOFLINE_SAMPLE=$value record cuda context:1 launch
		warned 1 "ROOFLINE_SAMPLE='$value' is not a time from 250ns to 1s, such as 1us; nothing is sampled"
		nothing_sampled
	done
	rm -rf "$recording"
	ROOFLINE_SAMPLE_RANGE='(' record cuda context:1 launch
	warned 1 "no samples: '\(' is no extended regular expression"
	nothing_sampled
}

@test "extremes of length, period, interval and memory are survived" {
	local setting
	for setting in "ROOFLINE_SAMPLE=1s" "ROOFLINE_SAMPLE=1s ROOFLINE_SAMPLE_WINDOWS=1000000000s/1000000000s" \
		"ROOFLINE_SAMPLE=250ns ROOFLINE_SAMPLE_WINDOWS=continuous ROOFLINE_SAMPLE_BUFFER_MB=0" \
		"ROOFLINE_SAMPLE=1ms ROOFLINE_SAMPLE_WINDOWS=1000000000s/1000000000s ROOFLINE_SAMPLE_BUFFER_MB=1" \
		"ROOFLINE_SAMPLE=250ns ROOFLINE_SAMPLE_WINDOWS=1us/1us ROOFLINE_SAMPLE_BUFFER_MB=0"; do
		rm -rf "$recording"
		capture bare "$app" cuda context:1 launch:count=20,pause_us=1000 exit:2
		capture with env $setting CUDA_INJECTION64_PATH="$collector" "$app" cuda context:1 \
			launch:count=20,pause_us=1000 exit:2
		same_as_bare
		equal "kernels with $setting" 20 "$(rows kernels)"
		sealed
		sampled spans
	done
}

# ---- endings ----

# soon COMMAND...: it is over long before the end of a window of 30 s
soon() {
	local start_s=$SECONDS
	"$@"
	at_most "seconds" 20 $((SECONDS - start_s))
}

@test "a program that ends in the middle of a long window has its samples, and does not wait for its end" {
	export ROOFLINE_SAMPLE=1ms ROOFLINE_SAMPLE_WINDOWS=30s/1000s
	for step in print:return exit:3 quick_exit:5 exit_in_thread:4 exit_in_handler:15; do
		rm -rf "$recording" truth calls
		soon record cuda context:1 $begin launch:count=30,run_us=100,pause_us=1000 sleep_ms:10 $step
		warned 0
		sealed
		at_least "kernels with $step" 29 "$(sampled dispatches)" # but for what ran in the last
		equal windows 1 "$(rows sampled_spans)"
	done
}

@test "_exit under LD_PRELOAD loses no sample" {
	ROOFLINE_SAMPLE=1ms record_preloaded cuda context:1 $begin launch:count=30,run_us=100,pause_us=1000 sleep_ms:10 _exit:4
	warned 0
	sealed
	at_least kernels 30 "$(sampled dispatches)"
}

@test "exit while other threads launch, begin ranges and make contexts is sealed" {
	for step in exit:3 exit_in_thread:3; do
		rm -rf "$recording"
		soon record cuda context:1 background_launch:3 sleep_ms:30 context:2 $step
		sealed
		ended_with 3
	done
}

@test "a program that never launches ends as ever, with nothing sampled" {
	soon record cuda context:1 context:2 until_lines:2:calls:cuptiPmSamplingEnable sleep_ms:30 exit:3
	warned 0
	nothing_sampled
	sealed
	equal sessions 2 "$(calls_of cuptiPmSamplingEnable)"
}

# CUPTI's libraries have made something at first use that exit handlers take away again, 0.3 s long, in which
# the mock aborts at any call.
@test "exit while a session is opened again calls CUPTI no more, and is the program's own" {
	export ROOFLINE_SAMPLE=1ms ROOFLINE_SAMPLE_WINDOWS=continuous MOCK_COUNTERS=cuptiPmSamplingDecodeData=8@4-4 # a busy machine decodes some in 200 us
	export MOCK_ENABLE_MS=1200@2 MOCK_TEARDOWN_MS=300
	for step in print:return exit:3 quick_exit:5 exit_in_thread:4 exit_in_handler:15; do
		rm -rf "$recording" truth calls
		soon record cuda context:1 launch:count=50,run_us=100,pause_us=1000 until_lines:2:calls:cuptiPmSamplingEnable $step
		warned 1 'its buffer overflowed'
		sealed
		equal kernels 50 "$(rows kernels)"
		equal sessions 2 "$(calls_of cuptiPmSamplingEnable)"
		equal "configured" 1 "$(calls_of cuptiPmSamplingSetConfig)"
		at_least lost 10000000 "$(loss lost_sample_ns)"
	done
}

@test "exit at any moment of opening, sampling and opening again is the program's own" {
	local ms
	export ROOFLINE_SAMPLE_WINDOWS=continuous MOCK_ENABLE_MS=60@2 MOCK_TEARDOWN_MS=100
	for ms in 1 5 12 20 30 45 60 75 90 105 120 140; do
		rm -rf "$recording" truth
		MOCK_COUNTERS=cuptiPmSamplingDecodeData=8@3-3 record cuda context:1 launch sleep_ms:$ms exit:3
		ended_with 3
		sealed
	done
}

@test "samples that take too long to be written at the end are lost, and the end is the program's own" {
	export ROOFLINE_SAMPLE=100us ROOFLINE_SAMPLE_WINDOWS=continuous MOCK_TEARDOWN_MS=300
	MOCK_EVALUATE_US=40000 record cuda context:1 launch:count=100,run_us=100,pause_us=1000 exit:3
	warned 1 'the last samples were not written within 6 s; they are lost, and counted'
	ended_with 3
	sealed
	at_least lost 10000000 "$(loss lost_sample_ns)"
	equal kernels 100 "$(rows kernels)"
}

@test "a CUPTI that does not return is not waited for without end" {
	export ROOFLINE_SAMPLE_WINDOWS=continuous MOCK_COUNTERS=cuptiPmSamplingDecodeData=8@4-4
	MOCK_ENABLE_MS=60000@2 record cuda context:1 launch:count=300,run_us=100,pause_us=1000 exit:3
	ended_with 3
	sealed
	equal kernels 300 "$(rows kernels)"
	at_least lost 1000000000 "$(loss lost_sample_ns)"
}

@test "a program is ended by SIGTERM, SIGINT, SIGHUP and SIGQUIT while a GPU is opened for its samples" {
	export MOCK_ENABLE_MS=60000
	for signal in TERM INT HUP QUIT; do
		CUDA_INJECTION64_PATH=$collector capture with timeout -s $signal -k 10 1 "$app" cuda context:1
		ended_with 124 # not 137: it had to be killed
	done
}

@test "children that fork neither hang nor sample nor write" {
	record cuda context:1 launch fork_run:launch fork_run:device_launch fork_run:context:2 fork:20 \
		launch:count=10,pause_us=1000
	warned 0
	readable
	equal seals 1 "$(property sealed_ns | wc -l)"
	rm truth # that of the children too
	equal devices 0 "$(sampled spans | cut -d' ' -f1 | sort -u)"
	equal sessions 1 "$(calls_of cuptiPmSamplingEnable)"
}

@test "killed with SIGKILL at random moments, what was written is whole" {
	local started=()
	export ROOFLINE_SAMPLE=200us # six programs at once decode
	for run in 1 2 3 4 5 6; do
		CUDA_INJECTION64_PATH=$collector ROOFLINE_OUTPUT=$recording/$run timeout -s KILL "$((RANDOM % 2 + 1)).$((RANDOM % 90 + 10))" \
			"$app" cuda context:1 launch_forever:run_us=100 >"$run.out" 2>"$run.err" 3>&- &
		started+=($!)
	done
	{ wait "${started[@]}" || true; } 2>/dev/null
	cat ./*.err
	equal complaints 0 "$(cat ./*.err | grep -c rooflinecollector || true)"
	cut_off
	readable 6
	at_least samples 100 "$(rows samples)"
	at_least spans 3 "$(rows sampled_spans)"
}

@test "three seconds of samples take no more memory than one" {
	[ -z "$runtimes" ] || skip "ASan keeps what is freed"
	local pid first last
	export ROOFLINE_SAMPLE=100us
	unset MOCK_SAMPLED_FILE MOCK_CALLS
	env CUDA_INJECTION64_PATH="$collector" "$app" cuda context:1 \
		launch:count=2000,run_us=300,pause_us=1500 >out 2>err 3>&- &
	pid=$!
	sleep 1.2
	first=$(awk '/VmHWM/ { print $2 }' "/proc/$pid/status")
	while kill -0 "$pid" 2>/dev/null && grep -q VmHWM "/proc/$pid/status" 2>/dev/null; do
		last=$(awk '/VmHWM/ { print $2 }' "/proc/$pid/status" 2>/dev/null || echo "$last")
		sleep 0.1
	done
	wait "$pid"
	equal complaints 0 "$(grep -c rooflinecollector err || true)"
	at_least samples 5000 "$(rows samples)"
	at_most "KiB more" 6144 $((last - first))
}

# ---- record ----

@test "record passes on what is to be sampled" {
	unset ROOFLINE_SAMPLE
	"$ROOFLINECTL" record -o "$recording" --sample=2us --sample-metrics=sm,dram --sample-windows=10ms/20ms -- \
		"$app" cuda context:1 launch sleep_ms:5 >out 2>err
	equal interval 2000 "$(property sample_ns)"
	equal metrics "$front $sm dram_read_bytes dram_write_bytes" "$(roles)"
	equal windows "10000000 ns at most" "$(property sample_windows)"
	rm -rf "$recording"
	"$ROOFLINECTL" record -o "$recording" --sample-range=train -- "$app" cuda context:1 push:train launch pop >out 2>err
	equal "interval by default" 1000 "$(property sample_ns)"
	[[ "$(property sample_windows)" == *", in NVTX ranges"* ]]
}

@test "record refuses what cannot be sampled" {
	unset ROOFLINE_SAMPLE
	while read -r wrong; do
		run "$ROOFLINECTL" record $wrong -- "$app"
		equal "exit code of $wrong" 2 "$status"
	done <<-END
		--sample=100ns
		--sample=2s
		--sample=fast
		--sample-metrics=sm,nonsense
		--sample-metrics=
		--sample-windows=2s/1s
		--sample-windows=always
		--sample-range=(
		--sample --counters
		--sample-range=x --sample-windows=1s/2s
	END
	wrote_nothing
}
