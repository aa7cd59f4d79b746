#!/usr/bin/env bash
# The rooms' rules: who may include what, and what a room must not do.  docs/architecture.md draws them.
source "$(dirname "$0")/common.bash"

# Which of our headers each room may include.  A room lists every path that it may name; the rooms are
# matched by the longest folder, so analyzer/cmd comes before analyzer/.
may_include() {
	case $1 in
	include/*) echo 'roofline/' ;;
	collector/*) echo 'roofline/ OWN' ;;
	workloads/ceilings/*) echo 'roofline/ceilings.h cuda_check.cuh OWN' ;;
	workloads/*) echo 'OWN' ;;
	analyzer/base/*) echo 'base/' ;;
	analyzer/trace/*) echo 'base/ trace/ roofline/' ;;
	analyzer/analysis/*) echo 'base/ trace/profile.h analysis/ roofline/metrics.h roofline/ceilings.h' ;;
	analyzer/replay/*) echo 'base/ trace/profile.h analysis/ replay/ roofline/ceilings.h' ;;
	analyzer/techniques/*) echo 'base/ trace/profile.h analysis/ replay/ techniques/ roofline/metrics.h roofline/ceilings.h' ;;
	analyzer/whatif/*) echo 'base/ trace/profile.h analysis/ replay/ techniques/ whatif/' ;;
	analyzer/advice/*) echo 'base/ trace/profile.h analysis/ replay/ techniques/ whatif/ advice/ roofline/metrics.h roofline/ceilings.h' ;;
	analyzer/output/*) echo 'base/ trace/profile.h analysis/ whatif/ advice/ output/ roofline/metrics.h roofline/ceilings.h' ;;
	analyzer/charts/*) echo 'base/ trace/profile.h analysis/ whatif/ advice/ output/points.h charts/ roofline/metrics.h roofline/ceilings.h' ;;
	analyzer/cmd/*) echo 'base/ trace/ analysis/ replay/ techniques/ whatif/ advice/ output/ charts/ cmd/ roofline/ workloads/workloads.h' ;;
	analyzer/main.c) echo 'cmd/commands.h' ;;
	esac
}

# is_allowed FILE HEADER RULE...: true when the header starts with a rule, or lies beside FILE (OWN)
is_allowed() {
	local file=$1 header=$2 rule
	shift 2
	for rule; do
		case $rule in
		OWN) [ -e "$(dirname "$file")/$header" ] && [[ $header != ../* ]] && return ;;
		*) [[ $header == "$rule"* ]] && return ;;
		esac
	done
	return 1
}

# own_includes DIR...: lines 'file header' of our own headers, also those named with angle brackets;
# any leading ../ taken away
own_includes() {
	local ours='"[^"]+"|<((\.\./)*(analyzer|base|trace|analysis|replay|techniques|whatif|advice|output|charts|cmd|roofline|workloads|collector)/[^>]+)>'
	grep -rHoE --include='*.[ch]' --include='*.cu' --include='*.cuh' \
		"^[[:space:]]*#[[:space:]]*include[[:space:]]*($ours)" "$@" 2>/dev/null |
		sed -E 's/^([^:]+):.*["<]([^">]+)[">].*/\1 \2/; s/ (\.\.\/)+/ /'
}

# outsiders DIR...: includes that the table does not allow
outsiders() {
	own_includes "$@" | while read -r file header; do
		is_allowed "$file" "$header" $(may_include "$file") ||
			echo "$file includes \"$header\"; it may: $(may_include "$file")"
	done
}

# angle_includes REGEX DIR...: includes of system headers that match
angle_includes() {
	local regex=$1
	shift
	grep -rnE --include='*.[ch]' --include='*.cu' --include='*.cuh' \
		"^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]($regex)" "$@" 2>/dev/null
}

