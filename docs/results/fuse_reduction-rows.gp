# fuse_reduction-rows.gp - bytes that softmax has to move, by the time that it took, for rows of different length:
# fuse_reduction-rows.txt as a picture.  gnuplot -e "image = 'FILE.svg'" docs/results/fuse_reduction-rows.gp

set terminal svg size 900, 460 font 'Arial,13' background rgb 'white'
set output image
set encoding utf8
table = 'docs/results/fuse_reduction-rows.txt'
variants = 'registers online block naive'
names = '"row in registers" "maximum and sum in one pass" "one kernel, three passes" "three kernels"'
array color[4] = [0x009E73, 0x0072B2, 0xCC79A7, 0xD55E00]

# 8 bytes a value: each read once and written once, in TB/s
rates(variant) = sprintf("< awk '/, size / { match($0, /size [0-9]+/); size = substr($0, RSTART + 5, RLENGTH - 5); \
	match($0, /row [0-9]+/); row = substr($0, RSTART + 4, RLENGTH - 4) } \
	$1 == \"%s\" && $3 == $3 + 0 { print row, 8 * size / $2 / 1e6 }' %s", variant, table)
copying = system("awk '/\"dram_copy\"/ { found = 1 } found && /\"value\"/ { print $2 / 1e12; exit }' \
	ceilings/NVIDIA_H200-*.json") + 0

set border 3 lc rgb 0x5C5C5C
set tics nomirror out textcolor rgb 0x1A1A1A
set grid y lc rgb 0xE3E3E3 lt 1
set key bottom right reverse Left samplen 2
set logscale x 2
set xrange [110:38000]
set yrange [0:5]
set xlabel 'values of a row'
set ylabel 'TB/s of the bytes that softmax has to move'
set arrow from graph 0, first copying to graph 1, first copying nohead lc rgb 0x5C5C5C dt 2
set label 'DRAM, measured by copying' at 120, copying offset 0, 0.6 textcolor rgb 0x5C5C5C
plot for [i = 1:4] rates(word(variants, i)) using 1:2 with linespoints \
	lc rgb color[i] lw 2 pt 7 ps 0.6 title word(names, i)
