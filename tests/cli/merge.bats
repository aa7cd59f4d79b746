#!/usr/bin/env bats
# rooflinectl summarize and merge: many ranks as one answer.
load common

setup_file() {
	export here="$BATS_FILE_TMPDIR/here"
	mkdir "$here"
	unpacked collectives.ordered "$here/recording"
	"$ROOFLINECTL" summarize "$here/recording/vm.746" -o "$here/early.summary"
	"$ROOFLINECTL" summarize "$here/recording/vm.747" -o "$here/late.summary"
	python3 "$root/tests/tools/make_ranks.py" "$here/late.summary" "$here/ranks" 200 \
		--late 57:400000:2 --late 130:90000:3
}

setup() {
	cd "$here"
}

# refused CODE TEXT ARGUMENT...: that exit code and one line on stderr, which holds the text
refused() {
	run "-$1" --separate-stderr "$ROOFLINECTL" "${@:3}"
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ "$stderr" == "rooflinectl $3: "*"$2"* ]]
}

@test "ranks summarized where they ran and merged are the summary of their recording" {
	"$ROOFLINECTL" merge early.summary late.summary -o one.summary
	"$ROOFLINECTL" summarize recording -o two.summary
	cmp one.summary two.summary
}

@test "each rank's summary is within 1% of its full report" {
	for process in vm.746 vm.747; do
		"$ROOFLINECTL" report recording/$process --format json --section devices,kernels >report.json
		"$ROOFLINECTL" summarize recording/$process --format json >summary.json
		python3 - <<-'END'
			import json
			report, summary = json.load(open("report.json")), json.load(open("summary.json"))
			rank = summary["ranks"][0]
			device = [device for device in report["devices"] if device["busy_ns"]][0]
			assert len(summary["ranks"]) == 1
			for key in "wall_ns", "busy_ns", "idle_ns":
			    assert rank[key] == device[key] > 0, key
			assert {k: v for k, v in rank["idle_by_cause"].items() if v} == \
			    {k: v for k, v in device["idle_by_cause"].items() if v}
			theirs = {kernel["name"]: kernel for kernel in report["kernels"]}
			assert len(summary["kernels"]) == len(theirs) > 5
			for kernel in summary["kernels"]:
			    full = theirs[kernel["name"]]
			    for key in "count", "total_ns", "min_ns", "max_ns":
			        assert kernel[key] == full[key], key
			    for key in "mean_ns", "p50_ns", "p99_ns":
			        assert abs(kernel[key] - full[key]) <= 0.01 * full[key], (key, kernel, full)
		END
	done
}

@test "who was late, how often and what it cost is what the report of both ranks says" {
	"$ROOFLINECTL" merge late.summary early.summary --format json >merged.json
	"$ROOFLINECTL" report recording --format json --section job >report.json
	python3 - <<-'END'
		import json
		merged = {rank["pid"]: rank for rank in json.load(open("merged.json"))["ranks"]}
		report = json.load(open("report.json"))
		waits = {rank["process"]: rank["wait_ns"] for rank in report["job"]["ranks"]}
		assert waits["vm.746"] > 400e6
		for pid, rank in merged.items():
		    wait = waits["vm.%d" % pid]
		    assert abs(rank["wait_ns"] - wait) <= 0.01 * wait, (pid, wait)
		assert merged[747]["last_count"] == 374 and merged[746]["last_count"] == 27
		assert merged[747]["caused_wait_ns"] == merged[746]["wait_ns"]
	END
}

