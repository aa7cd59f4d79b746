# transformer-map.gp - time of a token by how many requests of which length there are: transformer-map.txt as a
# picture.  gnuplot -e "image = 'FILE.svg'" docs/results/transformer-map.gp

set terminal svg size 900, 460 font 'Arial,13' background rgb 'white'
set output image
set encoding utf8
table = 'docs/results/transformer-map.txt'
names = '"fused, in a graph" "batches" "thirds of the layers in streams" "selected: batches, in a graph"'
array color[4] = [0xD55E00, 0xCC79A7, 0x0072B2, 0x009E73]
array mark[4] = [4, 6, 8, 7]

# of variant i, us a token, and the shape as its name
rows(i) = sprintf("< awk '$1 ~ /^[0-9]+$/ && NF == 6 { print $%d / $1 / $2, $1 \" x \" $2 }' %s", i + 2, table)

set border 3 lc rgb 0x5C5C5C
set tics nomirror out textcolor rgb 0x1A1A1A
set grid y lc rgb 0xE3E3E3 lt 1
set key top right reverse Left samplen 2
set logscale y
set datafile separator whitespace
set xrange [-0.5:7.5]
set xlabel 'requests x tokens'
set yrange [0.3:40]
set ylabel 'us a token'
plot for [i = 1:4] rows(i) using 0:1:xtic(sprintf('%s x %s', stringcolumn(2), stringcolumn(4))) with points \
	lc rgb color[i] lw 2 pt mark[i] ps 1 title word(names, i)
