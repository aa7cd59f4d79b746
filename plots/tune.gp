# tune.gp - how good the best point is after so many trials, a curve for each way to search.
#
# Reads curves (trial low median high letter), a block for each of curve_count; trial_count, close_enough, highest.

load plots.'/style.gp'

load plots.'/legend.gp'
legend_is_hatched = 0
top = (is_text ? 2 : 72) + part_height
bottom = top + (is_text ? 18 : 360)
legend_top = bottom + (is_text ? 2 : 74)
height = legend_top + legend_lines * line_height + (is_text ? 1 : 12)
left = is_text ? 6 : 84
right = is_text ? width - 2 : width - 28
load plots.'/open.gp'

set lmargin at screen at_x(left)
set rmargin at screen at_x(right)
set tmargin at screen at_y(top)
set bmargin at screen at_y(bottom)
set xrange [0.5:trial_count + 0.5]
set yrange [0.97:highest]
set logscale y
set ytics (1, 1.1, 1.2, 1.5, 2, 3)

if (is_text) {
	set xtics nomirror
	plot for [i = 1:curve_count] curves index i - 1 using 1:($3 > highest ? 1/0 : $3):(stringcolumn(5)) with labels textcolor rgb palette[i] noenhanced notitle
} else {
	set grid ytics linetype 1 linewidth 1 linecolor rgb grid_color
	set ylabel 'times the best' textcolor rgb quiet_color
	set xlabel 'trials' textcolor rgb quiet_color offset 0,0.2
	set arrow 1 from 0.5,close_enough to trial_count + 0.5,close_enough nohead dashtype 2 linecolor rgb quiet_color
	plot for [i = 1:curve_count] curves index i - 1 using 1:2:4 with filledcurves fillstyle transparent solid 0.15 linecolor rgb palette[i] notitle, \
	     for [i = 1:curve_count] curves index i - 1 using 1:3 with lines linewidth 2 linecolor rgb palette[i] notitle
}
