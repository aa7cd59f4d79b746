# scaling-gpus.gp - what several GPUs bring to a training step, predicted from one and measured: scaling-gpus.txt as a
# picture.  gnuplot -e "image = 'FILE.svg'" docs/results/scaling-gpus.gp

set terminal svg size 900, 520 font 'Arial,13' background rgb 'white'
set output image
set encoding utf8
if (!exists('table')) table = 'docs/results/scaling-gpus.txt'

# Of one mode; one GPU is where all begin
rows(mode) = sprintf("< (echo 1 1 1 1 1 1 1; awk '$3 == \"%s\" { print $1, $2, 0, $4, $5, $6, $7 }' %s)", mode, table)
# Those that were measured
points(mode) = sprintf("< awk '$3 == \"%s\" && $7 + 0 > 0 { print $1, $7 }' %s", mode, table)

set border 3 lc rgb 0x5C5C5C
set tics nomirror out textcolor rgb 0x1A1A1A
set grid y lc rgb 0xE3E3E3 lt 1
set key top left reverse Left samplen 2
stats sprintf("< awk '$3 == \"in_turn\" { print $1 }' %s", table) using 1 nooutput
set logscale xy 2
set xrange [0.95:STATS_max * 1.08]
set yrange [0.95:STATS_max * 1.08]
set xtics (1, 2, 4, 8, 16, 32, 64)
set ytics (1, 2, 4, 8, 16, 32, 64)
set xlabel 'GPUs'
set ylabel 'steps a second, one GPU = 1'
set style fill transparent solid 0.15 noborder

plot rows('overlapped') using 1:5:6 with filledcurves lc rgb 0x0072B2 notitle, \
	rows('in_turn') using 1:5:6 with filledcurves lc rgb 0xD55E00 notitle, \
	rows('in_turn') using 1:2 with lines lc rgb 0x767676 dt 2 lw 1.5 title 'linear', \
	rows('overlapped') using 1:4 with lines lc rgb 0x0072B2 lw 2 \
		title 'gradients added up in buckets, predicted from one GPU (its interval shaded)', \
	points('overlapped') using 1:2 with points pt 7 ps 1 lc rgb 0x0072B2 title 'measured', \
	rows('in_turn') using 1:4 with lines lc rgb 0xD55E00 lw 2 \
		title 'one after the other, predicted', \
	points('in_turn') using 1:2 with points pt 5 ps 1 lc rgb 0xD55E00 title 'measured'
