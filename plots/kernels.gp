# kernels.gp - kernels by total time.
#
# Reads bars (position total color letter name value runs); bar_count, longest.

load plots.'/style.gp'
legend_count = 0

figures(value, runs) = value.'   '.runs
stats bars using (text_width(stringcolumn(5))) nooutput name 'names'
stats bars using (text_width(figures(stringcolumn(6), stringcolumn(7)))) nooutput name 'figures'
shown = bar_count > 0 ? bar_count : 1
row_height = is_text ? 1 : 32
top = (is_text ? 2 : 72) + part_height
bottom = top + shown * row_height
height = bottom + (is_text ? 1 : 20)
left = is_text ? names_max + 2 : 24 + names_max + 1.5 * char_width
room = is_text ? 18 : figures_max + 16   # right of the longest bar
right = is_text ? width - 1 : width - 28
load plots.'/open.gp'

set lmargin at screen at_x(left)
set rmargin at screen at_x(right)
set tmargin at screen at_y(top)
set bmargin at screen at_y(bottom)
if (longest <= 0) { longest = 1 }
scale = longest * (right - left) / (right - left - room)
set yrange [shown - 0.5:-0.5]
unset ytics

if (is_text) {
	set xrange [0:right - left]
	unset xtics
	cell(value) = int(value / scale * (right - left) + 0.5)
	plot bars using (0):1:(stringcolumn(5)) with labels right offset -1,0 noenhanced notitle, \
	     bars using (0):1:(rep('#', cell($2))):(palette[int($3)]) with labels left textcolor rgb variable noenhanced notitle, \
	     bars using (cell($2) + 2):1:(stringcolumn(6)) with labels left noenhanced notitle
} else {
	set xrange [0:scale]
	unset xtics
	gap = 8 * scale / (right - left)
	plot bars using ($2 / 2):1:(0):2:($1 - 0.36):($1 + 0.36):(palette[int($3)]) with boxxyerror fillcolor rgb variable notitle, \
	     for [i = 1:5] bars using (is_hatched(int($3), i) ? $2 / 2 : NaN):1:(0):2:($1 - 0.36):($1 + 0.36):(hatch_color(int($3))) \
		with boxxyerror fillcolor rgb variable fillstyle transparent pattern hatch_pattern[i] noborder notitle, \
	     bars using (0):1:(stringcolumn(5)) with labels right offset -1,0 textcolor rgb text_color noenhanced notitle, \
	     bars using ($2 + gap):1:(figures(stringcolumn(6), stringcolumn(7))) with labels left textcolor rgb text_color noenhanced notitle
}
