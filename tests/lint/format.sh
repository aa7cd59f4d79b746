#!/usr/bin/env bash
# Every source file is as `make format` leaves it.
source "$(dirname "$0")/common.bash"
skip_all_unless clang-format

# One line a file, not one a place.
sources '*.[ch]' '*.cu' '*.cuh' | xargs clang-format --dry-run -Werror 2>&1 |
	sed -n 's/^\([^: ]*\):[0-9:]* error: .*/\1 is not formatted/p' | sort -u |
	verdict "every C and CUDA file is formatted (make format)"
finish
