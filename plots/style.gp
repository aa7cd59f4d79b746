# style.gp - what all charts share: palette, fonts, terminals, titles, legends.
#
# A chart loads this first and legend.gp to learn how many lines the legend
# takes; then it sets height and legend_top and loads open.gp.  They read assignments made before it:
#   plots, format, columns, has_color   where to draw (target.gp)
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

face = 'Arial'
title_font = format eq 'svg' ? face.',18' : face.':Bold,17'   # browsers know no family Arial:Bold
text_color = 0x1A1A1A
quiet_color = 0x5C5C5C
grid_color = 0xE3E3E3
char_width = is_text ? 1 : 6.5   # of the 13 pixel font, on average
line_height = is_text ? 1 : 20
width = is_text ? columns : 1200
height = 400                     # set by the chart before open.gp

at_x(x) = x / real(width)
at_y(y) = 1 - y / real(height)

set style fill solid 1 noborder
set border 0
set tics scale 0
set tics textcolor rgb quiet_color
unset key

# Cuts a text to what fits, or to nothing.
fit(text, room) = strlen(text) * char_width + 0.6 * char_width <= room ? text \
	: room < 5 * char_width ? '' : substr(text, 1, int(room / char_width) - 2) . '..'

# text, count times
rep(text, count) = count <= 0 ? '' : count == 1 ? text : rep(text, count / 2) . rep(text, count - count / 2)
