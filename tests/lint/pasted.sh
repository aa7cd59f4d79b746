#!/usr/bin/env bash
# A command that is printed to be pasted has its names quoted: base/shell.h does it.
source "$(dirname "$0")/common.bash"

# A format with a command and %s, and the lines around it, which quote.  "rooflinectl report: %s" opens a message; what
# next_context has is quoted, and names of workloads and commands are ours.
sources '*.c' | grep '^analyzer/' | xargs awk '
	FNR == 1 { left = 0; quoted = -9 }
	/shell_/ { quoted = FNR }
	/(rooflinectl|nsys|rocpd|ncu|perf) [a-z-][^"]*%s/ && !/rooflinectl [a-z]+: [^"]*(%s|%d)/ && !/rooflinectl workloads %s/ && FNR > quoted + 5 {
		place = FILENAME ":" FNR; left = 6
	}
	left && /shell_|context->|quoted|words|complete -c|fish/ { left = 0 }
	left && !--left { print place ": a name in a command is not quoted (shell_path_text)" }
' | verdict "names in commands that are printed are quoted for a shell"
finish
