#!/usr/bin/env bash
# Every source file is as `make format` leaves it.
source "$(dirname "$0")/common.bash"
skip_all_without clang-format

sources '*.[ch]' '*.cu' '*.cuh' | xargs clang-format --dry-run -Werror 2>&1 | grep ': error:' |
	verdict "every C and CUDA file is formatted (make format)"
finish
