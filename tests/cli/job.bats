#!/usr/bin/env bats
# What report says of several ranks as one job, against jobs that tests/tools/make_job.py built: its figures are known.

load common

setup() {
	cd "$BATS_TEST_TMPDIR"
	export XDG_DATA_HOME=$BATS_TEST_TMPDIR/data # not with what this user measured
}

# built OPTION...: a job, and its report as JSON
built() {
	rm -rf job
	python3 "$root/tests/tools/make_job.py" job --steps 20 "$@"
	"$ROOFLINECTL" report --format json -s job,collectives,transfers job >report.json
}

# as_built OPTION...: all figures are within 5% of what was built
as_built() {
	built "$@"
	run -0 python3 "$root/tests/tools/make_job.py" job --check <report.json
	[[ "$output" == *" ranks as they were built" ]]
}

# says SECTION TEXT: whatever the lines
says() {
	run -0 --separate-stderr "$ROOFLINECTL" report job -s "$1"
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"$2"* ]]
}

@test "exposed communication, waits, skew and the critical path of equal ranks are as built" {
	as_built --ranks 3 --overlap 150000
}

@test "a rank that computes longer is late because of its kernels" {
	as_built --delay 2:kernels:300000
	says job "late rank 2 comes last in 20 of 20 collectives"
	says job "its kernels took longer (100.0%)"
	says job "computation of rank 2"
	says verdict "waiting for rank 2 takes"
}

@test "ranks on several hosts are as built, by one clock: how far the others are ahead is told" {
	as_built --ranks 4 --hosts 2 --ahead 7300000 --delay 2:kernels:300000 --overlap 50000
	says job "late rank 2 comes last in 20 of 20 collectives"
	says job "clocks host1's is 7.30 ms ahead of host's by 20 collectives, off by 0 ns at most in half of them"
	as_built --ranks 6 --hosts 3 --ahead -900000000 --delay 1:host:400000
	says job "host1's is 900 ms behind host's"
	says job "host2's is 1.80 s behind host's"
	"$ROOFLINECTL" report job -s processes -f csv | python3 -c 'import csv, sys
found = {row["host"]: row["clock_ahead_ns"] for row in csv.DictReader(sys.stdin)}
assert found == {"host": "", "host1": "-900000000", "host2": "-1800000000"}, found'
	# also of a part, and of a packed recording
	says job "rank 1 comes last"
	run -0 "$ROOFLINECTL" report job --from 5ms --to 9ms -s job
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *" rank 5 4.00 ms "*"rank 1 comes last"* ]]
	"$ROOFLINECTL" pack job -o job.roofline
	run -0 "$ROOFLINECTL" report job.roofline -s job
	[[ "$output" == *"host1's is 900 ms behind host's"* ]]
}

@test "hosts without collectives in common are taken as they are, and that is said" {
	built --ranks 2 --hosts 2 --ahead 5000000 --steps 3
	says job "those of hosts that have no collectives in common are taken as they are"
}

@test "of a part of the time a rank has what lies in it" {
	built --ranks 2
	run -0 "$ROOFLINECTL" report job --from 5ms --to 9ms -s job
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *" rank 0 4.00 ms "*" path 4.00 ms"* ]]
}

@test "a rank whose host launches later, or that copies, is late because of that" {
	as_built --delay 1:host:400000:2 --overlap 100000
	says job "its host launched later (100.0%)"
	as_built --delay 3:copies:250000 --delay 1:kernels:100000:3 --overlap 150000
	says job "late rank 3 "
	says job "its copies took longer"
}

@test "what makes one rank late is told by its parts, and of several late ranks each has its own" {
	as_built --delay 2:copies:250000 --delay 2:kernels:100000 --delay 0:host:300000:4 --ranks 3
	as_built --delay 0:kernels:50000:3 --delay 1:host:90000:2 --delay 2:copies:70000 --overlap 30000
}

@test "the verdict names exposed communication where that is the most, and no rank where none is late" {
	built --compute 200000 --delay 1:host:900000
	says verdict "Verdict exposed communication, "
	says verdict "waiting for rank 1 takes"
	built --ranks 2
	says verdict "busy with kernels "
	[[ "$output" != *waiting* ]]
}

@test "a rank that was not recorded is named" {
	built --missing 2 --steps 2
	says job "problem 1 of 4 ranks is not in the recording: 2"
	[ "$("$ROOFLINECTL" report job -f csv -s job | wc -l)" -eq 4 ]
}

