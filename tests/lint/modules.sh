#!/usr/bin/env bash
# Who may include what, and what a module must not do.  docs/architecture.md draws it; modules_test.sh plants
# a violation of each rule in each module.
source "$(dirname "$0")/common.bash"

# FOLDER | our headers that it may name, by how they begin; OWN: those beside the file | what it must not do:
#   print  write to stdout or stderr     exit   end the process
#   world  open files, read the environment or a clock     rows  see rows of a trace
modules() {
	cat <<-'END'
		include             | roofline/ |
		collector           | roofline/ OWN |
		try                 | roofline/runs.h roofline/trace_schema.h roofline/try.h OWN |
		workloads/ceilings  | roofline/ceilings.h cuda_check.cuh dynamic_library.cuh graph_capture.cuh nvshmem.cuh OWN |
		workloads           | roofline/ranks.h OWN |
		analyzer/base       | base/ | print exit
		analyzer/trace      | base/ trace/ roofline/ | print exit
		analyzer/analysis   | base/ trace/profile.h trace/samples.h trace/tables.h analysis/ roofline/metrics.h roofline/ceilings.h | print exit world rows
		analyzer/replay     | base/ trace/profile.h analysis/ replay/ roofline/ceilings.h | print exit world rows
		analyzer/techniques | base/ trace/profile.h analysis/ replay/ techniques/ roofline/metrics.h roofline/ceilings.h | print exit world rows
		analyzer/whatif     | base/ trace/profile.h analysis/ replay/ techniques/ whatif/ | print exit world rows
		analyzer/advice     | base/ trace/profile.h analysis/ replay/ techniques/ whatif/ advice/ roofline/metrics.h roofline/ceilings.h roofline/frameworks.h | print exit world rows
		analyzer/tune       | base/ trace/profile.h analysis/counters/occupancy.h tune/ | print exit
		analyzer/summary    | base/ trace/profile.h analysis/ summary/ | print exit rows
		analyzer/trial      | base/ trial/ roofline/try.h | print exit
		analyzer/output     | base/ trace/profile.h analysis/ whatif/ advice/ summary/ trial/ output/ roofline/metrics.h roofline/ceilings.h | exit rows
		analyzer/charts     | base/ trace/profile.h trace/samples.h analysis/ whatif/ advice/ tune/ output/points.h charts/ roofline/metrics.h roofline/ceilings.h | exit rows
		analyzer/html       | base/ trace/profile.h trace/samples.h analysis/ whatif/ advice/ output/outputs.h output/compare.h charts/timelines/raster.h charts/timelines/strip.h charts/timelines/chart_strips.h charts/chart_colors.h html/ | print exit rows
		analyzer/exchange/import | base/ trace/ exchange/import/ roofline/ | print exit
		analyzer/exchange/export | base/ trace/profile.h trace/samples.h analysis/ exchange/export/ | print exit rows
		analyzer/live       | base/ trace/ roofline/ live/ | print exit
		analyzer/cmd        | base/ trace/ analysis/ replay/ techniques/ whatif/ advice/ tune/ trial/ summary/ output/ charts/ html/ exchange/ live/ cmd/ roofline/ workloads/workloads.h |
		analyzer/main.c     | cmd/commands.h cmd/pager.h cmd/usage.h base/format.h |
	END
}

# table: the rows without spaces around the bars, read once
table=$(modules | sed -E 's/ *\| */|/g')

# folders WORD: the modules that must not do it
folders() {
	awk -F'|' -v word="$1" 'index(" " $3 " ", " " word " ") { print $1 }' <<<"$table"
}

# may_include FILE: of the module with the longest folder that FILE lies in
may_include() {
	awk -F'|' -v file="$1" '
		index(file "/", $1 "/") == 1 && length($1) > longest { longest = length($1); allowed = $2 }
		END { print allowed }' <<<"$table"
}

