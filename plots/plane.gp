# plane.gp - points and lines between two axes: the rooflines and atomics.
#
# Reads xtics, ytics (position label), lines (x y line color), marks (x y radius mark color
# letter), labels and rising (x y color text; rising ones follow lines), all in pixels or characters from the lower left of the
# plot; plot_width, plot_height, rising_angle, x_title, y_title, note_count, note_text[].

load plots.'/style.gp'
legend_count = 0
top = (is_text ? 2 : 72) + part_height
bottom = top + plot_height
note_top = bottom + (is_text ? 2 : 62)
height = note_top + note_count * line_height + (is_text ? 1 : 14)
left = is_text ? 13 : 126
right = left + plot_width
load plots.'/open.gp'
do for [i = 1:note_count] {
	set label 400+i at_left(note_text[i]) at screen left_x,at_y(note_top + (i - 0.5) * line_height) \
		left textcolor rgb (is_text ? text_color : quiet_color) noenhanced
}

set lmargin at screen at_x(left)
set rmargin at screen at_x(right)
set tmargin at screen at_y(top)
set bmargin at screen at_y(bottom)
set xrange [0:plot_width]
set yrange [0:plot_height]
unset xtics
unset ytics
set clip one
set clip two

# Indexed by enum plane_line and enum plane_mark of analyzer/charts/chart_plane.h.
array dash[6] = [1, 2, 3, 4, 1, 3]
array thick[6] = [2, 2, 2, 2, 0.6, 1]
array shape[6] = [7, 4, 8, 13, 2, 6]
# A line whose color varies is drawn piece by piece, and its dashes begin anew: only whole lines vary.
array large[6] = [1, 0.8, 0.9, 2.2, 1.6, 1]
scaled = format eq 'png' ? 2 : format eq 'pdf' ? 0.75 : 0.7   # what a terminal takes for a point of 1
color_of(number) = number > 0 ? palette[int(number)] : text_color
is(number, wanted) = int(number) == wanted ? 1 : NaN

if (is_text) {
	set border 3
	plot lines using 1:2 with dots linecolor rgb quiet_color notitle, \
	     for [i = 1:6] lines using 1:($2 * is($3, i)) with lines linetype i notitle, \
	     xtics using 1:(0):(stringcolumn(2)) with labels center offset 0,-1 noenhanced notitle, \
	     ytics using (0):1:(stringcolumn(2)) with labels right offset -1,0 noenhanced notitle, \
	     labels using 1:2:(stringcolumn(4)) with labels left noenhanced notitle, \
	     marks using 1:2:(stringcolumn(6)):(color_of($5)) with labels center textcolor rgb variable noenhanced notitle
} else {
	set xlabel x_title textcolor rgb quiet_color offset 0,-1.2
	set label 500 y_title at screen at_x(24),at_y((top + bottom) / 2.) center rotate by 90 textcolor rgb quiet_color noenhanced
	set style fill solid 0.75 border rgb '#ffffff'
	plot xtics using 1:(0):(0):(plot_height) with vectors nohead linewidth 1 linecolor rgb grid_color notitle, \
	     ytics using (0):1:(plot_width):(0) with vectors nohead linewidth 1 linecolor rgb grid_color notitle, \
	     xtics using 1:(0):(stringcolumn(2)) with labels center offset 0,-0.9 textcolor rgb quiet_color noenhanced notitle, \
	     ytics using (0):1:(stringcolumn(2)) with labels right offset -0.8,0 textcolor rgb quiet_color noenhanced notitle, \
	     lines using 1:($2 * is($3, 1)):(color_of($4)) with lines linewidth thick[1] linecolor rgb variable notitle, \
	     lines using 1:($2 * is($3, 5)):(color_of($4)) with lines linewidth thick[5] linecolor rgb variable notitle, \
	     for [i in "2 3 4 6"] lines using 1:($2 * is($3, int(i))) with lines dashtype dash[int(i)] linewidth thick[int(i)] linecolor rgb text_color notitle, \
	     lines using 1:($2 * is($3, 7)) with lines linewidth 0.6 linecolor rgb quiet_color notitle, \
	     labels using 1:2:($1 - 2):($1 + text_width(stringcolumn(4)) + 2):($2 - 7):($2 + 7) \
		with boxxyerror fillcolor rgb '#ffffff' fillstyle solid 1 noborder notitle, \
	     marks using 1:($2 * is($4, 1)):3:(color_of($5)) with circles fillcolor rgb variable notitle, \
	     marks using 1:($2 * is($4, 6)):3 with circles fillstyle empty border rgb text_color linewidth 1.6 notitle, \
	     for [i = 2:5] marks using 1:($2 * is($4, i)):(color_of($5)) with points pointtype shape[i] pointsize large[i] * scaled linewidth 1.4 linecolor rgb variable notitle, \
	     labels using 1:2:(stringcolumn(4)):(color_of($3)) with labels left textcolor rgb variable noenhanced notitle, \
	     rising using 1:2:(stringcolumn(4)):(color_of($3)) with labels center rotate by rising_angle textcolor rgb variable noenhanced notitle
}
