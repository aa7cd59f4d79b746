# legend.gp - finds a place for each legend entry: they flow into lines.
#
# An entry of color 0 is a title: it starts a line.  Sets legend_lines.

array legend_x[legend_count + 1]
array legend_line[legend_count + 1]
legend_indent = is_text ? 2 : 130
legend_lines = 0
legend_is_hatched = 1   # 0: of a chart whose areas are not
cursor = 0
do for [i = 1:legend_count] {
	is_title = legend_color[i] == 0
	entry_width = text_width(legend_text[i]) + (is_text ? 4 : 40)
	if (is_title) { entry_width = is_text ? strlen(legend_text[i]) + 2 : legend_indent }
	if (is_title || cursor + entry_width > width - (is_text ? 0 : 48)) {
		legend_lines = legend_lines + 1
		cursor = is_title ? 0 : legend_indent
	}
	legend_x[i] = cursor
	legend_line[i] = legend_lines - 1
	cursor = cursor + entry_width
}