@test "of each bundled job waits, and how often a rank is last, are what the report says, within 1%" {
	local recording count=0
	for recording in "$root"/tests/recordings/{collectives,ddp,mpi_cuda,nccl_bucketed,nccl_graph,nvshmem_signal,nvshmem_steal,nvshmem_step,p2p_overlap,scaling,two_stage}.*.roofline \
		"$root"/tests/recordings/pitfalls.{collective_order,no_staged_peer_copy,staged_peer_copy}.roofline; do
		"$ROOFLINECTL" report "$recording" --format json --section job >"report.$count.json"
		"$ROOFLINECTL" summarize "$recording" --format json >"summary.$count.json"
		count=$((count + 1))
	done
	python3 - "$count" <<-'END'
		import json, sys
		waited = 0
		for i in range(int(sys.argv[1])):
		    full = json.load(open("report.%d.json" % i))["job"]["ranks"]
		    short = json.load(open("summary.%d.json" % i))["ranks"]
		    assert len(full) == len(short) > 1
		    for rank in full:
		        (other,) = [other for other in short if all(other[key] == rank[key] for key in ("first_ns", "last_ns", "busy_ns"))]
		        late = rank.get("late") or {}
		        for key, value in (("wait_ns", rank["wait_ns"]), ("last_count", late.get("last_count")),
		                           ("caused_wait_ns", late.get("caused_wait_ns"))):
		            assert (value is None) == (other[key] is None), (key, rank, other)
		            assert value is None or abs(other[key] - value) <= 0.01 * value, (key, value, other)
		        waited += bool(rank["wait_ns"])
		assert waited > 40, waited
	END
}

@test "in 200 ranks on 25 hosts with clocks apart the late ones are found" {
	"$ROOFLINECTL" merge ranks --format csv >ranks.csv
	python3 - <<-'END'
		import csv
		rows = sorted(csv.DictReader(open("ranks.csv")), key=lambda row: -int(row["caused_wait_ns"]))
		assert len(rows) == 200
		assert [int(row["rank"]) for row in rows[:2]] == [57, 130]
		assert int(rows[0]["last_count"]) == 201 # every second of 401
		assert 330000 < int(rows[0]["delay_ns"]) / 201 < 400000 # at each third of them the next came 90 us late
		assert int(rows[2]["caused_wait_ns"]) * 20 < int(rows[1]["caused_wait_ns"])
	END
	"$ROOFLINECTL" merge ranks --format csv --table hosts >hosts.csv
	python3 - <<-'END'
		import csv
		rows = list(csv.DictReader(open("hosts.csv")))
		assert len(rows) == 25
		assert all(int(row["clock_error_ns"]) < 300 for row in rows[1:])
		assert max(abs(int(row["clock_ahead_ns"])) for row in rows[1:]) > 1000000
	END
}