# damaged COMMAND...: a job of three ranks, done to the folder of one of them
damaged() {
	built --ranks 3 --nccl 4096
	(cd job/host.1001 && "$@")
}

@test "a table that is empty, gone or cut in half is named, with what that means for waits and how to get it back" {
	damaged truncate -s 0 kernels.csv
	says job "problem rank 1 has lost rows, how many is unknown: host.1001/kernels.csv:1: the first line, with the names of the columns, is missing: no figure has it, and no wait for it is seen; copy its folder again, or record again"
	says losses "1 missing_tables (tables that are empty or not there, and should be: copy the folder of the process again, or record again) first: host.1001/kernels.csv:1: the first line"
	says processes "damaged host.1001/kernels.csv:1: the first line"
	"$ROOFLINECTL" report job -f json -s processes |
		json '[len(process["damage"]) for process in j["processes"]] == [0, 1, 0]'
	damaged rm kernels.csv
	says job "host.1001/kernels.csv: it is not there, and signatures.csv describes kernels"
	says losses "1 missing_tables"
	damaged rm collectives.csv
	says job "host.1001/collectives.csv: it is not there, and all other ranks have it: figures and waits are of what is left"
	damaged truncate -s -1000 kernels.csv
	says job "rank 1 has lost rows, how many is unknown: host.1001/kernels.csv:"
	says job "the last line is cut off: its collectives could not be matched with those of other ranks, whose waits for it are in no figure; copy its folder again, or record again"
	built --ranks 3 --nccl 4096
	says losses "Lost: nothing"
	says job "all ranks"
	[[ "$output" != *problem* ]]
}

@test "a rank whose process.csv was lost is on no host of its own, and its clock stays" {
	for damage in 'truncate -s 0' rm; do
		# shellcheck disable=SC2086 # a command and its options
		damaged $damage process.csv
		says job "3 ranks on 1 host"
		[[ "$output" != *clocks* ]]
		says job "what GPU 1 of host.1001 was is not known for sure: host.1001/process.csv:"
		says job "; copy its folder again, or record again problem 1 of 3 ranks is not in the recording: 1"
		says losses "missing_tables"
	done
}

@test "a rank or a number of ranks that is none is told with its line" {
	damaged sed -i 's/^"rank","1"$/"rank","zzz"/' process.csv
	says job "host.1001/process.csv:$(grep -n '^"rank"' job/host.1001/process.csv | cut -d: -f1): rank is 'zzz', not a whole number from 0 on, and taken as unknown; correct the line, or record again"
	damaged sed -i 's/^"world_size",.*/"world_size",-4/' process.csv
	says losses "host.1001/process.csv:$(grep -n '^"world_size"' job/host.1001/process.csv | cut -d: -f1): world_size is '-4', not a whole number from 1 on"
}

