/* test_paths.c - where the program's own files are looked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/paths.h"

static bool has_proc = true;

/* In place of libc's: without /proc, as in a bare chroot. */
ssize_t readlink(const char *path, char *buffer, size_t size)
{
	if (!has_proc) {
		errno = ENOENT;
		return -1;
	}
	return syscall(SYS_readlinkat, AT_FDCWD, path, buffer, size);
}

static void own_files_are_found_without_proc_too(void **state)
{
	char with[PATH_MAX], without[PATH_MAX];

	(void)state;
	assert_int_equal(path_resource(with, sizeof(with), "unit/test_paths"), 0);
	has_proc = false;
	assert_int_equal(path_resource(without, sizeof(without), "unit/test_paths"), 0);
	assert_string_equal(with, without);
	assert_int_equal(path_resource(without, sizeof(without), "no/such/file"), -ENOENT);
	assert_string_equal(without + strlen(without) - strlen("/no/such/file"), "/no/such/file");
	has_proc = true;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_files_are_found_without_proc_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
