#!/usr/bin/env bats
# What kernels were given (record --args): in the report, in predictions, and in what to do next.

load common

setup() {
	cd "$BATS_TEST_TMPDIR"
	export XDG_DATA_HOME=$BATS_TEST_TMPDIR/data # not with what this user measured
	unpacked concurrent_kernels.naive run
}

# given EXPRESSION: as if each launch of the run had been given that address, of i, its number.  The eight of an iteration
# are 0 to 7 of it; there are 16 allocations of 1 MiB from A on.
given() {
	python3 - "$1" <<-'END'
		import csv, glob, sys
		folder = glob.glob("run/*/")[0]
		kernels = list(csv.DictReader(open(folder + "kernels.csv")))
		A, M = 0x7f0000000000, 1 << 20
		begin = min(int(k["start_ns"]) for k in kernels) - 10**9
		def write(table, head, rows):
		    with open(f"{folder}{table}.csv", "w") as file:
		        file.write(head + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
		sets, launches = {}, []
		for i, kernel in enumerate(kernels):
		    address = eval(sys.argv[1])
		    launches.append((kernel["correlation"], 0, sets.setdefault(address, len(sets) + 1), 7))
		write("arguments", "id,address_count,parameter,offset,address", [(s, 1, 0, 0, a) for a, s in sets.items()])
		write("launch_arguments", "correlation,node,arguments,others", launches)
		write("allocations", "time_ns,operation,memory,address,bytes,is_async,pool,device,context,stream,correlation",
		      [(begin, 1, 3, A + j * M, M, 0, 0, 0, 1, 0, 0) for j in range(16)])
	END
	sed -i 's/^graphs,/args,1\ngraphs,/' run/*/process.csv
}

# streams: whatif --streams as JSON, in $output
streams() {
	run -0 --separate-stderr "$ROOFLINECTL" whatif --format json --streams run
}

# holds EXPRESSION: of the JSON in $output, j; the technique's part, s
holds() {
	python3 -c "
import json, sys
j = json.load(sys.stdin)
s = j.get('strategies', [None])[0]
assert ($1), json.dumps(j, indent=1)" <<<"$output"
}

@test "kernels that are given memory of their own are known to be independent: no 'up to'" {
	streams
	holds "s['up_to'] and j['up_to'] and j['low'] < j['speedup'] / 3"
	assumed=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["speedup"])' <<<"$output")
	given 'A + i % 8 * M'
	streams
	holds "not s['up_to'] and not j['up_to'] and abs(j['speedup'] / $assumed - 1) < 0.01 and j['low'] > j['speedup'] / 2"
	run -0 "$ROOFLINECTL" whatif --streams run
	[[ "$output" != *'assumes:'* && "$output" != *'up to'* ]]
}

@test "kernels that are given the same memory depend on each other, and are refused" {
	given 'A'
	streams
	holds "s['refusal'].startswith('each kernel depends on the one before it') and s['changed'] == 0"
}

@test "one job of 16 steps after the other: five jobs run side by side, and their steps in a row" {
	given 'A + i // 16 % 5 * M'
	streams
	holds "not j['up_to'] and 4 < j['place']['speedup'] <= 5"
}

@test "a kernel that depends on another waits for it: two rows of kernels take half as long, not an eighth" {
	given 'A + i % 2 * M'
	streams
	holds "not j['up_to'] and 1.5 < j['place']['speedup'] <= 2"
}

@test "parts of one allocation may be others: what is predicted is 'up to', as without" {
	given 'A + i % 8 * 4096'
	streams
	holds "s['up_to'] and j['up_to']"
}

@test "an allocation that is not known leaves open what depends on what" {
	given 'A + (i % 8 + 20) * M'
	streams
	holds "s['up_to']"
}

@test "the next step is to record arguments, where the advice depends on them and they are missing" {
	run -0 "$ROOFLINECTL" report --format json run
	holds "[n['command'] for n in j['next'] if n['id'] == 'args'][0].startswith('rooflinectl record --args -o run.args -- ')"
	given 'A + i % 8 * M'
	run -0 "$ROOFLINECTL" report --format json run
	holds "not any(n['id'] == 'args' for n in j['next'])"
	run -0 "$ROOFLINECTL" report --format json "$root/tests/recordings/graph_chain.naive"
	holds "not any(n['id'] == 'args' for n in j['next'])"
}

@test "the report tells what each kernel was given" {
	given 'A + i % 8 * M'
	run -0 "$ROOFLINECTL" report --section kernel_memory run
	[ "${lines[0]}" = "Memory of kernels  (what each was given)" ]
	[ "${lines[2]}" = "  chain_kernel" ]
	[ "${lines[3]}" = "    reads and writes  1.00 MiB device          160  unknown call, 8 of them" ]
	[ "${#lines[@]}" -eq 4 ]
	run -0 "$ROOFLINECTL" report --format json run
	holds "j['kernel_memory']['launch_count'] == j['kernel_memory']['known_launch_count'] == 160"
	holds "[(a['access'], a['bytes'], a['allocation_count'], a['launch_count']) for a in j['kernel_memory']['accesses']] == [('read_write', 1 << 20, 8, 160)]"
	"$ROOFLINECTL" report --format csv --section kernel_memory run >rows.csv
	python3 -c "
import csv
[row] = csv.DictReader(open('rows.csv'))
assert row['kernel'].startswith('chain_kernel(') and row['access'] == 'read_write', row"
}

@test "a recording without arguments has no such section, and says how to get one" {
	run -0 "$ROOFLINECTL" report run
	[[ "$output" != *'Memory of kernels'* ]]
	run -0 "$ROOFLINECTL" report --section kernel_memory run
	[[ "$output" == *'was not recorded: record with --args'* ]]
}

@test "launches of which not all is known are counted" {
	given 'A + (i % 8 + 12) * M'
	run -0 "$ROOFLINECTL" report --section kernel_memory run
	[[ "$output" == *'of 80 of 160 launches not all is known'* ]]
}

@test "a number that looks like an address and lies in no allocation is shown nowhere" {
	given 'A + i % 8 * M'
	run -0 "$ROOFLINECTL" report --section kernel_memory --format json run
	without=$output
	sed -i -E '2,$ { s/^([0-9]+),1,/\1,2,/; p; s/^([0-9]+),.*/\1,2,1,0,4294967297/ }' run/*/arguments.csv
	grep -q ,2,1,0,4294967297 run/*/arguments.csv
	run -0 "$ROOFLINECTL" report --section kernel_memory --format json run
	[ "$output" = "$without" ]
	run -0 "$ROOFLINECTL" report --format json run
	[[ "$output" != *4294967297* && "$output" != *100000001* ]]
	run -0 "$ROOFLINECTL" report run
	[[ "$output" != *4294967297* && "$output" != *100000001* ]]
}