# is_allowed FILE HEADER RULE...: true when the header starts with a rule, or lies beside FILE (OWN)
is_allowed() {
	local file=$1 header=$2 rule
	shift 2
	[[ $header == */../* ]] && return 1 # a detour, which leads out of the folder that it begins with
	for rule; do
		case $rule in
		OWN) [ -e "${file%/*}/$header" ] && [[ $header != ../* ]] && return
			[[ $file == collector/* ]] && [ -e "collector/$header" ] && return ;;
		*) [[ $header == "$rule"* ]] && return ;;
		esac
	done
	return 1
}

# own_includes DIR...: lines 'file header' of our own headers, also those named with angle brackets;
# any leading ../ taken away
own_includes() {
	local ours='"[^"]+"|<((\.\./)*(analyzer|base|trace|analysis|replay|techniques|whatif|advice|tune|trial|summary|output|charts|html|exchange|live|cmd|roofline|workloads|collector)/[^>]+)>'
	grep -rHoE --include='*.[ch]' --include='*.cu' --include='*.cuh' \
		"^[[:space:]]*#[[:space:]]*include[[:space:]]*($ours)" "$@" 2>/dev/null |
		sed -E 's/^([^:]+):.*["<]([^">]+)[">].*/\1 \2/; s/ (\.\.\/)+/ /'
}

# outsiders DIR...: includes that the table does not allow
outsiders() {
	local file header
	local -A allowed=() # by folder
	own_includes "$@" | while read -r file header; do
		: "${allowed[${file%/*}]=$(may_include "$file")}"
		is_allowed "$file" "$header" ${allowed[${file%/*}]} ||
			echo "$file includes \"$header\"; it may: ${allowed[${file%/*}]}"
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

while IFS='|' read -r folder allowed _; do
	[ -e "$folder" ] || continue
	outsiders "$folder" | verdict "$folder includes only what its row of the table allows"
done <<<"$table"

# The table has a row for every folder, so that a new module cannot slip through unchecked.
sources '*.[ch]' '*.cu' '*.cuh' | grep -v '^tests/' | awk -F'|' '
	NR == FNR { modules[$1]; next }
	{ for (module in modules) if (index($0 "/", module "/") == 1) next
	  print $0 " lies in no module that tests/lint/modules.sh knows" }' <(echo "$table") - |
	verdict "every source file lies in a module"

angle_includes "$cuda_header" analyzer include | verdict "no CUDA header in analyzer/ and include/"
angle_includes 'cupti|generated_cuda' analyzer include workloads try |
	verdict "only the collector includes CUPTI's headers"
angle_includes '[^">]*(trace/reader|roofline/trace_schema)\.h' $(folders rows) |
	verdict "analyses, rules and outputs see the profile, never rows"
{ find analyzer collector -type l
  angle_includes '[^">]*\.c[">]' analyzer collector include; } 2>/dev/null |
	verdict "collector and analyzer share no .c file"

quiet='(v?printf|puts|putchar|perror|errx?|warnx?|error)[[:space:]]*\('
ends='(exit|_exit|_Exit|abort|quick_exit)[[:space:]]*\('
# base/child.c keeps a child quiet, and ends the child that it made, as trace/demangler.c does; nobody else ends a process.
calls "$quiet|\\b(stdout|stderr|STD(OUT|ERR)_FILENO)\\b" $(files_in $(folders print) | grep -vx analyzer/base/child.c) |
	verdict "below cmd/, output/ and charts/ nothing in the analyzer prints"
calls "$ends" $(files_in $(folders exit) | grep -vxE 'analyzer/(base/child|trace/demangler)[.]c') |
	verdict "below cmd/ nothing in the analyzer exits"
calls "\\b(fopen|open|opendir|getenv|time|clock_gettime)[[:space:]]*\\(" $(files_in $(folders world)) |
	verdict "analyses and rules are pure: no files, no environment, no clock"

# In somebody else's process: no end of it, nothing on stdout, no signal handler.  log.c alone writes to stderr.
# underscore_exit.c is called when the application ends itself.
calls "$ends" $(files_in collector | grep -vx collector/underscore_exit.c) | verdict "the collector never ends the application"
calls "(printf|puts|putchar|perror)[[:space:]]*\\(|\\bstdout\\b" $(files_in collector) |
	verdict "the collector never writes to stdout"
calls "\\bstderr\\b|STDERR_FILENO" $(files_in collector | grep -v '^collector/log\.') |
	verdict "only collector/log.c writes to stderr"
# sigaction(number, NULL, ...) asks what the program has.
calls "(signal|sigset|bsd_signal|sysv_signal|signalfd)[[:space:]]*\\(|sigaction[[:space:]]*\\([^,]*,[[:space:]]*[^N[:space:]]" $(files_in collector) |
	verdict "the collector installs no signal handler"
calls "$quiet|\\b(stdout|stderr)\\b|$ends" $(files_in try | grep -vx try/underscore_exit.c) |
	verdict "the library of try prints nothing and never ends the application"
finish