@test "any order, halves, and a tree of processes give the same bytes" {
	"$ROOFLINECTL" merge ranks -o expected.summary
	"$ROOFLINECTL" merge $(printf '%s\n' ranks/* | sort -R --random-source="$ROOFLINECTL") -o shuffled.summary
	cmp expected.summary shuffled.summary
	"$ROOFLINECTL" merge ranks/*[02468].summary -o even.summary
	"$ROOFLINECTL" merge ranks/*[13579].summary -o odd.summary
	"$ROOFLINECTL" merge odd.summary even.summary -o halves.summary
	cmp expected.summary halves.summary
	local pids=() # bats has processes of its own beside
	for rank in 4 3 2 1 0; do
		OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=5 "$ROOFLINECTL" merge --mpi ranks -o tree.summary 3>&- &
		pids+=($!)
	done
	wait "${pids[@]}"
	cmp expected.summary tree.summary
	run ls -d tree.summary.*
	[ "$status" -ne 0 ] # nothing is left
}

@test "mpirun merges in a tree" {
	needs_command mpirun
	"$ROOFLINECTL" merge ranks -o expected.summary
	OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n 3 \
		"$ROOFLINECTL" merge --mpi ranks -o mpirun.summary
	cmp expected.summary mpirun.summary
}

@test "a process of the tree that fails tells the others why" {
	mkdir some
	cp ranks/rank-0000[0-3].summary some
	echo damage >some/rank-00002.summary
	local pids=()
	for rank in 3 2 1; do
		OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=4 "$ROOFLINECTL" merge --mpi some -o failed.summary 2>error.$rank 3>&- &
		pids+=($!)
	done
	export OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=4
	refused 1 "process 2 failed: some/rank-00002.summary: no summary" merge --mpi some -o failed.summary
	wait "${pids[@]}" || true # they fail as well
	[ ! -e failed.summary ]
	run ls -d failed.summary.*
	[ "$status" -ne 0 ]
}

@test "a process of the tree that never comes is waited for as long as was asked" {
	export OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2
	refused 1 "process 1 has not handed its part on after 0 s" merge --mpi ranks -o never.summary --wait 0
}

# recipe LANGUAGE WORD: the block of the how-to in that language that has the word
recipe() {
	perl -0777 -ne 'while (/^```'"$1"'\n(.*?)^```/msg) { print $1 if index($1, "'"$2"'") >= 0 }' "$root/docs/how-to.md"
}

@test "the recipe for DuckDB reads the tables of all ranks" {
	command "${PYTHON:-python3}" -c "import duckdb" 2>/dev/null || skip "there is no duckdb for python3"
	recipe sql read_csv >recipe.sql
	run command "${PYTHON:-python3}" -c "import duckdb; print(duckdb.sql(open('recipe.sql').read()).fetchall()[0])"
	echo "$output"
	[[ $output == "('vm.746', '"*"ncclDevKernel_AllReduce_Sum_f32_RING_LL"*"', 201, 410467690, "* ]]
}

@test "the recipe for Dask reads the tables of all ranks" {
	command "${PYTHON:-python3}" -c "import dask.dataframe" 2>/dev/null || skip "there is no dask for python3"
	recipe python dask >recipe.py
	run command "${PYTHON:-python3}" recipe.py
	echo "$output"
	[[ $output == *"vm.746,"*"ncclDevKernel_AllReduce_Sum_f32_RING_LL"*",410467690"* ]]
}

@test "a rank is merged once" {
	refused 1 "vm.747 is in another of the files as well" merge late.summary early.summary late.summary
}

@test "a rank summarized alone out of a recording, or a part of it, is the same rank" {
	"$ROOFLINECTL" summarize "$root/tests/recordings/ddp.one.2" -o both.summary
	for rank in 0 1; do
		"$ROOFLINECTL" summarize "$root/tests/recordings/ddp.one.2" --rank $rank -o alone$rank.summary
	done
	"$ROOFLINECTL" merge alone1.summary alone0.summary -o merged.summary
	cmp merged.summary both.summary
	refused 1 "rank 0 is in another of the files as well; name each once" merge alone0.summary both.summary
	"$ROOFLINECTL" summarize "$root/tests/recordings/ddp.one.2" --from 500ms -o later.summary
	refused 1 "is in another of the files as well; name each once" merge later.summary both.summary
}

@test "a rank whose table was cut off is told with the file, in text and JSON, also after merging" {
	unpacked ddp.one.2 cut
	rank1=$(basename "$(dirname "$(grep -l '^rank,1$' cut/*/process.csv)")")
	truncate -s "$(($(stat -c %s "cut/$rank1/kernels.csv") / 2))" "cut/$rank1/kernels.csv"
	"$ROOFLINECTL" summarize cut -o cut.rank
	run -0 "$ROOFLINECTL" merge cut.rank
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *" damaged rank 1: $rank1/kernels.csv:"*": the last line is cut off: how much is missing is unknown lost 1 row of the recordings that could be counted "* ]]
	"$ROOFLINECTL" merge cut.rank --format json |
		json 'j["damaged_count"] == 1 and [len(rank["damage"]) for rank in j["ranks"]] == [0, 1]'
	: >"cut/$rank1/kernels.csv"
	run -0 "$ROOFLINECTL" summarize cut
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *" damaged rank 1: $rank1/kernels.csv:1: the first line, with the names of the columns, is missing: how much is missing is unknown "* ]]
	run -0 "$ROOFLINECTL" merge early.summary
	[[ "$output" != *damaged* ]]
}

@test "summaries of two runs are told" {
	"$ROOFLINECTL" summarize "$root/tests/recordings/ddp.one.2" -o one.run
	"$ROOFLINECTL" summarize "$root/tests/recordings/ddp.tiny.2" -o tiny.run
	run -0 "$ROOFLINECTL" merge one.run tiny.run
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *" problem 2 ranks stand there as two processes: these are ranks of several runs, and no figure of all ranks means anything: rank 0 as process "*"; merge those of one run alone "* ]]
	"$ROOFLINECTL" merge one.run tiny.run --format json | json 'len(j["problems"]) == 1'
	"$ROOFLINECTL" merge one.run --format json | json 'j["problems"] == []'
}

