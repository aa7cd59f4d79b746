# style.gp - what all charts share: palette, fonts, terminals, titles, legends.
#
# A chart loads this first and legend.gp to learn how many lines the legend
# takes; then it sets height and legend_top and loads open.gp.  They read assignments made before it:
#   plots, format, columns, has_color   where to draw (target.gp)
#   chart_part                          what part of a recording, or nothing (target.gp)
#   chart_title, chart_subtitle, legend_*     texts (NAME.gp of the recording)
#
# Lengths are in pixels of a picture 1200 wide, or in characters of a terminal;
# at_x() and at_y() turn them, counted from the upper left, into screen units.

set encoding utf8
set datafile separator tab
set datafile commentschars '#'
is_text = format eq 'term'

# Indexed by enum chart_color of analyzer/charts/chart_colors.h.
# Kernels: Okabe and Ito's palette, which color-blind people can distinguish; copies: grays, for
# their rows are labeled; hardware samples: two shades each, quieter than what they explain;
# causes of idle time: Paul Tol's `muted`, paler than the kernels, and between them those colors
# that stay apart from all others, also with deuteranopia and protanopia, as well as his do.  The
# last is none of them.
array palette[47] = [ \
	0x0072B2, 0xE69F00, 0x009E73, 0xCC79A7, 0x56B4E9, 0xD55E00, 0xF0E442, 0xB8B8B8, 0x4D4D4D, \
	0x3B5B7A, 0x7A94AD, 0xA9BBCB, 0x5E6B77, 0x8C8C8C, \
	0xDCE3EA, 0xC3CFDB, \
	0x7B5EA7, 0xE2D3C4, 0x4A6A8F, 0x9DB4CE, 0x3F7F78, 0x9CC7BF, 0x8A6D3B, 0xD3BF95, 0x77699C, 0xB9AFD0, \
	0xCC6677, 0x332288, 0x1098FE, 0xDDCC77, 0x117733, 0x769832, 0x541054, 0xDCBA98, 0x3210BA, \
	0x1010FE, 0x882255, \
	0x983210, 0x10BAFE, 0x5454BA, 0x323210, 0x88CCEE, 0x44AA99, 0x7654FE, 0xAA4499, 0xDDDDDD, 0 ]
# What can be read on top of it.
array ink[47] = [ \
	0xFFFFFF, 0x1A1A1A, 0xFFFFFF, 0x1A1A1A, 0x1A1A1A, 0xFFFFFF, 0x1A1A1A, 0x1A1A1A, 0xFFFFFF, \
	0xFFFFFF, 0x1A1A1A, 0x1A1A1A, 0xFFFFFF, 0x1A1A1A, \
	0x1A1A1A, 0x1A1A1A, \
	0xFFFFFF, 0x1A1A1A, 0xFFFFFF, 0x1A1A1A, 0xFFFFFF, 0x1A1A1A, 0xFFFFFF, 0x1A1A1A, 0xFFFFFF, 0x1A1A1A, \
	0xFFFFFF, 0xFFFFFF, 0x1A1A1A, 0x1A1A1A, 0xFFFFFF, 0x1A1A1A, 0xFFFFFF, 0x1A1A1A, 0xFFFFFF, \
	0xFFFFFF, 0xFFFFFF, \
	0xFFFFFF, 0x1A1A1A, 0xFFFFFF, 0xFFFFFF, 0x1A1A1A, 0x1A1A1A, 0xFFFFFF, 0xFFFFFF, 0x1A1A1A, 0 ]

# What tells apart colors that are alike in gray: 0 none, 1 rising, 2 falling, 3 both, 4 steep rising, 5 steep falling.
array hatch[47] = [ \
	0, 0, 1, 2, 3, 3, 0, 4, 5, \
	0, 0, 0, 0, 0, \
	0, 0, \
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
	0, 0, 2, 0, 4, 3, 4, 5, 1, 2, \
	5, 3, 4, 0, 3, 3, 1, 5, 1, 2, 0 ]
