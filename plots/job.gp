# job.gp - all ranks of a job on one axis, their collectives joined; beside each rank its share of communication.
#
# Reads spans (start end low high color label; in characters: cell row color letter), rows (top bottom label, one a
# rank) and joins (time y is_end; a line a collective, drawn where has_joins); from, to, unit, row_count, row_end,
# label_width, cell_count, chart_note, ranks_note; of each rank, as shares of its time, share_wait[] of share_exposed[], and
# share_hidden[], their largest sum share_most, and share_text[]; communication_color, wait_color.

load plots.'/style.gp'

load plots.'/legend.gp'
row_height = is_text ? 1 : row_count > 8 ? 16 : 22
top = (is_text ? 2 : 96) + part_height
bottom = top + (is_text ? 2 * row_count + 1 : row_end * row_height)
legend_top = bottom + (is_text ? 2 : 64)
note_lines = (strlen(ranks_note) > 0) + (strlen(chart_note) > 0)
height = legend_top + (legend_lines + note_lines) * line_height + (is_text ? 1 : 12)
left = is_text ? label_width + 2 : 24 + label_width + 1.5 * char_width
right = is_text ? left + cell_count : width - 28 - 250
load plots.'/open.gp'
note_y(line) = at_y(legend_top + (legend_lines + line - 0.5) * line_height)
note_room = is_text ? width - 1 : width - 48
if (strlen(ranks_note) > 0) {
	set label 106 at_left(fit(ranks_note, note_room)) at screen left_x,note_y(1) left textcolor rgb quiet_color noenhanced
}
if (strlen(chart_note) > 0) {
	set label 103 at_left(fit(chart_note, note_room)) at screen left_x,note_y(note_lines) left textcolor rgb quiet_color noenhanced
}

# What no computation ran beside, and of that the waits; gray: what is hidden behind computation.
share_left = right + 24
share_room = width - 28 - share_left - 52
share_x(share) = share_left + share_room * (share_most > 0 ? share / share_most : 0)
share_y(i, ratio) = top + ((i - 1) * 2.3 + 0.35 + 1.3 * ratio) * row_height
if (!is_text) {
	set label 104 'exposed communication (gray: hidden)' at screen at_x(share_left),at_y(top - 14) left textcolor rgb quiet_color noenhanced
	set label 105 'of each rank, above: computation, below: communication' at screen at_x(left),at_y(top - 14) left textcolor rgb quiet_color noenhanced
	do for [i = 1:row_count] {
		set object 1000+3*i rectangle from screen at_x(share_left),at_y(share_y(i, 0)) to screen at_x(share_x(share_wait[i])),at_y(share_y(i, 1)) \
			fillcolor rgb palette[wait_color] fillstyle solid 1 noborder
		set object 1001+3*i rectangle from screen at_x(share_x(share_wait[i])),at_y(share_y(i, 0)) to screen at_x(share_x(share_exposed[i])),at_y(share_y(i, 1)) \
			fillcolor rgb palette[communication_color] fillstyle solid 1 noborder
		set object 1002+3*i rectangle from screen at_x(share_x(share_exposed[i])),at_y(share_y(i, 0)) \
			to screen at_x(share_x(share_exposed[i] + share_hidden[i])),at_y(share_y(i, 1)) fillcolor rgb grid_color fillstyle solid 1 noborder
		set label 400+i share_text[i] at screen at_x(share_x(share_exposed[i] + share_hidden[i]) + 6),at_y(share_y(i, 0.5)) \
			left textcolor rgb text_color noenhanced
	}
} else {
	do for [i = 1:row_count] {
		set label 400+i share_text[i].' exposed' at screen at_x(right + 2),at_y(top + 2 * i - 1.5) left noenhanced
	}
}

set lmargin at screen at_x(left)
set rmargin at screen at_x(right)
set tmargin at screen at_y(top)
set bmargin at screen at_y(bottom)
set xrange [from:to]
set yrange [row_end:0]
unset ytics
set xtics nomirror
set format x '%.10g'

if (is_text) {
	set yrange [2 * row_count:0]     # the last line is the axis
	set format x '%.10g '.unit
	set xtics tick_step(tick_room(tick_step(9)))
	at_cell(cell) = from + cell * (to - from) / cell_count
	plot rows using (from):(2 * $0):(stringcolumn(3)) with labels right offset -1,0 noenhanced notitle, \
	     spans using (at_cell($1)):2:(stringcolumn(4)):(palette[int($3)]) with labels center textcolor rgb variable noenhanced notitle
} else {
	set xlabel sprintf('time from the first GPU operation (%s)', unit) textcolor rgb quiet_color offset 0,0.9
	set xtics offset 0,0.2
	set grid xtics back linetype 1 linewidth 1 linecolor rgb grid_color
	plot rows using ((from + to) / 2):(($1 + $2) / 2):(from):(to):1:2 with boxxyerror fillcolor rgb 0xF5F5F5 notitle, \
	     spans using (($1 + $2) / 2):(($3 + $4) / 2):1:2:3:4:(palette[int($5)]) with boxxyerror fillcolor rgb variable notitle, \
	     for [i = 1:has_joins] joins using 1:2:($3 > 0 ? 0x8C8C8C : text_color) with lines linewidth 1 linecolor rgb variable notitle, \
	     rows using (from):(($1 + $2) / 2):(stringcolumn(3)) with labels right offset -1,0 textcolor rgb text_color noenhanced notitle
}
