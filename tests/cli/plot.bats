#!/usr/bin/env bats
# rooflinectl plot
load common

setup() {
	cd "$BATS_TEST_TMPDIR"
	export TMPDIR="$BATS_TEST_TMPDIR/tmp" COLUMNS=80
	mkdir "$TMPDIR"
	"$BUILD/tests/tools/make_trace" recording 5000
}

# Nothing is left in the folder for temporary files.
no_rubbish() {
	[ -z "$(ls -A "$TMPDIR")" ]
}

magic_of() { # FILE COUNT
	head -c "$2" "$1" | od -An -tx1 | tr -d ' \n'
}

@test "plot draws every chart it has data for as SVG in charts/ and the recording's name, and lists the paths" {
	needs_command gnuplot
	run --separate-stderr "$ROOFLINECTL" plot
	[ "$status" -eq 0 ]
	[ "$output" = "charts/recording/roofline-timeline.svg
charts/recording/roofline-gaps.svg
charts/recording/roofline-kernels.svg
charts/recording/roofline-launch_roofline.svg" ]
	for chart in timeline gaps kernels launch_roofline; do
		grep -q '<svg' "charts/recording/roofline-$chart.svg"
		grep -q '</svg>' "charts/recording/roofline-$chart.svg"
	done
	no_rubbish
}

@test "a chart without data is not drawn: what is missing and what records it is told, and an old picture goes" {
	needs_command gnuplot
	mkdir pictures
	echo old >pictures/roofline-roofline.svg
	run --separate-stderr "$ROOFLINECTL" plot recording -o pictures
	[ "$status" -eq 0 ]
	[ ! -e pictures/roofline-roofline.svg ]
	[ "$stderr" = "rooflinectl plot: roofline: not drawn: recording has no counters; record them with: rooflinectl record --counters -- PROGRAM
rooflinectl plot: atomics: not drawn: recording has no counters of atomics; record them with: rooflinectl record --counters=atomics -- PROGRAM" ]
	run --separate-stderr "$ROOFLINECTL" plot recording -o pictures atomics gaps # one that was named is missed
	[ "$status" -eq 1 ]
	[ "$output" = pictures/roofline-gaps.svg ]
	[[ "$stderr" == *"atomics: not drawn: "* ]]
}

@test "no recording's pictures take the place of another's" {
	needs_command gnuplot
	local away=$BATS_FILE_TMPDIR/away
	mkdir other "$away"
	"$BUILD/tests/tools/make_trace" other/recording 100
	"$BUILD/tests/tools/make_trace" "$away/recording" 100
	run --separate-stderr "$ROOFLINECTL" plot recording gaps
	[ "$output" = charts/recording/roofline-gaps.svg ]
	cp "$output" first.svg
	run --separate-stderr "$ROOFLINECTL" plot other/recording gaps
	[ "$output" = charts/other/recording/roofline-gaps.svg ]
	run --separate-stderr "$ROOFLINECTL" plot "$away/recording" gaps
	[ "$output" = "$(realpath "$away")/charts/recording/roofline-gaps.svg" ]
	(cd "$away" && "$ROOFLINECTL" plot recording gaps) # the same
	[ "$(find . "$away" -name '*.svg' | grep -c /away/)" -eq 1 ]
	cd other
	run --separate-stderr "$ROOFLINECTL" plot ../recording gaps
	[ "$output" = "${PWD%/other}/charts/recording/roofline-gaps.svg" ]
	[ ! -e charts ]
	run --separate-stderr "$ROOFLINECTL" plot "$PWD/recording" gaps # within the current folder
	[ "$output" = charts/recording/roofline-gaps.svg ]
	cd recording
	run --separate-stderr "$ROOFLINECTL" plot . gaps
	[ "$output" = charts/recording/roofline-gaps.svg ]
	cmp ../../first.svg ../../charts/recording/roofline-gaps.svg
	rm -r "$away"
	no_rubbish
}

@test "labels beside the rows begin within the picture, also those with the scale of a strip" {
	needs_command gnuplot
	local recording=$root/tests/recordings/dp_tokens.naive
	"$ROOFLINECTL" plot "$recording" timeline -o .
	python3 - "$(sed -n 's/^[[:space:]]*\([0-9, ]*\),$/\1,/p' "$root/analyzer/charts/text_width.c" | tr -d '\n')" <<-'END'
		import re, sys
		advances = [int(text) for text in sys.argv[1].strip(',').split(',')]
		text = open('roofline-timeline.svg').read()
		found = re.findall(r'translate\(([\d.]+),[\d.]+\)"[^>]*text-anchor="end">\s*<text>(?:<tspan[^>]*>)?([^<]*)', text)
		ends = {name.strip(): float(x) - 0.013 * sum(advances[ord(c) - 32] for c in name.strip()) for x, name in found}
		assert 'up to 59.9 GB/s' in ends or any(name.startswith('up to ') for name in ends), ends
		assert all(left > 20 for left in ends.values()), ends
	END
}

@test "causes that share a hatching stay apart in gray, also those of kernels, and the page has the same hatchings" {
	needs_command gnuplot
	gnuplot -e "format = 'svg'; columns = 80; chart_part = ''; text_ascii = 'a'; array advance[2]; plots = '$root/plots'" \
		-e "load '$root/plots/style.gp'" -e "print palette; print hatch" 2>colors.txt
	python3 - "$root/html/colors.js" <<-'END'
		import re, sys
		colors, hatches = (list(map(int, re.findall(r'-?\d+', line))) for line in open('colors.txt') if line.startswith('['))
		def lightness(color):
		    red, green, blue = (((color >> shift & 255) / 255) ** 2.2 for shift in (16, 8, 0))
		    return 116 * (0.2126 * red + 0.7152 * green + 0.0722 * blue) ** (1 / 3) - 16
		causes = range(26, 46)
		for some in (range(0, 9), causes):
		    for i in some:
		        for j in some:
		            if i < j and hatches[i] == hatches[j]:
		                assert abs(lightness(colors[i]) - lightness(colors[j])) > 14, (i, j)
		page = re.search(r'HATCHES = .*?idle: \[([\d, ]*)\]', open(sys.argv[1]).read(), re.S).group(1)
		assert [int(text) for text in page.split(',')] == [hatches[i] for i in causes]
	END
}

@test "plot --format png and pdf write what their names say, into the folder of -o" {
	needs_command gnuplot
	run "$ROOFLINECTL" plot recording -o pictures --format png
	[ "$status" -eq 0 ]
	run "$ROOFLINECTL" plot -o pictures --format pdf recording
	[ "$status" -eq 0 ]
	for chart in timeline gaps kernels launch_roofline; do
		[ "$(magic_of "pictures/roofline-$chart.png" 4)" = 89504e47 ]
		[ "$(magic_of "pictures/roofline-$chart.pdf" 5)" = 255044462d ]
	done
}

@test "plot draws only the charts that are named" {
	needs_command gnuplot
	run "$ROOFLINECTL" plot recording gaps
	[ "$status" -eq 0 ]
	[ "$output" = charts/recording/roofline-gaps.svg ]
	[ ! -e charts/recording/roofline-kernels.svg ]
	run "$ROOFLINECTL" plot -o . kernels
	[ "$output" = roofline-kernels.svg ]
}

@test "plot --format term fits the terminal and writes no file and no color into a pipe" {
	needs_command gnuplot
	for columns in 60 80 132; do
		COLUMNS=$columns run --separate-stderr "$ROOFLINECTL" plot --format term
		[ "$status" -eq 0 ]
		[[ "$output" == *"idle for "*"kernel time"* ]]
		[[ "$output" != *$'\033'* ]]
		[ "$(LC_ALL=C.UTF-8 wc -L <<<"$output")" -le "$columns" ]
	done
	[ -z "$(ls -d roofline-* charts 2>/dev/null)" ]
	no_rubbish
}

@test "in a terminal the figures of an axis and the entries of a legend stand apart, however many there are" {
	for chart in "timeline job" "timeline --from 390.1ms --to 391.2ms"; do
		COLUMNS=80 "$ROOFLINECTL" plot "$recordings/p2p_overlap.peer" $chart --format term | python3 -c '
import re, sys
lines = sys.stdin.read().split("\n")
axes = [(marks, figures) for marks, figures in zip(lines, lines[1:]) if re.fullmatch(r"[ +]*[+] +[ +]*[+] *", marks)]
assert axes
for marks, figures in axes:
    whole = re.findall(r"(?<!\S)-?[0-9.]+ [mun]?s(?!\S)", figures)
    assert len(whole) == marks.count("+") and "".join(whole).replace(" ", "") == figures.replace(" ", ""), figures'
	done
	COLUMNS=80 "$ROOFLINECTL" plot "$recordings/torch_train" timeline --format term >shown
	grep -q '^  B sm80.*  C cutlass' shown
	grep -q '^causes of idle time: H host compute  P profiler  C module load  L launch$' shown
}

@test "in a picture no roof strikes through a label: each has ground of its own" {
	"$ROOFLINECTL" plot "$recordings/torch_train" roofline -o .
	python3 - <<-'END'
		import re
		text = open("roofline-roofline.svg").read()
		boxes = [[tuple(map(float, point.split(","))) for point in points.split()] for points in re.findall(
		    r"polygon fill = 'rgb\(255, 255, 255\)' points = '([^']*)'", text)]
		labels = re.findall(r'translate\(([0-9.]+),([0-9.]+)\)"[^>]*rgb\(26,26,26\)[^>]*font-size="13.00"[^>]*anchor="start">\s*<text>([^<]*)%', text)
		assert len(labels) >= 10
		for x, y, label in labels:
		    assert any(box[0][0] <= float(x) <= box[1][0] and box[2][1] < float(y) < box[0][1] + 1 for box in boxes), label
	END
}

@test "plot --format term has color on a terminal, unless NO_COLOR is set" {
	needs_command gnuplot
	needs_terminal
	run script -qec "$ROOFLINECTL plot --format term timeline" /dev/null
	[ "$status" -eq 0 ]
	[[ "$output" == *$'\033[38;2;'* ]]
	NO_COLOR=1 run script -qec "$ROOFLINECTL plot --format term timeline" /dev/null
	[ "$status" -eq 0 ]
	[[ "$output" == *"idle for "* ]]
	[[ "$output" != *$'\033'* ]]
}

@test "plot --from and --to draw a part of the timeline" {
	needs_command gnuplot
	run "$ROOFLINECTL" plot --from 0.1 --to 0.3 --format term timeline
	[ "$status" -eq 0 ]
	[[ "${lines[0]}" == *"of 200 us; largest cause "* ]]
	[[ "$output" == *"100 us"*"300 us"* ]]
}

@test "plot shows samples of the GPU under the kernels, and hatches what was not sampled" {
	needs_command gnuplot
	"$BUILD/tests/tools/make_trace" sampled 5000 5000 2
	for format in svg png pdf; do
		run "$ROOFLINECTL" plot sampled -o . --format "$format" timeline
		[ "$status" -eq 0 ]
		[ "$output" = "roofline-timeline.$format" ]
	done
	for text in "GPU 0 SM activity" "0 to 100%" "GPU 1 DRAM" "of 3.35 TB/s" "GPU 1 NVLink out" \
		"tensor cores active" "hatched: not sampled (10.0% of the time)"; do
		grep -qF "$text" roofline-timeline.svg
	done
	! grep -qF "GPU 0 NVLink" roofline-timeline.svg # it has no links
	run "$ROOFLINECTL" plot recording -o . timeline
	[ "$status" -eq 0 ]
	! grep -qE "SM activity|not sampled" roofline-timeline.svg
}

@test "plot --format term draws samples as blocks" {
	needs_command gnuplot
	"$BUILD/tests/tools/make_trace" sampled 5000 5000
	run "$ROOFLINECTL" plot sampled --format term timeline
	[ "$status" -eq 0 ]
	[[ "$output" == *"SM activity 100% ▄▄▄"*"/////▄"* ]]
	[[ "$output" == *"/: not sampled (10.0% of the time)"* ]]
	[ "$(LC_ALL=C.UTF-8 wc -L <<<"$output")" -le 80 ]
}

@test "plot refuses a part that lies after the end, and one that ends before it begins" {
	run "$ROOFLINECTL" plot --from 1e9 timeline
	[ "$status" -eq 1 ]
	[[ "$output" == *"--from lies after the end"* ]]
	run "$ROOFLINECTL" plot --from 3 --to 2
	[ "$status" -eq 2 ]
	run "$ROOFLINECTL" plot --to soon
	[ "$status" -eq 2 ]
	[[ "$output" == *"wants a time such as 12ms or 1.5s, or a number of milliseconds, not 'soon'"* ]]
}

@test "plot of a range or a time, without a chart's name, draws the timeline only" {
	needs_command gnuplot
	for part in --range=step:3 --from=3 --to=4ms; do
		run "$ROOFLINECTL" plot "$part" -o "part$part"
		[ "$status" -eq 0 ]
		[[ "$output" == "part$part/roofline-timeline-"*.svg && -s "$output" ]]
		[ "${#lines[@]}" -eq 1 ]
	done
}

@test "the legend has every cause that is drawn, also one that is in the margin around a range alone" {
	needs_command gnuplot
	"$ROOFLINECTL" report "$recordings/pytorch.graph" --range run -s gaps -f json >report.json
	run ! grep -q '"host_decision": [1-9]' report.json
	"$ROOFLINECTL" plot "$recordings/pytorch.graph" timeline --range run -o .
	grep -qF "<text>host decision</text>" roofline-timeline-range-run.svg
}

@test "charts that are not over time are drawn of the part that is asked for, as a report of it, and say so" {
	needs_command gnuplot
	local graph_chain=$recordings/graph_chain.naive
	run "$ROOFLINECTL" plot "$graph_chain" kernels gaps launch_roofline --range iteration:7 -f term
	[ "$status" -eq 0 ]
	[[ "$output" == *"3 runs of 3 kernels;"*"idle in 3 gaps"* || "$output" == *"idle in 3 gaps"*"3 runs of 3 kernels;"* ]]
	[ "$(grep -c '^3 of 604 operations, by --range iteration:7 (iteration 7 of 198, ' <<<"$output")" -eq 3 ]
	for part in "--from 1ms --to 2ms" "--range run"; do
		# shellcheck disable=SC2086
		"$ROOFLINECTL" report "$graph_chain" $part -s kernels -f json >report.json
		# shellcheck disable=SC2086
		run "$ROOFLINECTL" plot "$graph_chain" kernels $part -f term
		[[ "${lines[1]}" == "$(python3 -c "import json; print(sum(k['count'] for k in json.load(open('report.json'))['kernels']))") runs of "* ]]
	done
	"$ROOFLINECTL" plot "$graph_chain" gaps timeline --range run -o .
	grep -qF "301 of 604 operations, by --range run, from 3.012208ms to 5.753689ms after the first" roofline-gaps-range-run.svg
	run ! grep -qF "301 of 604 operations" roofline-timeline-range-run.svg # it shows what runs around it, too
	"$ROOFLINECTL" plot "$graph_chain" gaps -o whole
	run ! grep -qF "of 604 operations" whole/roofline-gaps.svg
	run "$ROOFLINECTL" plot "$graph_chain" kernels -o . --from 2.81ms --to 2.89ms
	[ "$status" -eq 1 ]
	[[ "$output" == *"kernels: not drawn: no kernel of "*" (of a part: 0 of 604 operations, "* ]]
	run "$ROOFLINECTL" plot "$graph_chain" timeline kernels --skip-first 600 --format term
	[ "$(grep -c '^4 of 604 operations, by --skip-first, ' <<<"$output")" -eq 2 ]
}

# refused TEXT ARGUMENT...: wrong usage, in one line with that text
refused() {
	local text=$1
	shift
	run "$ROOFLINECTL" plot "$@"
	[ "$status" -eq 2 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ "$output" == "rooflinectl plot: "*"$text"* ]] || { echo "$output" && return 1; }
}

@test "a part of which a chart cannot be is refused in one line" {
	refused "the chart whatif chooses iterations, not a time" recording whatif --overlap --from 1ms
	refused "the chart tune is of no recording, so it has no part" tune . --range step
	refused "the chart tune is of no recording, so it has no part" tune . --kernels saxpy
	refused "no NVTX range and no kernel of recording is called 'stop'" recording kernels --range stop
	refused "--range is given twice, 'step:1' and 'step:2'" recording kernels --range step:1 --range step:2
	"$ROOFLINECTL" pack recording -o packed
	run "$ROOFLINECTL" plot - timeline kernels --range step:1 <packed
	[ "$status" -eq 2 ]
	[[ "$output" == *"stdin is read once: draw them apart" ]]
	needs_command gnuplot
	run "$ROOFLINECTL" plot - kernels --range step:1 -o . <packed
	[ "$output" = roofline-kernels-range-step.1.svg ]
}

@test "the picture of a part does not take the place of another's, nor of that of the whole, and has a name without surprises" {
	needs_command gnuplot
	local graph_chain=$recordings/graph_chain.naive
	for part in "" "--range=iteration:7" "--range=iteration:8" "--range=run" "--from=1ms --to=2ms" "--from=1ms" \
		"--kernels=mix|shift" "--kernels=mix.shift|mix" "--stream=13" "--kernels=step_kernel.*(mix|shift|/../|scale|none|nothing|nobody|nowhere|never)"; do
		# shellcheck disable=SC2086
		"$ROOFLINECTL" plot "$graph_chain" kernels $part -o . >>paths
	done
	[ "$(sort -u paths | wc -l)" -eq 10 ]
	[ "$(sed -n '1,6p;9p' paths | tr '\n' ' ')" = "roofline-kernels.svg roofline-kernels-range-iteration.7.svg \
roofline-kernels-range-iteration.8.svg roofline-kernels-range-run.svg roofline-kernels-from-1ms+to-2ms.svg \
roofline-kernels-from-1ms.svg roofline-kernels-stream-13.svg " ]
	run ! grep -vE '^roofline-kernels[A-Za-z0-9_.+-]{0,90}[.]svg$' paths
}

@test "-o makes the folders above its own, and tells what to do where it cannot" {
	needs_command gnuplot
	run "$ROOFLINECTL" plot recording kernels -o a/b/c
	[ "$status" -eq 0 ]
	[ "$output" = a/b/c/roofline-kernels.svg ]
	run "$ROOFLINECTL" plot recording kernels -o "$PWD/d/e"
	[ "$output" = "$PWD/d/e/roofline-kernels.svg" ]
	touch file
	run "$ROOFLINECTL" plot recording kernels -o file/b
	[ "$status" -eq 1 ]
	[ "$output" = "rooflinectl plot: file/b: cannot make the folder: Not a directory; choose another with -o DIR" ]
}

@test "kernels are called in a chart as in the report, with the functor that tells them apart" {
	needs_command gnuplot
	"$ROOFLINECTL" plot "$recordings/pytorch.compile" kernels launch_roofline -o .
	"$ROOFLINECTL" report "$recordings/pytorch.compile" -s kernels --top 20 >report.txt
	for name in "vectorized_elementwise_kernel<4, FillFunctor<int>>" "vectorized_elementwise_kernel<4, FillFunctor<float>>" \
		"triton_poi_fused_add_addmm_copy__frac_relu_3"; do
		grep -qF "$name" report.txt
		grep -qF ">${name//</\&lt;}<" roofline-kernels.svg
	done
	grep -qF "87.4% in vectorized_elementwise_kernel&lt;4, FillFunctor&lt;int>>" roofline-kernels.svg
	grep -qF "most idle time after vectorized_elementwise_kernel&lt;4, FillFunctor&lt;int>>, " roofline-launch_roofline.svg
	grep -qF ">vectorized_elementwise_kernel&lt;4, FillFunctor&lt;int>>, 55.1 ms idle<" roofline-launch_roofline.svg
	COLUMNS=80 "$ROOFLINECTL" plot "$recordings/pytorch.compile" kernels -f term >shown
	grep -qF "vecto...<FillFunctor<int>> #" shown
	grep -qF "vect...<FillFunctor<long>>" shown
}

@test "an inner NVTX range's row has no tab before it" {
	needs_command gnuplot
	run "$ROOFLINECTL" plot "$recordings/graph_chain.naive" timeline --format term --range check
	[[ "$output" == *NVTX*==check* && "$output" != *$'\t'* ]]
}

@test "plot --range zooms to the N-th NVTX range of a name, or to a kernel" {
	needs_command gnuplot
	run "$ROOFLINECTL" plot --range=step:3 --format term timeline
	[ "$status" -eq 0 ]
	[[ "${lines[1]}" == *"step, 3 of 5, at 6."*" ms; idle: "* ]]
	[[ "$output" == *"NVTX"*"step"* ]]
	run "$ROOFLINECTL" plot --range=saxpy:2 --format term timeline
	[ "$status" -eq 0 ]
	[[ "${lines[1]}" == *"saxpy, 2 of 1,250"* ]]
	[[ "${lines[0]}" == *"of 1."*" us"* || "${lines[0]}" == *"of 2."*" us"* ]]
}

@test "plot --range says what to do when there is no such thing, or not so many, or a window too" {
	run "$ROOFLINECTL" plot recording --range=stop
	[ "$status" -eq 2 ]
	[ "$output" = "rooflinectl plot: no NVTX range and no kernel of recording is called 'stop'; they are listed by: rooflinectl report recording --section ranges, and --section kernels" ]
	run "$ROOFLINECTL" plot recording --range=step:6
	[ "$status" -eq 2 ]
	[ "$output" = "rooflinectl plot: the NVTX range 'step' occurs 5 times: N in NAME:N is 1 to 5, not 6" ]
	for window in --from=0 --to=3; do
		run "$ROOFLINECTL" plot --range=step "$window"
		[ "$status" -eq 2 ]
		[[ "$output" == *"--range and --from or --to both say what to show; give one"* ]]
	done
	run "$ROOFLINECTL" plot --range=
	[ "$status" -eq 2 ]
	[ -z "$(ls -d roofline-* charts 2>/dev/null)" ]
}

recordings="$root/tests/recordings"

@test "plot whatif shows iterations before and after, the recording before or after the chart's name" {
	needs_command gnuplot
	export XDG_DATA_HOME=$BATS_TEST_TMPDIR/data # not with what this user measured
	run "$ROOFLINECTL" plot whatif "$recordings/graph_chain.naive" -o . --graph
	[ "$status" -eq 0 ]
	[ "$output" = roofline-whatif.svg ]
	grep -qE "cuda_graph: the whole run would be [345]\.[0-9]{2}x as fast" roofline-whatif.svg
	for text in "recorded: 8 iterations in" \
		"re-simulated with cuda_graph: the same 8 iterations in" "launch of a graph" "us saved" \
		"The recording overhead is removed from both sides"; do
		grep -qF "$text" roofline-whatif.svg
	done
	for format in png pdf; do
		run "$ROOFLINECTL" plot --overlap --pinned "$recordings/copy_overlap.naive" whatif -o . --format "$format"
		[ "$status" -eq 0 ]
		[ "$output" = "roofline-whatif.$format" ]
	done
	no_rubbish
}

@test "plot whatif in the terminal has kernels closer together after than before" {
	needs_command gnuplot
	export XDG_DATA_HOME=$BATS_TEST_TMPDIR/data
	run "$ROOFLINECTL" plot whatif "$recordings/copy_overlap.naive" --overlap --format term
	[ "$status" -eq 0 ]
	[ "$(LC_ALL=C.UTF-8 wc -L <<<"$output")" -le 80 ]
	# copies and kernels take turns, and then run side by side: the same eight in a seventh of the time
	[ "$(grep -c 'stream' <<<"$output")" -eq 2 ]
	mapfile -t copies < <(grep 'copy HtoD' <<<"$output")
	[ "$(tr -cd '>' <<<"${copies[0]}" | wc -c)" -gt 20 ]
	[[ "${copies[0]}" == *">  "*">  "*">  "* ]]
	[[ "${copies[1]}" != *">  "*">"* ]]
	[ "${#copies[1]}" -lt $((${#copies[0]} / 2)) ]
	[ -z "$(ls -d roofline-* charts 2>/dev/null)" ]
	no_rubbish
}

@test "plot whatif --range shows what changes there, and says where nothing does" {
	needs_command gnuplot
	export XDG_DATA_HOME=$BATS_TEST_TMPDIR/data
	run "$ROOFLINECTL" plot whatif "$recordings/graph_chain.naive" --graph --range run --format term
	[ "$status" -eq 0 ]
	[[ "${lines[0]}" =~ ^'cuda_graph: the range run would be '[3456]\.[0-9]{2}'x as fast ('[2-5]\.[0-9]{2}'x to '[4-9]\.[0-9]{2}'x)' ]]
	[[ "${lines[1]}" == *"at 2."*" ms" ]]
	run "$ROOFLINECTL" plot whatif "$recordings/graph_chain.naive" --graph --range prepare --format term
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "nothing would change in the range prepare" ]
	run "$ROOFLINECTL" plot whatif "$recordings/copy_overlap.naive" --overlap --range update_kernel
	[ "$status" -eq 1 ]
	[ "$output" = "rooflinectl plot: --range: 'update_kernel' is a kernel; whatif takes NVTX ranges" ]
}

@test "plot whatif shows iterations that change in a strategy's range" {
	needs_command gnuplot
	export XDG_DATA_HOME=$BATS_TEST_TMPDIR/data
	run "$ROOFLINECTL" plot whatif "$recordings/graph_chain.naive" --graph=run --format term
	[ "$status" -eq 0 ]
	[[ "${lines[0]}" =~ ^'cuda_graph in run: the whole run would be 1.'[3-9] ]]
	[[ "${lines[1]}" == *"at 2."*" ms" ]] # behind the warm-up
	run "$ROOFLINECTL" plot whatif "$recordings/graph_chain.naive" --graph=nosuch
	[ "$status" -eq 2 ]
	[[ "$output" == "rooflinectl plot: "*" has no NVTX range 'nosuch'; it has: prepare, naive, warm-up, check, run" ]]
	[ -z "$(ls -d roofline-* charts 2>/dev/null)" ]
}

@test "plot whatif says how a range after a space is written" {
	for arguments in "$recordings/graph_chain.naive --graph run" "--graph run $recordings/graph_chain.naive"; do
		run "$ROOFLINECTL" plot whatif $arguments
		[ "$status" -eq 2 ]
		[ "${#lines[@]}" -eq 1 ]
		[[ "$output" == *"'run' is neither a recording nor a chart "*"; for a range write --graph=run; see "* ]]
	done
	mkdir run # which is then taken for a recording
	run "$ROOFLINECTL" plot --graph whatif nosuch
	[ "$status" -eq 2 ]
	[[ "$output" != *"for a range"* ]]
}

@test "plot whatif says why nothing would change, and why nothing can be predicted" {
	needs_command gnuplot
	export XDG_DATA_HOME=$BATS_TEST_TMPDIR/data
	run "$ROOFLINECTL" plot whatif "$recordings/device_graph.tail" --graph --decide --format term
	[ "$status" -eq 0 ]
	[ "$output" = "nothing would change
cuda_graph: the device launches work itself, which is not in the trace
device_decision: the host reads nothing small before it launches what follows" ]
	run "$ROOFLINECTL" plot whatif "$recordings/device_graph.tail" -o . --graph
	[ "$status" -eq 0 ]
	grep -qF "nothing would change" roofline-whatif.svg
	grep -qF "cuda_graph: the device launches work itself" roofline-whatif.svg
	run "$ROOFLINECTL" plot whatif "$recordings/dp_tiny.device" --graph -o new
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ "$output" == *"no prediction: replaying it gives a time "*"% off the recorded one; above 3% nothing is predicted" ]]
	[ ! -e new ]
}

@test "plot whatif wants strategies, and strategies want it" {
	run "$ROOFLINECTL" plot whatif recording
	[ "$status" -eq 2 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ "$output" == *"which technique? there are --graph, --fewer-waits, --decide, --device-launch, --update"* ]]
	for chart in "" timeline; do
		run "$ROOFLINECTL" plot recording $chart --overlap
		[ "$status" -eq 2 ]
		[ "${#lines[@]}" -eq 1 ]
		[[ "$output" == "rooflinectl plot: --overlap is for the chart whatif: name it, too"* ]]
	done
	run "$ROOFLINECTL" plot whatif recording ./recording --graph
	[ "$status" -eq 2 ]
	[ -z "$(ls -d roofline-* charts 2>/dev/null)" ]
}

@test "plot names a chart that does not exist, and those that do" {
	run "$ROOFLINECTL" plot recording roofs
	[ "$status" -eq 2 ]
	[[ "$output" == *"'roofs' is neither a recording nor a chart (timeline, gaps, kernels, roofline, launch_roofline, atomics, job, message_sizes, whatif, tune)"* ]]
	run "$ROOFLINECTL" plot roofs
	[ "$status" -eq 2 ]
	run "$ROOFLINECTL" plot --format jpg
	[ "$status" -eq 2 ]
	[[ "$output" == *"none of svg, png, pdf, term"* ]]
}

@test "plot says when there is no recording" {
	run "$ROOFLINECTL" plot ./nothing-here
	[ "$status" -eq 1 ]
	[[ "$output" == *"nothing-here"* ]]
	mkdir empty && cd empty
	run "$ROOFLINECTL" plot
	[ "$status" -eq 1 ]
	[[ "$output" == *"rooflinectl record"* ]]
}

@test "plot without gnuplot names the package to install" {
	PATH="$TMPDIR" run "$ROOFLINECTL" plot -o . gaps
	[ "$status" -eq 1 ]
	[ "$output" = "rooflinectl plot: gnuplot is not installed; fix: apt-get install gnuplot-nox" ]
	[ ! -e roofline-gaps.svg ]
	[ -z "$(/bin/ls -A "$TMPDIR")" ]
}

@test "plot passes on what gnuplot complained about and leaves no broken picture" {
	mkdir bin
	printf '#!/bin/sh\necho "line 1: cannot open the output" >&2\nexit 1\n' >bin/gnuplot
	chmod +x bin/gnuplot
	PATH="$PWD/bin:$PATH" run "$ROOFLINECTL" plot -o . gaps
	[ "$status" -eq 1 ]
	[ "$output" = "rooflinectl plot: gnuplot could not draw gaps: line 1: cannot open the output" ]
	[ ! -e roofline-gaps.svg ]
	no_rubbish
}

@test "plot says when it cannot write the picture" {
	needs_command gnuplot
	: >file
	run "$ROOFLINECTL" plot -o file gaps
	[ "$status" -eq 1 ]
	[[ "$output" == *"file/roofline-gaps.svg: cannot be written"* ]]
}

draw_hostile() {
	run "$ROOFLINECTL" plot single -o .
	[ "$status" -eq 0 ]
	for chart in timeline kernels launch_roofline; do
		tail -n 3 "roofline-$chart.svg" | grep -q '</svg>'
	done
	run "$ROOFLINECTL" plot single --format term
	[ "$status" -eq 0 ]
	[ ! -e owned ]
}

@test "plot draws a recording with a single kernel and hostile names" {
	needs_command gnuplot
	"$BUILD/tests/tools/make_trace" single 1
	for name in "it's \`touch owned\`" "\$(touch owned)" '""{a_b}^\\n %d;#@""'; do
		sed -i "2,\$s|,.*|,\"${name//\\/\\\\}\"|" single/*/names.csv
		grep -qF "$name" single/*/names.csv
		draw_hostile
	done
}

@test "plot --help lists the charts" {
	run "$ROOFLINECTL" plot --help
	[ "$status" -eq 0 ]
	[[ "$output" == *"--format"*"timeline"*"gaps"*"kernels"* ]]
}

@test "a part of the recording is drawn, and what it would be with a change only of all that ran" {
	local recording=$root/tests/recordings/graph_chain.naive
	run -0 "$ROOFLINECTL" plot "$recording" kernels -f term --kernels mix
	[[ "$output" == *mix* && "$output" != *scale* ]]
	run -0 "$ROOFLINECTL" plot "$recording" timeline -f term --from 1ms --to 1.1ms
	run -2 "$ROOFLINECTL" plot "$recording" --stream 99
	[[ "$output" == *"none of its 604 operations is left by --stream 99"* ]]
	run -2 "$ROOFLINECTL" plot "$recording" whatif --graph --kernels mix
	[[ "$output" == *"the chart whatif is about all that ran"* ]]
}