@test "what is no summary, or none at all, is refused with a word" {
	printf 'roofline-summary 1\nhost "a"\n' >cut.summary
	mkdir -p empty
	refused 1 "its end is missing" merge cut.summary
	refused 1 "no summary" merge recording/vm.746/process.csv
	refused 1 "No such file" merge missing.summary
	refused 1 "no file there ends in .summary" merge empty
	: >empty.file
	refused 1 "empty.file: the file is empty; rooflinectl summarize DIR -o FILE makes one" merge empty.file
	refused 1 "Unknown frame descriptor; rooflinectl summarize DIR -o FILE makes one" merge "$root/README.md"
	mkdir -p holder/x.summary
	refused 1 "holder/x.summary: a folder that is called as summaries are; rename it, or name the files to merge" merge holder
	mkdir -p idle/host.1
	printf 'key,value\nschema,1\nhost,host\npid,1\n' >idle/host.1/process.csv
	refused 1 "nothing ran on a GPU" summarize idle
	refused 2 "which summaries?" merge
	refused 2 "--mpi wants -o" merge --mpi late.summary
	refused 2 "no launcher says" merge --mpi late.summary -o x.summary
	OMPI_COMM_WORLD_RANK=5 OMPI_COMM_WORLD_SIZE=2 refused 2 "this is rank 5 of 2, which cannot be: ranks count from 0" merge --mpi late.summary -o x.summary
	refused 2 "with -o nothing is shown" merge late.summary -o x.summary --format csv
	refused 2 "no table 'rank', did you mean 'ranks'?" merge late.summary --format csv --table rank
	refused 2 "--table is of --format csv" merge late.summary --table ranks
}

@test "a rank of any number of kernels and collectives takes at most 1 MB" {
	python3 - many <<-'END'
		import os, random, sys
		folder = sys.argv[1] + "/host.1"
		os.makedirs(folder)
		chance = random.Random(1)
		text = lambda n: "".join(chance.choice("abcdefghijklmnopqrstuvwxyz0123456789_") for _ in range(n))
		put = lambda table, rows: open("%s/%s.csv" % (folder, table), "w").write("\n".join(rows) + "\n")
		put("process", ["key,value", "schema,1", "host,host", "pid,1", "sealed_ns,9"])
		put("devices", ["device,name,uuid", "0,GPU,GPU-1"])
		put("contexts", ["context,device,null_stream", "1,0,7"])
		put("names", ["id,text", "1,ncclDevKernel_AllReduce_Sum_f32_RING_LL"] +
		    ["%d,%s" % (i + 2, text(400)) for i in range(800)])
		put("signatures", ["id,name,grid_x,grid_y,grid_z,block_x,block_y,block_z"] +
		    ["%d,%d,1,1,1,32,1,1" % (i + 1, i + 1) for i in range(801)])
		rows, time = ["start_ns,end_ns,signature,device,context,stream"], 10**18
		for i in range(20000):
		    for signature in (1, 2 + chance.randrange(800)):
		        time += chance.randrange(100000)
		        end = time + int(2 ** chance.uniform(1, 16))
		        rows.append("%d,%d,%d,0,1,7" % (time, end, signature))
		        time = end
		put("kernels", rows)
	END
	"$ROOFLINECTL" summarize many -o many.summary
	size=$(stat -c %s many.summary)
	echo "$size bytes"
	[ "$size" -gt 250000 ] && [ "$size" -le 1000000 ]
	"$ROOFLINECTL" merge many.summary --format json >many.json
	python3 - <<-'END'
		import json
		told = json.load(open("many.json"))
		assert sum(kernel["count"] for kernel in told["kernels"]) == 40000
		assert told["kernels"][-1]["name"] == "(others)" and 100 < len(told["kernels"]) <= 513
		assert told["collectives"][0]["one_of"] == 2
	END
}
