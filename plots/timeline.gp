# timeline.gp - one row per stream, kind of copy, NVTX depth and for idle time.
#
# Reads spans (start end low high colour label; in characters: cell row colour
# letter; names of ranges in labels: cell row end label) and rows (row kind label); from, to, unit, origin, row_count, label_width,
# cell_count, chart_note.

load plots.'/style.gp'

load plots.'/legend.gp'
row_height = is_text ? 1 : row_count > 16 ? 22 : 28
top = is_text ? 2 : 70
bottom = top + (is_text ? row_count + 1 : row_count * row_height)
legend_top = bottom + (is_text ? 2 : 58)
note_lines = strlen(chart_note) > 0
height = legend_top + (legend_lines + note_lines) * line_height + (is_text ? 1 : 12)
left = is_text ? label_width + 2 : 24 + (label_width + 1.5) * char_width
right = is_text ? left + cell_count : width - 28
load plots.'/open.gp'
if (note_lines) {
	set label 103 chart_note at screen at_x(is_text ? 0 : 24),at_y(legend_top + (legend_lines + 0.5) * line_height) \
		left textcolor rgb quiet_colour noenhanced
}

set lmargin at screen at_x(left)
set rmargin at screen at_x(right)
set tmargin at screen at_y(top)
set bmargin at screen at_y(bottom)
set yrange [row_count:0]
unset ytics

if (is_text) {
	set xrange [from:to]
	set yrange [row_count:0]         # the last line is the axis
	set xtics nomirror
	set format x '%.10g '.unit       # a short part of a long recording needs the digits
	at_cell(cell) = from + cell * (to - from) / cell_count
	room(start, end) = int(end) - int(start) - 1
	plot rows using (from):1:(stringcolumn(3)) with labels right offset -1,0 noenhanced notitle, \
	     spans using (at_cell($1)):2:(stringcolumn(4)):(palette[int($3)]) with labels center textcolor rgb variable noenhanced notitle, \
	     labels using (at_cell(int($1) + 1)):2:(fit(stringcolumn(4), room($1, $3))) with labels left noenhanced notitle
} else {
	set xrange [from:to]
	set xlabel sprintf('time from %s (%s)', origin, unit) textcolor rgb quiet_colour offset 0,0.2
	set xtics nomirror offset 0,0.2
	set format x '%.10g'             # a short part of a long recording needs the digits
	set grid xtics back linetype 1 linewidth 1 linecolor rgb grid_colour
	do for [i = 1:row_count] {
		set object i rectangle from graph 0,first i - 0.9 to graph 1,first i - 0.1 behind \
			fillcolor rgb 0xF5F5F5 fillstyle solid 1 noborder
	}
	pixels(start, end) = (end - start) / (to - from) * (right - left)
	plot spans using (($1 + $2) / 2):(($3 + $4) / 2):1:2:3:4:(palette[int($5)]) with boxxyerror fillcolor rgb variable notitle, \
	     spans using (($1 + $2) / 2):(($3 + $4) / 2):(strlen(stringcolumn(6)) ? fit(stringcolumn(6), pixels($1, $2)) : ''):(ink[int($5)]) \
		with labels center textcolor rgb variable noenhanced notitle, \
	     rows using (from):($1 + 0.5):(stringcolumn(3)) with labels right offset -1,0 textcolor rgb text_colour noenhanced notitle
}
