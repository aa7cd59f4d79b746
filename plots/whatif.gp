# whatif.gp - the same iterations as recorded and re-simulated, on one axis; below, the whole run.
#
# Reads spans (start end low high color label; in characters: cell row color letter), heads (top
# end bottom heading) and rows (middle label) of both halves; to, unit, row_end, label_width,
# cell_count, chart_note, height_note; saved (a text) from saved_from to saved_to at saved_y; of the
# whole run, before and after, as shares of the longer one, run_end[], run_from[] and run_to[] (what
# is shown), run_low and run_high of the one after, run_before and run_after (what it takes).  With a row_end of 0 nothing changes, and reason[], so many
# as reason_count, give the reason.

load plots.'/style.gp'

load plots.'/legend.gp'
row_height = is_text ? 1 : row_end > 24 ? 22 : 28
top = (is_text ? 2 : 70) + part_height
bottom = top + row_end * row_height + is_text
runs_top = bottom + (is_text ? 2 : 88)
run_height = is_text ? 1 : 22
if (row_end == 0) { part_y = is_text ? 1.5 : 48 }   # reasons stand in place of the second title
legend_top = row_end > 0 ? runs_top + 2 * run_height + (is_text ? 1 : 18) : (is_text ? 1 : 42) + part_height + reason_count * line_height
note_lines = row_end > 0 ? (strlen(chart_note) > 0) + (strlen(height_note) > 0) : 0
height = legend_top + (legend_lines + note_lines) * line_height + (is_text ? 1 : 12)
left = row_end == 0 ? 0 : is_text ? label_width + 2 : 24 + label_width + 1.5 * char_width
right = row_end == 0 ? width : is_text ? left + cell_count : width - 28
load plots.'/open.gp'

if (row_end == 0) {
	do for [i = 1:reason_count] {
		reason_text = fit(reason[i], is_text ? width - 1 : width - 48)
		set label 400+i at_left(reason_text) at screen left_x,at_y((is_text ? 0.5 : 28) + part_height + i * line_height) left textcolor rgb quiet_color noenhanced
	}
	unset xtics
	unset ytics
	set xrange [0:1]
	set yrange [0:1]
	plot NaN notitle
	exit
}

note_number = 0
do for [text in '1 2'] {
	note_text = text eq '1' ? chart_note : height_note
	note_text = fit(note_text, is_text ? width - 1 : width - 48)
	if (strlen(note_text) > 0) {
		set label 103+note_number at_left(note_text) at screen left_x,at_y(legend_top + (legend_lines + note_number + 0.5) * line_height) \
			left textcolor rgb quiet_color noenhanced
		note_number = note_number + 1
	}
}

# The whole run: two bars, in each of them the part that is shown above.
runs_head = is_text ? 'the whole run' : 'the whole run; dark: the part shown above'
set label 110 runs_head at screen at_x(left),at_y(runs_top - (is_text ? 0.5 : 10)) \
	left textcolor rgb text_color noenhanced
run_room = text_width(run_after) + 16
run_x(share) = left + share * (right - left - run_room)
run_y(i, ratio) = runs_top + (i - ratio) * run_height
do for [i = 1:2] {
	run_text = i == 1 ? run_before : run_after
	run_label = i == 1 ? 'recorded' : 're-simulated'
	set label 110+i run_label at screen at_x(left - char_width),at_y(run_y(i, 0.5)) right textcolor rgb text_color noenhanced
	if (is_text) {
		run_cells = int((right - left - 2 - strlen(run_after)) * run_end[i] + 0.5)
		set label 120+i rep('#', run_cells).' '.run_text at screen at_x(left),at_y(run_y(i, 0.5)) left noenhanced
	} else {
		set object 110+i rectangle from screen at_x(left),at_y(run_y(i, 0.12)) to screen at_x(run_x(run_end[i])),at_y(run_y(i, 0.88)) \
			fillcolor rgb 0xC9D6E2 fillstyle solid 1 noborder
		shown_width = run_x(run_to[i]) - run_x(run_from[i])
		set object 120+i rectangle from screen at_x(run_x(run_from[i])),at_y(run_y(i, 0.12)) \
			to screen at_x(run_x(run_from[i]) + (shown_width < 2 ? 2 : shown_width)),at_y(run_y(i, 0.88)) \
			fillcolor rgb 0x3B5B7A fillstyle solid 1 noborder
		set label 120+i run_text at screen at_x(run_x(i == 1 ? run_end[i] : run_high) + 8),at_y(run_y(i, 0.5)) \
			left textcolor rgb text_color noenhanced
	}
}
if (!is_text) {
	set arrow 101 from screen at_x(run_x(run_low)),at_y(run_y(2, 0.5)) to screen at_x(run_x(run_high)),at_y(run_y(2, 0.5)) \
		nohead linewidth 1.5 linecolor rgb text_color front
}