array hatch_pattern[5] = [5, 4, 1, 7, 6]   # gnuplot's
ink_share = format eq 'svg' ? 40 : 65   # percent: the lines of the other terminals are finer
mixed(a, b) = (a * (100 - ink_share) + b * ink_share) / 100
hatch_color(number) = mixed(palette[number] / 65536, ink[number] / 65536) * 65536 \
	+ mixed(palette[number] / 256 % 256, ink[number] / 256 % 256) * 256 + mixed(palette[number] % 256, ink[number] % 256)
is_hatched(number, kind) = number > 0 && hatch[number] == kind

face = 'Arial'
title_font = format eq 'svg' ? face.',18' : face.':Bold,17'   # browsers know no family Arial:Bold
bold = 1.1   # a bold letter is at most so much wider, on average of a text
text_color = 0x1A1A1A
quiet_color = 0x5C5C5C
grid_color = 0xE3E3E3
char_width = is_text ? 1 : 6.5   # a space between texts
line_height = is_text ? 1 : 20
width = is_text ? columns : 1200
part_height = strlen(chart_part) == 0 ? 0 : is_text ? 1 : 22   # of the line that says what part of a recording it is
part_y = is_text ? 2.5 : 70
height = 400                     # set by the chart before open.gp

at_x(x) = x / real(width)
at_column(x) = x / real(is_text ? width - 1 : width)   # of a text that begins there: a terminal's last column is at 1
at_y(y) = 1 - y / real(height)

set style fill solid 1 noborder
set border 0
set tics scale 0
set tics textcolor rgb quiet_color
unset key

# Width of a text in pixels of the 13 pixel font, or in characters (text_ascii and advance[] are of target.gp)
text_width(text) = is_text || strlen(text) == 0 ? strlen(text) \
	: sum [i = 1:strlen(text)] advance[strstrt(text_ascii, substr(text, i, i)) + 1]

# Cuts a text to what fits, or to nothing.
smaller(a, b) = a < b ? a : b
cut(text, room) = strlen(text) < 3 ? '' : text_width(text.'..') <= room ? text.'..' \
	: cut(substr(text, 1, int(smaller(strlen(text) - 1, strlen(text) * room / text_width(text)))), room)
fit(text, room) = room < 5 * char_width ? (text_width(text) + 0.6 * char_width <= room ? text : '') \
	: text_width(text) + 0.6 * char_width <= room ? text : cut(text, room - 0.6 * char_width)

# Steps of an axis of characters whose labels, "250 ms", stand apart: of the decades' 1, 2 and 5.
decade(value) = 10**floor(log10(value) + 1e-9)
of_decade(ratio) = ratio <= 1.0000001 ? 1 : ratio <= 2.0000001 ? 2 : ratio <= 5.0000001 ? 5 : 10
round_step(value) = of_decade(value / decade(value)) * decade(value)
tick_label(value) = sprintf('%.10g '.unit, value)
tick_room(step) = (strlen(tick_label(floor(to / step) * step)) > strlen(tick_label((floor(to / step) - 1) * step)) \
	? strlen(tick_label(floor(to / step) * step)) : strlen(tick_label((floor(to / step) - 1) * step))) + 2
tick_step(room) = round_step((to - from) * room / real(cell_count))

# text, count times
rep(text, count) = count <= 0 ? '' : count == 1 ? text : rep(text, count / 2) . rep(text, count - count / 2)

# A text at the left edge.  gnuplot 5.4.2 omits a label in a terminal's first column, but any gnuplot moves one to the left that
# would pass the last column: from the third column, one as wide as the terminal moves to the first.
at_left(text) = is_text && strlen(text) > 0 ? text.rep(' ', width - strlen(text)) : text
left_x = at_x(is_text ? 2 : 24)