@test "two runs in one folder, or a rank that stands twice, are told" {
	damaged sed -i 's/^"rank","1"$/"rank","0"/' process.csv
	says job "problem two processes have the same rank, and ran at the same time: rank 0 in host.1000 and host.1001; correct the line rank in process.csv of one of them, or record each run into a folder of its own"
	mkdir mixed
	"$ROOFLINECTL" unpack "$root/tests/recordings/ddp.one.2" -o two
	"$ROOFLINECTL" unpack "$root/tests/recordings/ddp.tiny.2" -o tiny
	cp -r two/* tiny/* mixed
	run -0 "$ROOFLINECTL" report mixed -s job
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"problem these are ranks of several runs, and no figure of all ranks means anything: some had ended before others began; rank 0 in vm."*"; keep each run in a folder of its own"* ]]
	cp -r "$BATS_TEST_TMPDIR/mixed" sizes
	sed -i 's/^world_size,2$/world_size,4/' "sizes/$(ls two | head -n 1)/process.csv"
	run -0 "$ROOFLINECTL" report sizes -s job
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"jobs of 2, 4 ranks; some had ended"* ]]
}

@test "one process with one GPU is no job" {
	run -0 "$ROOFLINECTL" report "$root/tests/recordings/streams" -s job
	[[ "$output" == *"one rank was recorded"* ]]
}

@test "collectives in different orders are named with the ranks" {
	built --swap 1 --ranks 2
	says job "in different orders: as number 19, rank 0 launches ncclDevKernel_AllReduce"
}

@test "a collective that one rank never comes to is named with the ranks" {
	built --hang 2
	says job "launches of rank 0, rank 1, rank 3 had not ended when the recording was cut off, and rank 2 had"
	says job "all ranks computation" # what ended is told of all the same
}

# sizes COLUMN...: of the collectives by size, as CSV
sizes() {
	"$ROOFLINECTL" report job -f csv -s message_sizes | python3 -c 'import csv, sys
for row in csv.DictReader(sys.stdin): print(*(row[key] for key in sys.argv[1:]))' "$@"
}

@test "collectives by size: bytes as NCCL tells them, the time without waits, and the bandwidth of the bus" {
	built --ranks 4 --nccl 1048576 --swap 4 --delay 1:kernels:300000
	[ "$(sizes operation bytes rank_count count timed_count median_ns)" = "AllReduce 1048576 4 76 76 200000
AllGather 1048576 4 4 4 200000" ]
	# an all-reduce of 4 ranks: 2 * 3 / 4 of the bytes; an all-gather: what 3 others give
	python3 -c 'import sys
a, b = (float(line) for line in sys.argv[1].split())
assert abs(a - 1.5 * 1048576 / 200e-6) < 1e-6 * a and abs(b - 3 * 1048576 / 200e-6) < 1e-6 * b, (a, b)' "$(sizes bus_byte_per_s)"
	says message_sizes "AllReduce 1.00 MiB 4 76 200 us 7.86 GB/s"
}

@test "a collective is compared with the ceiling for its number of bytes" {
	built --ranks 4 --nccl 1048576 --swap 4
	ceilings_without_links alone.json
	python3 - alone.json <<-'END'
		import json, sys
		found = json.load(open(sys.argv[1]))
		row = {"unit": "ns", "samples": 15, "sm_mhz_low": 1900, "sm_mhz_high": 1980}
		for name, bytes_, ns in (("nccl_all_reduce", 1 << 20, 50000), ("nccl_all_gather", 4 << 20, 100000)):
		    found["ceilings"].append({**row, "name": name, "parameter": bytes_, "value": ns, "low": ns, "high": ns})
		json.dump(found, open("ceilings.json", "w"))
	END
	ceilings() {
		"$ROOFLINECTL" report job --ceilings ceilings.json -f csv -s message_sizes | python3 -c 'import csv, sys
for row in csv.DictReader(sys.stdin): print(row["operation"], row["ceiling_ns"], row["ceiling_ratio"])'
	}
	# measured of two GPUs, as files that do not tell: 3/4 of the bytes go over the links of four, and 1/2 over those of two
	[ "$(ceilings)" = "AllReduce 75000 0.375
AllGather 150000 0.75" ]
	python3 - <<-'END'
		import json
		found = json.load(open("ceilings.json"))
		[row] = [row for row in found["ceilings"] if row["name"] == "nccl_all_gather"]
		found["ceilings"].append({**row, "name": "nccl_small_by_gpus", "parameter": 4})
		json.dump(found, open("ceilings.json", "w"))
	END
	[ "$(ceilings)" = "AllReduce 50000 0.25
AllGather 100000 0.5" ]
}

@test "sizes that read the same are told as whole bytes, and a chart does not say that links do more than they do" {
	run -0 --separate-stderr "$ROOFLINECTL" report "$root/tests/recordings/ddp.buckets.4" -s message_sizes
	[[ "$(tr -s ' ' <<<"$output")" == *"AllReduce 37,785,600 4 "*"AllReduce 37,761,024 4 "*"AllReduce 360 MiB 4 "*"AllGather 8 B 4 "* ]]
	needs_command gnuplot
	"$ROOFLINECTL" plot message_sizes "$root/tests/recordings/ddp.buckets.4" -o pictures
	picture=$(<pictures/roofline-message_sizes.svg)
	[[ $picture == *"most time: AllReduce of 37,785,600 B, "*"(as fast as these links were measured)"* ]]
	[[ $picture == *"AllGather of 8 B: "* && $picture == *"Above 100%: "* ]]
	[[ $picture != *" of what these links do"* && $picture != *" on 20"* ]] # rows of links may be of another day than the file
}

@test "a message larger than all that was measured takes as much longer" {
	built --ranks 2 --nccl $((1 << 30))
	python3 "$root/tests/tools/make_step.py" step --links links.json --reduce 14000,894000
	run -0 --separate-stderr "$ROOFLINECTL" report job --ceilings links.json -f csv -s message_sizes
	[ "$(python3 -c 'import csv, sys
for row in csv.DictReader(sys.stdin): print(row["ceiling_ns"])' <<<"$output")" = 3576000 ]
}

@test "plot message_sizes puts each size under the line of what was measured, or says that nobody measured it" {
	needs_command gnuplot
	built --ranks 4 --nccl 1048576 --swap 4
	python3 "$root/tests/tools/make_step.py" step --links links.json --gpus 4 --reduce 50000,50000
	run -0 --separate-stderr "$ROOFLINECTL" plot message_sizes ./job --ceilings links.json --format term
	[[ "$output" == "most time: AllReduce of 1.00 MiB, 7.86 GB/s (25.0% of what these links do)"* ]]
	[[ "$output" == *"A AllReduce of 1.00 MiB: 25.0%"*"B AllGather of 1.00 MiB"*"Lines: measured, of AllReduce of 4 GPUs"* ]]
	ceilings_without_links alone.json
	run -0 --separate-stderr "$ROOFLINECTL" plot message_sizes ./job --ceilings alone.json --format term
	[[ "$output" == *"nobody measured: rooflinectl ceilings --links"*"A AllReduce of 1.00 MiB  "* ]]
	run -0 --separate-stderr "$ROOFLINECTL" plot message_sizes "$root/tests/recordings/p2p_overlap.peer" --format term
	[[ "$output" == "most time: copies of 128 MiB, 389 GB/s"* ]]
	built --ranks 2
	run -1 --separate-stderr "$ROOFLINECTL" plot message_sizes ./job
	[[ "$stderr" == *"message_sizes: not drawn: "*"NCCL told no sizes"* ]]
	"$ROOFLINECTL" plot ./job -o pictures 2>stderr # what most recordings cannot have nobody misses
	run ! grep message_sizes stderr
}

@test "without what NCCL tells there are no sizes" {
	built --ranks 2
	says message_sizes "NCCL told no sizes"
	[ "$("$ROOFLINECTL" report job -f csv -s message_sizes | wc -l)" -eq 1 ]
}

@test "ranks of a communicator that ask for different things are named, with the bytes and the place" {
	built --ranks 3 --nccl 4096 --swap 1
	says job "the ranks of communicator 0xc0ffee differ in collective 19: rank 0 asks for AllReduce of 4.00 KiB, and rank 1 asks for AllGather of 4.00 KiB"
	[[ "$output" != *"in different orders"* ]] # told once
	built --ranks 3 --nccl 4096
	[ "$(json 'len(j["job"]["problems"])' report.json)" = 0 ]
}

@test "a rank that asks for nothing more is named, where its recording is whole" {
	built --ranks 3 --nccl 4096
	sed -i '$d' job/host.1001/collectives.csv
	says job "differ in collective 20: rank 0 asks for AllReduce of 4.00 KiB, and rank 1 asks for nothing"
	run -0 "$ROOFLINECTL" report job --from 5ms --to 9ms -s job # of a part nobody knows
	[[ "$output" != *differ* ]]
	sed -i '2,$d' job/host.1001/collectives.csv # it joined, and never asked
	says job "differ in collective 1: rank 0 asks for AllReduce of 4.00 KiB, and rank 1 asks for nothing"
}

@test "a rank that has lost a call is not compared by what it asked for" {
	for lose in 'truncate -s -5' 'sed -i 5s/,/x/' 'sed -i $d'; do # killed while it wrote; no row; a row less, as losses.csv says
		built --ranks 3 --nccl 4096
		# shellcheck disable=SC2086 # a command and its options
		$lose job/host.1001/collectives.csv
		[ "$lose" != 'sed -i $d' ] || printf 'time_ns,kind,count,detail\n1,unwritten_rows,1,disk full\n' >job/host.1001/losses.csv
		[ "$("$ROOFLINECTL" report job -f json -s job | json 'len([line for line in j["job"]["problems"] if "has lost" not in line])')" = 0 ]
	done
	built --ranks 3 --nccl 4096 --swap 1 # the others are
	truncate -s -5 job/host.1002/collectives.csv
	says job "rank 0 asks for AllReduce of 4.00 KiB, and rank 1 asks for AllGather of 4.00 KiB"
}

@test "a rank that has asked for nothing more is named from a recording that was cut off long after" {
	built --ranks 3 --nccl 4096 --hang 1 --heard 5000000000
	says job "when the recording was cut off, rank 1 had not asked for collective 20 of communicator 0xc0ffee, AllReduce of 4.00 KiB, for 5.00 s; it is what rank 0, rank 2 asked for and may wait in"
	[ "$(json 'len(j["job"]["problems"])' report.json)" = 1 ]
	for heard in "" "--heard 500000000"; do # the last calls may be missing, and a host may be behind
		# shellcheck disable=SC2086 # none, or an option with its value
		built --ranks 3 --nccl 4096 --hang 1 $heard
		says job "launches of rank 0, rank 2 had not ended"
		[[ "$output" != *differ* && "$output" != *"had not asked"* ]]
	done
}

# drawn OPTION...: the chart of the job as SVG, and as characters
drawn() {
	needs_command gnuplot
	run -0 --separate-stderr "$ROOFLINECTL" plot job ./job -o pictures "$@"
	[[ "$output" == pictures/roofline-job*.svg ]]
	picture=$(<"$output")
}

@test "plot job joins a collective's kernels on all ranks, and has the exposed share of each" {
	built --ranks 3 --delay 1:kernels:300000
	drawn
	for rank in 0 1 2; do
		share=$(python3 -c 'import json, sys; t = json.load(open("report.json"))["job"]["ranks"][int(sys.argv[1])]
print("%.1f%%" % (100 * t["exposed_ns"] / t["wall_ns"]))' $rank)
		[[ $picture == *">rank $rank<"* && $picture == *">$share<"* ]]
	done
	[[ $picture == *"longest waited for: rank 1, because its kernels took longer"* ]]
	[[ $picture == *"Lines join a collective"* ]]
	[ "$(grep -o "stroke='rgb( 26,  26,  26)'" "$output" | wc -l)" -eq 20 ] # a line of starts for each
	run -0 --separate-stderr "$ROOFLINECTL" plot job ./job --format term
	[[ "$output" == *"W of it, waiting for another rank"* ]]
	[ "$(grep -cE '^ *rank [012] .* [0-9.]+% exposed$' <<<"$output")" -eq 3 ]
}


@test "plot job of too many collectives or ranks says how many it shows, and one process has no such chart" {
	built --ranks 20 --steps 200 --delay 18:host:90000
	drawn
	[[ $picture == *"16 of 20 ranks: "* ]]
	[[ $picture == *" of 200 collectives, of those too near each other "*"--from and --to show more."* ]]
	joined=$(sed -n 's/.* ends of \([0-9]*\) of 200 .*/\1/p' <<<"$picture")
	[ "$(grep -o "stroke='rgb( 26,  26,  26)'" "$output" | wc -l)" -eq "$joined" ]
	python3 - "$output" <<-'END' # the starts are some pixels apart
		import re, sys
		lines = re.findall(r"rgb\( 26,  26,  26\)'\s+d='M([\d.]+),", open(sys.argv[1]).read())
		starts = sorted(float(x) for x in lines)
		assert len(starts) > 5 and min(b - a for a, b in zip(starts, starts[1:])) > 10, starts
	END
	[[ $picture == *">rank 18<"* && $picture != *">rank 19<"* ]]
	drawn --from 5ms --to 9ms
	[[ $picture == *"Lines join a collective"* ]]
	"$BUILD/tests/tools/make_trace" single 100
	run -1 --separate-stderr "$ROOFLINECTL" plot job single
	[[ "$stderr" == *"job: not drawn: single is no job: "*"mpirun rooflinectl record -o DIR"* ]]
}