set lmargin at screen at_x(left)
set rmargin at screen at_x(right)
set tmargin at screen at_y(top)
set bmargin at screen at_y(bottom)
set xrange [0:to]
set yrange [row_end:0]
unset ytics
set xtics nomirror

if (is_text) {
	from = 0
	set format x '%.10g '.unit
	set xtics tick_step(tick_room(tick_step(9)))
	at_cell(cell) = cell * to / cell_count
	plot heads using (0):1:(fit(stringcolumn(4), cell_count)) with labels left noenhanced notitle, \
	     rows using (0):($1 - 0.5):(stringcolumn(2)) with labels right offset -1,0 noenhanced notitle, \
	     spans using (at_cell($1)):2:(stringcolumn(4)):(palette[int($3)]) with labels center textcolor rgb variable noenhanced notitle
} else {
	set xlabel sprintf('time from the first call of what is shown (%s)', unit) textcolor rgb quiet_color offset 0,0.2
	set xtics offset 0,0.2
	set format x '%.10g'
	set grid xtics back linetype 1 linewidth 1 linecolor rgb grid_color
	pixels(start, end) = (end - start) / to * (right - left)
	# Narrow bars show no hatching, and a bar with its name on it needs none.
	is_plain(color, kind, start, end, label) = !is_hatched(int(color), kind) || pixels(start, end) < 6 \
		|| (strlen(label) > 0 && strlen(fit(label, pixels(start, end))) > 0)
	saved_middle = (saved_from + saved_to) / 2.
	saved_room = (text_width(saved) / 2. + char_width) * to / (right - left)
	if (strlen(saved) > 0 && saved_middle - saved_room > saved_from + 0.01 * to) {
		set style arrow 1 head filled size graph 0.006,20 linewidth 1 linecolor rgb quiet_color front
		set arrow 102 from saved_middle - saved_room,saved_y to saved_from,saved_y arrowstyle 1
		set arrow 103 from saved_middle + saved_room,saved_y to saved_to,saved_y arrowstyle 1
		set label 102 saved at saved_middle,saved_y center front textcolor rgb text_color noenhanced
	}
	plot rows using (to / 2):1:(0):(to):($1 - 0.4):($1 + 0.4) with boxxyerror fillcolor rgb 0xF5F5F5 notitle, \
	     spans using (($1 + $2) / 2):(($3 + $4) / 2):1:2:3:4:(palette[int($5)]) with boxxyerror fillcolor rgb variable notitle, \
	     for [i = 1:5] spans using (is_plain($5, i, $1, $2, stringcolumn(6)) ? NaN : ($1 + $2) / 2):(($3 + $4) / 2):1:2:3:4:(hatch_color(int($5))) \
		with boxxyerror fillcolor rgb variable fillstyle transparent pattern hatch_pattern[i] noborder notitle, \
	     spans using (($1 + $2) / 2):(($3 + $4) / 2):(strlen(stringcolumn(6)) ? fit(stringcolumn(6), pixels($1, $2)) : ''):(ink[int($5)]) \
		with labels center textcolor rgb variable noenhanced notitle, \
	     heads using 2:($1 + 1):(0):($3 - $1 - 1) with vectors nohead linewidth 1.5 linecolor rgb text_color notitle, \
	     heads using (0):($1 + 0.55):(stringcolumn(4)) with labels left textcolor rgb text_color noenhanced notitle, \
	     rows using (0):1:(stringcolumn(2)) with labels right offset -1,0 textcolor rgb text_color noenhanced notitle
}
