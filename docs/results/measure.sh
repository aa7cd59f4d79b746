#!/usr/bin/env bash
# measure.sh NAME COMMAND... - runs a command and keeps what it printed, with the circumstances, as
# docs/results/NAME.txt.  Everything in this folder was made this way; nothing is typed in by hand.
set -u
folder=${RESULTS:-$(dirname "${BASH_SOURCE[0]}")}
[ $# -ge 2 ] || { echo "usage: measure.sh NAME COMMAND..." >&2; exit 2; }
name=$1
shift
{
	echo "command  $*"
	echo "date     $(date -u +%Y-%m-%d)"
	if command -v nvidia-smi >/dev/null; then
		echo "gpu      $(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)"
		echo "driver   $(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)"
	fi
	echo "host     $(nproc) cores, Linux $(uname -r)"
	echo
	"$@" 2>&1
	echo "exit code $?"
} | tee "$folder/$name.txt"
