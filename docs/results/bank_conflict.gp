# bank_conflict.gp - a matrix transposed in four ways: time of an iteration, beside what its bytes take at the rate of
# copying.  From workloads-fusion.txt.  gnuplot -e "image = 'FILE.svg'" docs/results/bank_conflict.gp

set terminal svg size 900, 440 font 'Arial,13' background rgb 'white'
set output image
set encoding utf8
table = 'docs/results/workloads-fusion.txt'
variants = 'naive padded swizzled direct'
array layout[4] = ["rows of 32 words", "rows of 33", "columns exchanged", "no shared memory"]
value_bytes = 8 # read once, written once

# Microseconds of an iteration, and the number of values
part = sprintf("awk '/^[a-z_]+ \\([A-Z][0-9]+\\)/ { is_part = $1 == \"bank_conflict\" } is_part { print }' %s", table)
took_us(variant) = system(sprintf("%s | awk '$1 == \"%s\" { print $2 }'", part, variant)) + 0
size = system(sprintf("%s | sed -n 's/.*, size \\([0-9]*\\),.*/\\1/p'", part)) + 0
copying = system("awk '/\"dram_copy\"/ { found = 1 } found && /\"value\"/ { print $2 + 0; exit }' \
	ceilings/NVIDIA_H200-*.json") + 0

set border 3 lc rgb 0x5C5C5C
set tics nomirror out textcolor rgb 0x1A1A1A
set grid y lc rgb 0xE3E3E3 lt 1
set key top left inside reverse Left samplen 2
set style fill solid 0.9 noborder
set boxwidth 0.36
set bmargin 4
set yrange [0:*]
set xrange [0.4:4.6]
set ylabel 'us of an iteration'
set xtics ()
do for [i = 1:4] { set xtics add (word(variants, i)."\n".layout[i] i) }
plot '+' using (int($0) + 1 - 0.19):($0 < 4 ? took_us(word(variants, int($0) + 1)) : NaN) every ::0::3 with boxes \
		lc rgb 0x0072B2 title 'measured', \
	'' using (int($0) + 1 + 0.19):($0 < 4 ? value_bytes * size / copying * 1e6 : NaN) every ::0::3 with boxes \
		lc rgb 0xBDBDBD title 'bytes of its arrays, at the rate of copying'
