# graph-latency.gp - how long after the call a graph's first kernel starts, by the graph's size and by who
# launches it: graph-latency.txt as a picture.  gnuplot -e "image = 'FILE.svg'" docs/results/graph-latency.gp

set terminal svg size 1200, 460 font 'Arial,13' background rgb 'white'
set output image
set encoding utf8
table = 'docs/results/graph-latency.txt'
modes = 'host fire_and_forget tail sibling'
names = '"launched by the host" "fire and forget" "tail" "sibling"'
array color[4] = [0xD55E00, 0x0072B2, 0x009E73, 0xCC79A7]

# Of the rows of one shape and one launcher, the column that is asked for, in us
rows(shape, mode, column) = sprintf("< awk '$1 == \"%s\" && $3 == \"%s\" { print $2, $%d / 1000 }' %s", \
	shape, mode, column, table)

set border 3 lc rgb 0x5C5C5C
set tics nomirror out textcolor rgb 0x1A1A1A
set grid y lc rgb 0xE3E3E3 lt 1
set key bottom left reverse Left samplen 2
set logscale x
set yrange [0:7]
set ylabel 'us from the call to the first kernel'
set multiplot layout 1, 2
set xlabel 'kernels, one after another'
set xrange [0.9:1100]
plot for [i = 1:4] rows('chain', word(modes, i), 5) using 1:2 with linespoints \
	lc rgb color[i] lw 2 pt 7 ps 0.6 title word(names, i)
unset key
set xlabel 'kernels, each a branch of its own'
set logscale x 2
set xrange [0.9:70]
plot for [i = 1:4] rows('branches', word(modes, i), 5) using 1:2 with linespoints \
	lc rgb color[i] lw 2 pt 7 ps 0.6 title word(names, i)
unset multiplot
