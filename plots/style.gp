# style.gp - what all charts share: palette, fonts, terminals, titles, legends.
#
# A chart loads this first, then says how large it is and calls the functions
# below through `eval`.  It reads assignments made before it:
#   plots, format, out, columns, has_colour   where to draw (target.gp)
#   chart_title, chart_subtitle, legend_*     what to say (NAME.gp of the recording)
#
# Lengths are in pixels of a picture 1200 wide, or in characters of a terminal;
# at_x() and at_y() turn them, counted from the upper left, into screen units.

set encoding utf8
set datafile separator tab
set datafile commentschars '#'
is_text = format eq 'term'

# Indexed by enum chart_colour of analyzer/output/chart_colours.h.
# Kernels: Okabe and Ito's palette, which colour-blind people tell apart; copies: greys, for
# their rows are labelled; causes of idle time: Paul Tol's `muted`, paler than the kernels.
array palette[26] = [ \
	0x0072B2, 0xE69F00, 0x009E73, 0xCC79A7, 0x56B4E9, 0xD55E00, 0xF0E442, 0xB8B8B8, 0x4D4D4D, \
	0x3B5B7A, 0x7A94AD, 0xA9BBCB, 0x5E6B77, 0x8C8C8C, \
	0xDCE3EA, 0xC3CFDB, \
	0xCC6677, 0x332288, 0xDDCC77, 0x117733, 0x88CCEE, 0x882255, 0x44AA99, 0xAA4499, 0xDDDDDD, 0 ]
# What can be read on top of it.
array ink[26] = [ \
	0xFFFFFF, 0x1A1A1A, 0xFFFFFF, 0x1A1A1A, 0x1A1A1A, 0xFFFFFF, 0x1A1A1A, 0x1A1A1A, 0xFFFFFF, \
	0xFFFFFF, 0x1A1A1A, 0x1A1A1A, 0xFFFFFF, 0x1A1A1A, \
	0x1A1A1A, 0x1A1A1A, \
	0xFFFFFF, 0xFFFFFF, 0x1A1A1A, 0xFFFFFF, 0x1A1A1A, 0xFFFFFF, 0x1A1A1A, 0xFFFFFF, 0x1A1A1A, 0 ]

face = 'Arial'
text_colour = 0x1A1A1A
quiet_colour = 0x5C5C5C
grid_colour = 0xE3E3E3
char_width = is_text ? 1 : 6.9   # of the 13 pixel font, on average
line_height = is_text ? 1 : 20
width = is_text ? columns : 1200
height = 400                     # set by the chart before open_target

at_x(x) = x / real(width)
at_y(y) = 1 - y / real(height)

# Terminal and output; the picture is white whatever is behind it.
open_target = is_text \
	? sprintf("set terminal dumb size %d,%d %s noenhanced nofeed", width, height, has_colour ? 'ansirgb' : 'mono') \
	: format eq 'svg' ? "set terminal svg size width,height font face.',13' background rgb '#ffffff' noenhanced" \
	: format eq 'png' ? "set terminal pngcairo size 2*width,2*height font face.',13' fontscale 1.5 linewidth 2 background rgb '#ffffff' noenhanced" \
	: "set terminal pdfcairo size width/100.,height/100. font face.',13' fontscale 0.54 linewidth 0.6 background rgb '#ffffff' noenhanced"
open_target = open_target . "; if (strlen(out)) { set output out }"

set style fill solid 1 noborder
set border 0
set tics scale 0
set tics textcolor rgb quiet_colour
unset key

# Cuts a text to what fits, or to nothing.
fit(text, room) = strlen(text) * char_width + 0.6 * char_width <= room ? text \
	: room < 5 * char_width ? '' : substr(text, 1, int(room / char_width) - 2) . '..'

put_titles = is_text \
	? "set label 101 fit(chart_title, width - 1) at screen 0,at_y(0.5); set label 102 fit(chart_subtitle, width - 1) at screen 0,at_y(1.5)" \
	: "set label 101 chart_title at screen at_x(24),at_y(24) left font face.':Bold,17' textcolor rgb text_colour noenhanced; \
	   set label 102 chart_subtitle at screen at_x(24),at_y(48) left textcolor rgb quiet_colour noenhanced"

# text, count times
rep(text, count) = count <= 0 ? '' : count == 1 ? text : rep(text, count / 2) . rep(text, count - count / 2)

# Legend: entries flow into lines, their places are found before the height is known.
# A title (colour 0) starts a line.
array legend_x[64]
array legend_line[64]
legend_indent = is_text ? 0 : 130
legend_lines = 0
place_legend = "\
	legend_lines = 0; cursor = 0; \
	do for [i = 1:legend_count] { \
		entry_width = (strlen(legend_text[i]) + (is_text ? 4 : 0)) * char_width + (is_text ? 0 : 40); \
		if (legend_colour[i] == 0) { legend_lines = legend_lines + 1; cursor = 0 } \
		if (legend_colour[i] == 0 && is_text) { entry_width = strlen(legend_text[i]) + 2 } \
		if (legend_colour[i] == 0 && !is_text) { entry_width = legend_indent } \
		if (legend_colour[i] != 0 && cursor + entry_width > width - 48 * !is_text) { \
			legend_lines = legend_lines + 1; cursor = legend_indent + 2 * is_text } \
		legend_x[i] = cursor; legend_line[i] = legend_lines - 1; cursor = cursor + entry_width }"

# Draws it below legend_top.
put_legend = "\
	do for [i = 1:legend_count] { \
		lx = (is_text ? 0 : 24) + legend_x[i]; ly = legend_top + (legend_line[i] + 0.5) * line_height; \
		if (legend_colour[i] == 0) { \
			set label 200+i legend_text[i].(is_text ? ':' : '') at screen at_x(lx),at_y(ly) left textcolor rgb quiet_colour noenhanced \
		} else { if (is_text) { \
			set label 200+i legend_letter[i] at screen at_x(lx),at_y(ly) left textcolor rgb palette[legend_colour[i]] noenhanced; \
			set label 300+i legend_text[i] at screen at_x(lx+2),at_y(ly) left noenhanced \
		} else { \
			set object 200+i rectangle from screen at_x(lx),at_y(ly+6) to screen at_x(lx+12),at_y(ly-6) fillcolor rgb palette[legend_colour[i]] fillstyle solid 1 noborder; \
			set label 200+i legend_text[i] at screen at_x(lx+18),at_y(ly) left textcolor rgb text_colour noenhanced \
		} } }"
