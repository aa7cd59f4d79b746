# timeline.gp - one row per stream, kind of copy, NVTX depth, for samples of the hardware and for idle time.
#
# Reads spans (start end low high color label; in characters: cell row color letter; names of
# ranges in labels: cell row end label), rows (middle kind label second-line), and of samples areas
# (time y; one index each), peaks (time y color) and unsampled (start end low high); from, to, unit,
# origin, row_count, row_end, row_top[], row_bottom[], label_width, cell_count, area_count,
# area_color[], unsampled_count, chart_note, strip_note.

load plots.'/style.gp'

load plots.'/legend.gp'
row_height = is_text ? 1 : row_count > 16 ? 22 : 28
top = (is_text ? 2 : 70) + part_height
bottom = top + (is_text ? row_count + 1 : row_end * row_height)
legend_top = bottom + (is_text ? 2 : 58)
note_lines = (strlen(chart_note) > 0) + (strlen(strip_note) > 0)
height = legend_top + (legend_lines + note_lines) * line_height + (is_text ? 1 : 12)
left = is_text ? label_width + 2 : 24 + label_width + 1.5 * char_width
right = is_text ? left + cell_count : width - 28
load plots.'/open.gp'
note_number = 0
do for [text in '1 2'] {
	note_text = text eq '1' ? strip_note : chart_note
	note_text = fit(note_text, is_text ? width - 1 : width - 48)
	if (strlen(note_text) > 0) {
		set label 103+note_number at_left(note_text) at screen left_x,at_y(legend_top + (legend_lines + note_number + 0.5) * line_height) \
			left textcolor rgb quiet_color noenhanced
		note_number = note_number + 1
	}
}

set lmargin at screen at_x(left)
set rmargin at screen at_x(right)
set tmargin at screen at_y(top)
set bmargin at screen at_y(bottom)
set yrange [row_end:0]
unset ytics

if (is_text) {
	set xrange [from:to]
	set yrange [row_count:0]         # the last line is the axis
	set xtics nomirror tick_step(tick_room(tick_step(9)))
	set format x '%.10g '.unit       # a short part of a long recording needs the digits
	at_cell(cell) = from + cell * (to - from) / cell_count
	room(start, end) = int(end) - int(start) - 1
	plot rows using (from):($1 - 0.5):(stringcolumn(3)) with labels right offset -1,0 noenhanced notitle, \
	     spans using (at_cell($1)):2:(stringcolumn(4)):(palette[int($3)]) with labels center textcolor rgb variable noenhanced notitle, \
	     labels using (at_cell(int($1) + 1)):2:(fit(stringcolumn(4), room($1, $3))) with labels left noenhanced notitle
} else {
	set xrange [from:to]
	set xlabel sprintf('time from %s (%s)', origin, unit) textcolor rgb quiet_color offset 0,0.2
	set xtics nomirror offset 0,0.2
	set format x '%.10g'             # a short part of a long recording needs the digits
	set grid xtics back linetype 1 linewidth 1 linecolor rgb grid_color
	do for [i = 1:row_count] {
		set object i rectangle from graph 0,first row_top[i] to graph 1,first row_bottom[i] behind \
			fillcolor rgb 0xF5F5F5 fillstyle solid 1 noborder
	}
	pixels(start, end) = (end - start) / (to - from) * (right - left)
	# Narrow bars show no hatching, and a bar with its name on it needs none.
	is_plain(color, kind, start, end, label) = !is_hatched(int(color), kind) || pixels(start, end) < 6 \
		|| (strlen(label) > 0 && strlen(fit(label, pixels(start, end))) > 0)
	is_split(line) = strlen(line) > 0   # the name of such a row is above its middle
	plot for [i = 1:area_count] areas index i - 1 using 1:2 with filledcurves closed fillcolor rgb palette[area_color[i]] notitle, \
	     for [i = 1:area_count > 0] peaks using 1:2:(palette[int($3)]) with lines linewidth 0.7 linecolor rgb variable notitle, \
	     for [i = 1:unsampled_count > 0] unsampled using (($1 + $2) / 2):(($3 + $4) / 2):1:2:3:4 with boxxyerror fillcolor rgb 0xBDBDBD fillstyle pattern 4 noborder notitle, \
	     spans using (($1 + $2) / 2):(($3 + $4) / 2):1:2:3:4:(palette[int($5)]) with boxxyerror fillcolor rgb variable notitle, \
	     for [i = 1:5] spans using (is_plain($5, i, $1, $2, stringcolumn(6)) ? NaN : ($1 + $2) / 2):(($3 + $4) / 2):1:2:3:4:(hatch_color(int($5))) \
		with boxxyerror fillcolor rgb variable fillstyle transparent pattern hatch_pattern[i] noborder notitle, \
	     spans using (($1 + $2) / 2):(($3 + $4) / 2):(strlen(stringcolumn(6)) ? fit(stringcolumn(6), pixels($1, $2)) : ''):(ink[int($5)]) \
		with labels center textcolor rgb variable noenhanced notitle, \
	     rows using (from):($1 - 8.5 / row_height * is_split(stringcolumn(4))):(stringcolumn(3)) with labels right offset -1,0 textcolor rgb text_color noenhanced notitle, \
	     rows using (from):($1 + 8.5 / row_height):(stringcolumn(4)) with labels right offset -1,0 textcolor rgb quiet_color noenhanced notitle
}
