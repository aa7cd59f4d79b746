# tune_transpose.gp - every configuration of tune_transpose: tune_transpose.txt as a picture.
# gnuplot -e "image = 'FILE.svg'" docs/results/tune_transpose.gp

set terminal svg size 1000, 420 font 'Arial,13' background rgb 'white'
set output image
set encoding utf8
table = 'docs/results/tune_transpose.txt'
blocks = '32x8 16x16 8x32'
colors = '0xD55E00 0x0072B2 0x009E73'

# Of the tiles in turn the time of one block, in us
times(block) = sprintf("< for tile in tile16 tile16_padded tile32 tile32_padded; do awk -v name=%s_$tile '$1 == name { print $2 }' %s; done", \
	block, table)

set border 3 lc rgb 0x5C5C5C
set tics nomirror out textcolor rgb 0x1A1A1A
set grid y lc rgb 0xE3E3E3 lt 1
set key top right reverse Left samplen 1
set style data histogram
set style histogram clustered gap 1
set style fill solid noborder
set yrange [0:*]
set ylabel 'us, 8,192 x 8,192 values'
set xtics ('tile 16 x 16' 0, '16 x 17' 1, '32 x 32' 2, '32 x 33' 3)
plot for [i = 1:3] times(word(blocks, i)) using 1 lc rgb (word(colors, i) + 0) \
	title sprintf('block %s', word(blocks, i))
