# gaps.gp - idle time by length of the gap, stacked by cause, with counts.
#
# Reads bars (bin low high color letter count) and edges (position label ns);
# unit, bin_count, longest.

load plots.'/style.gp'

load plots.'/legend.gp'
top = (is_text ? 2 : 72) + part_height
bottom = top + (is_text ? bin_count : 300)
legend_top = bottom + (is_text ? 2 : 58)
height = legend_top + legend_lines * line_height + (is_text ? 1 : 12)
left = is_text ? 9 : 84
right = is_text ? width - 8 : width - 28
load plots.'/open.gp'

set lmargin at screen at_x(left)
set rmargin at screen at_x(right)
set tmargin at screen at_y(top)
set bmargin at screen at_y(bottom)
if (longest <= 0) { longest = 1; set format y "" }

if (is_text) {
	# a line per bin; the letters of a bar are drawn one by one
	set yrange [bin_count - 0.5:-0.5]
	set xrange [0:right - left]
	unset ytics
	unset xtics
	cell(value) = int(value / longest * (right - left - 7) + 0.5)
	plot edges using (0):($1 + 0.5):(stringcolumn(2)) with labels right offset -1,0 noenhanced notitle, \
	     bars using (cell($2)):1:($4 > 0 ? rep(stringcolumn(5), cell($3) - cell($2)) : ''):(palette[$4 > 0 ? int($4) : |palette|]) \
		with labels left textcolor rgb variable noenhanced notitle, \
	     bars using (cell($3) + 2):1:(stringcolumn(6)) with labels left noenhanced notitle
} else {
	set xrange [-0.5:bin_count - 0.5]
	set yrange [0:longest * 1.1]
	set grid ytics linetype 1 linewidth 1 linecolor rgb grid_color
	set ylabel sprintf('idle time (%s)', unit) textcolor rgb quiet_color
	set xlabel 'length of the gap; above each bar: number of gaps' textcolor rgb quiet_color offset 0,0.2
	set xtics nomirror offset 0,0.2
	plot edges using 1:(0):xticlabels(2) with dots linecolor rgb '#ffffff' notitle, \
	     bars using 1:2:($1 - 0.42):($1 + 0.42):2:3:(palette[$4 > 0 ? int($4) : |palette|]) with boxxyerror fillcolor rgb variable notitle, \
	     for [i = 1:5] bars using (is_hatched(int($4), i) ? $1 : NaN):2:($1 - 0.42):($1 + 0.42):2:3:(hatch_color($4 > 0 ? int($4) : |palette|)) \
		with boxxyerror fillcolor rgb variable fillstyle transparent pattern hatch_pattern[i] noborder notitle, \
	     bars using 1:3:(stringcolumn(6)) with labels center offset 0,0.7 textcolor rgb text_color noenhanced notitle
}