# calls REGEX FILE...: lines that call a function, outside comments and strings
calls() {
	local regex=$1
	shift
	[ $# -eq 0 ] && return
	perl -0777 -e '
		my $regex = shift;
		for my $name (@ARGV) {
			open my $file, "<", $name or die "$name: $!";
			my $text = <$file>;
			# Blank out strings, characters and comments; keep the line breaks.
			$text =~ s{("(?:\\.|[^"\\\n])*"|\x27(?:\\.|[^\x27\\\n])*\x27)|(/\*.*?\*/|//[^\n]*)}
				{my $s = defined $1 ? "\"\"" : $2; $s =~ s/[^\n]//g if defined $2; $s}gse;
			my $line = 0;
			for (split /\n/, $text) {
				$line++;
				print "$name:$line: $1\n" if /(?<![\w>.])($regex)/;
			}
		}' "$regex" "$@"
}

files_in() {
	local dirs=()
	for dir; do [ -e "$dir" ] && dirs+=("$dir"); done
	[ ${#dirs[@]} -eq 0 ] || find "${dirs[@]}" -name '*.[ch]' | sort
}

cuda_header='cuda|cupti|nvtx|nvToolsExt|cublas|cub/|cooperative_groups|nccl|nvshmem|nvrtc|nvml|nvperf'

for room in include collector workloads; do
	[ -d $room ] || continue
	outsiders $room | verdict "$room includes only what its row of the table allows"
done
for room in base trace analysis replay techniques whatif advice output charts cmd; do
	[ -d analyzer/$room ] || continue
	outsiders analyzer/$room | verdict "analyzer/$room includes only what its row of the table allows"
done
outsiders analyzer/main.c | verdict "main.c only dispatches"

# The table has a row for every folder, so that a new room cannot slip through unjudged.
sources '*.[ch]' '*.cu' '*.cuh' | grep -v '^tests/' | while read -r file; do
	[ -n "$(may_include "$file")" ] || echo "$file lies in no room that tests/lint/rooms.sh knows"
done | verdict "every source file lies in a room"

angle_includes "$cuda_header" analyzer include | verdict "no CUDA header in analyzer/ and include/"
angle_includes 'cupti|generated_cuda' analyzer include workloads |
	verdict "only the collector includes CUPTI's headers"
{ angle_includes '[^">]*trace/reader\.h' analyzer/analysis analyzer/replay analyzer/techniques analyzer/whatif analyzer/advice analyzer/output analyzer/charts
  angle_includes '[^">]*roofline/trace_schema\.h' analyzer/analysis analyzer/replay analyzer/techniques analyzer/whatif analyzer/advice analyzer/output analyzer/charts; } |
	verdict "analyses, rules and outputs see the profile, never rows"
{ find analyzer collector -type l
  angle_includes '[^">]*\.c[">]' analyzer collector include; } 2>/dev/null |
	verdict "collector and analyzer share no .c file"

quiet='(v?printf|puts|putchar|perror|errx?|warnx?|error)[[:space:]]*\('
ends='(exit|_exit|_Exit|abort|quick_exit)[[:space:]]*\('
# base/child.c keeps a child quiet, and ends the child that it made; nobody else ends a process.
pure_rooms='analyzer/analysis analyzer/replay analyzer/techniques analyzer/whatif analyzer/advice'
below_cmd=$(files_in analyzer/base analyzer/trace $pure_rooms |
	grep -vx analyzer/base/child.c)
calls "$quiet|\\b(stdout|stderr|STD(OUT|ERR)_FILENO)\\b" $below_cmd | verdict "below cmd/ nothing in the analyzer prints"
calls "$ends" $below_cmd $(files_in analyzer/output analyzer/charts) | verdict "below cmd/ nothing in the analyzer exits"
calls "\\b(fopen|open|opendir|getenv|time|clock_gettime)[[:space:]]*\\(" \
	$(files_in $pure_rooms) |
	verdict "analyses and rules are pure: no files, no environment, no clock"

# A guest: no end of the process, nothing on stdout, no signal handler.  log.c alone writes to stderr.
# underscore_exit.c is called when the application ends itself.
calls "$ends" $(files_in collector | grep -vx collector/underscore_exit.c) | verdict "the collector never ends the application"
calls "(printf|puts|putchar|perror)[[:space:]]*\\(|\\bstdout\\b" $(files_in collector) |
	verdict "the collector never writes to stdout"
calls "\\bstderr\\b|STDERR_FILENO" $(files_in collector | grep -v '^collector/log\.') |
	verdict "only collector/log.c writes to stderr"
calls "(signal|sigaction|sigset|bsd_signal|sysv_signal|signalfd)[[:space:]]*\\(" $(files_in collector) |
	verdict "the collector installs no signal handler"
finish
