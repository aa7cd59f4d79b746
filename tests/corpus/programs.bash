# shellcheck shell=bash
# What record.sh and try.sh need to run the programs of a labels.csv.
#
#   . programs.bash; programs_open PROGRAMS
#
# PROGRAMS is a folder with the programs, or an archive of it.  Sets programs (that folder), scratch (a temporary one, with
# cwd, where a program runs and finds its data) and keeper; what is in scratch goes at the end.

keeper=
programs_close() {
	[ -z "$keeper" ] || kill "$keeper" 2>/dev/null || true
	keeper=
}

programs_open() {
	scratch=$(mktemp -d)
	trap 'programs_close; rm -rf "$scratch"' EXIT
	mkdir "$scratch/programs" "$scratch/cwd"
	if [ -d "$1" ]; then
		programs=$(cd "$1" && pwd)
	else
		tar -xf "$1" -C "$scratch/programs" 2>/dev/null || python3 -m tarfile -e "$1" "$scratch/programs"
		programs=$scratch/programs
	fi
	find "$programs" -maxdepth 1 -type f ! -perm -u+x -exec ln -s -t "$scratch/cwd" {} +
	ulimit -c 0
	export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}/usr/local/cuda/lib64
	# While nvidia-smi waits, the driver stays loaded: programs start in a fraction of the time.
	if command -v nvidia-smi >/dev/null; then
		nvidia-smi --loop=3600 >/dev/null 2>&1 &
		keeper=$!
	fi
}
