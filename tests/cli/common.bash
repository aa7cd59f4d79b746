# common.bash - where the command-line tests find the program and recordings.
root="$(cd "$BATS_TEST_DIRNAME/../.." && pwd)"
BUILD="${BUILD:-$root/build}"
if declare -F bats_require_minimum_version >/dev/null; then
	bats_require_minimum_version 1.5.0
else
	source "${BASH_SOURCE[0]%/*}/older_bats.bash"
fi
# In LD_PRELOAD a space ends a path, and what commands print has such a path quoted: tests see a checkout in a folder whose
# name has spaces through a link.  Those of names with spaces make their own.
if [[ $root == *[[:space:]]* ]]; then
	ln -sfn "$root" "$BATS_RUN_TMPDIR/checkout"
	BUILD=${BUILD/#"$root"/"$BATS_RUN_TMPDIR/checkout"}
	root=$BATS_RUN_TMPDIR/checkout
fi
ROOFLINECTL="$BUILD/bin/rooflinectl"

# Python is started a thousand times, for its own modules alone: without looking for others, and by make with PYTHON,
# because python3 may be the script of a version manager, which takes longer than what is asked here.
python3() {
	command "${PYTHON:-python3}" -S "$@"
}
export -f python3

# json EXPRESSION [FILE]: print the value of a Python expression about j, the JSON of FILE or of standard input; fail if it
# is False
json() {
	python3 -c '
import json, sys
with open(sys.argv[2]) as file:
    j = json.load(file)
value = eval(sys.argv[1])
print(value)
sys.exit(value is False)' "$1" "${2:-/dev/stdin}"
}

# Each of these skips the test where the machine lacks what it needs, for a reason that make check counts.

# needs_command NAME
needs_command() {
	command -v "$1" >/dev/null || skip "needs $1"
}

# needs_terminal: in /dev/pts, where script(1), tests/tools/on_terminal.py and record --live make one
needs_terminal() {
	needs_command script
	script -qec true /dev/null </dev/null >/dev/null 2>&1 || skip "needs a terminal (/dev/pts)"
}

# needs_namespaces OPTION...: those that unshare makes with these options for any user, and mounts in that of --mount
needs_namespaces() {
	local try=true
	[[ " $* " != *" --mount "* ]] || try="mount -t tmpfs none '$BATS_TEST_TMPDIR'"
	unshare --user --map-root-user "$@" sh -c "$try" >/dev/null 2>&1 || skip "needs namespaces (unshare $*)"
}

# recording_names: of the packed recordings in tests/recordings; any command takes tests/recordings/NAME
recording_names() {
	(cd "$root/tests/recordings" && printf '%s\n' *.roofline | sed 's/[.]roofline$//')
}

# ceilings_without_links FILE: those of an H200 as one GPU alone has them
ceilings_without_links() {
	mkdir -p "$(dirname "$1")"
	python3 - "$root"/ceilings/NVIDIA_H200-*.json >"$1" <<-'END'
		import json, sys
		found = json.load(open(sys.argv[1]))
		found["ceilings"] = [row for row in found["ceilings"] if not row["name"].startswith(("peer_", "nccl_"))]
		json.dump(found, sys.stdout)
	END
}

# each_or_third: passes lines on; with sanitizers, which look at the code that runs and not at figures, each third alone
each_or_third() {
	if [[ $BUILD == */sanitized ]]; then awk 'NR % 3 == 1'; else cat; fi
}

# unpacked NAME FOLDER: makes the folder, with that recording's CSV files to be read or edited
unpacked() {
	"$ROOFLINECTL" unpack "$root/tests/recordings/$1" -o "$2"
}

# small DIR LENGTH_NS [ARGUMENTS]: a recording of one process with two kernels and a range around the
# launch of the first, so little that nothing is predicted of it.
small() {
	local folder="$1/host.7" end_ns=$((1000000 + $2))
	mkdir -p "$folder"
	printf 'key,value\nschema,1\nhost,host\npid,7\ncommand,./app%s\nsealed_ns,2000000\n' "${3:+ $3}" \
		>"$folder/process.csv"
	printf 'id,text\n1,_Z5saxpyifPf\n2,step\n' >"$folder/names.csv"
	printf 'device,name,uuid\n0,NVIDIA H200,GPU-1234\n' >"$folder/devices.csv"
	printf 'context,device,null_stream\n1,0,7\n' >"$folder/contexts.csv"
	printf 'context,stream\n1,7\n' >"$folder/streams.csv"
	printf 'id,name,grid_x,grid_y,grid_z,block_x,block_y,block_z\n1,1,64,1,1,256,1,1\n' \
		>"$folder/signatures.csv"
	cat >"$folder/kernels.csv" <<-END
		start_ns,end_ns,signature,device,context,stream,correlation
		1000000,1000100,1,0,1,7,1
		$((end_ns - 100)),$end_ns,1,0,1,7,3
	END
	cat >"$folder/markers.csv" <<-END
		time_ns,id,phase,is_thread,thread,domain,name
		999000,1,1,1,7,0,2
		$((999000 + $2)),1,2,1,7,0,0
	END
}

# refused_import TEXT ARGUMENT...: exit code 1, one line on stderr, which holds the text, and nothing left
refused_import() {
	run -1 --separate-stderr "$ROOFLINECTL" import "${@:2}" -o refused
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ "$stderr" == "rooflinectl import: "*"$1"* ]] || { echo "$stderr"; false; }
	[ -z "$(ls -A | grep refused)" ]
}
