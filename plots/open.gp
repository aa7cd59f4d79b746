# open.gp - opens the target and writes titles and legend; height and legend_top are known.

if (is_text) {
	if (has_color) {
		set terminal dumb nofeed size width,height ansirgb
	} else {
		set terminal dumb nofeed size width,height mono
	}
}
if (format eq 'svg') { set terminal svg size width,height font face.',13' background rgb '#ffffff' }
if (format eq 'png') { set terminal pngcairo size 2*width,2*height font face.',13' fontscale 1.5 linewidth 2 background rgb '#ffffff' }
if (format eq 'pdf') { set terminal pdfcairo size width/100.,height/100. font face.',13' fontscale 0.54 linewidth 0.6 background rgb '#ffffff' }

if (is_text) {
	set label 1 at_left(fit(chart_title, width - 1)) at screen left_x,at_y(0.5) noenhanced
	set label 2 at_left(fit(chart_subtitle, width - 1)) at screen left_x,at_y(1.5) noenhanced
	set label 3 at_left(fit(chart_part, width - 1)) at screen left_x,at_y(part_y) noenhanced
} else {
	set label 1 fit(chart_title, (width - 48) * 13 / 18. / bold) at screen left_x,at_y(24) left font title_font textcolor rgb text_color noenhanced
	set label 2 fit(chart_subtitle, width - 48) at screen left_x,at_y(48) left textcolor rgb quiet_color noenhanced
	set label 3 fit(chart_part, width - 48) at screen left_x,at_y(part_y) left textcolor rgb quiet_color noenhanced
}

do for [i = 1:legend_count] {
	x = (is_text ? 0 : 24) + legend_x[i]
	y = legend_top + (legend_line[i] + 0.5) * line_height
	if (legend_color[i] == 0) {
		set label 200+i at_left(legend_text[i].(is_text ? ':' : '')) at screen left_x,at_y(y) left textcolor rgb quiet_color noenhanced
	} else {
		if (is_text) {
			set label 200+i legend_letter[i] at screen at_column(x),at_y(y) left textcolor rgb palette[legend_color[i]] noenhanced
			set label 300+i legend_text[i] at screen at_column(x+2),at_y(y) left noenhanced
		} else {
			set object 200+i rectangle from screen at_x(x),at_y(y+6) to screen at_x(x+12),at_y(y-6) fillcolor rgb palette[legend_color[i]] fillstyle solid 1 noborder
			if (legend_is_hatched && hatch[legend_color[i]] > 0) {
				set object 300+i rectangle from screen at_x(x),at_y(y+6) to screen at_x(x+12),at_y(y-6) \
					fillcolor rgb hatch_color(legend_color[i]) fillstyle transparent pattern hatch_pattern[hatch[legend_color[i]]] noborder
			}
			set label 200+i legend_text[i] at screen at_x(x+18),at_y(y) left textcolor rgb text_color noenhanced
		}
	}
}
