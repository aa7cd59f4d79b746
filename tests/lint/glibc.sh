#!/usr/bin/env bash
# What is preloaded into all processes that a program starts runs with the C library of each: glibc 2.17 and newer.
source "$(dirname "$0")/common.bash"
skip_all_without objdump

# newer LIBRARY: the functions that it takes of a newer one, and those that an older one has in a library it does not name
newer() {
	local versions
	versions=$(objdump -T "$1" | grep -o 'GLIBC_[0-9.]*) .*')
	awk -F'[_). ]+' '$2 > 2 || $3 > 17' <<<"$versions"
	for needed in libdl.so.2 libpthread.so.0; do
		objdump -p "$1" | grep -q "NEEDED *$needed" || echo "$needed is not named"
	done
}

for library in librooflinecollector librooflinetry; do
	file=$BUILD/lib/$library.so
	sentence="$library.so runs with glibc 2.17"
	if [ -e "$file" ]; then
		newer "$file" | verdict "$sentence"
	else
		skip "$sentence" "it is not built"
	fi
done
finish