@test "who sent to whom through the host is told where one rank alone is possible, else that it is not known" {
	for name in naive pipelined; do
		"$ROOFLINECTL" report "$root/tests/recordings/mpi_cuda.$name.four.roofline" -f json -s job,transfers >report.json
		python3 - <<-'END'
			import json
			report = json.load(open("report.json"))
			(row,) = report["transfers"]
			assert row["from"] is None and row["to"] is None and row["way"] == "through_host", row
			assert row["count"] == report["job"]["unknown_transfer_count"] >= 160, row
			assert report["job"]["critical_path_hop_count"] == 0
		END
		run -0 "$ROOFLINECTL" report "$root/tests/recordings/mpi_cuda.$name.four.roofline" -s transfers
		[ "$(grep -c "it is not known who sent to whom" <<<"$output")" -eq 1 ]
		"$ROOFLINECTL" report "$root/tests/recordings/mpi_cuda.$name.roofline" -f json -s job,transfers >report.json
		python3 - <<-'END'
			import json
			report = json.load(open("report.json"))
			assert [(row["from"], row["to"]) for row in report["transfers"]] == [("rank 0", "rank 1"), ("rank 1", "rank 0")]
			assert report["job"]["unknown_transfer_count"] == 0 < report["job"]["critical_path_hop_count"]
		END
	done
}
