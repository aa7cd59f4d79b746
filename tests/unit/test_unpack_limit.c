/* How much may become of compressed bytes, and of a disk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <sys/statvfs.h>

#include "base/unpack_limit.h"

#define MIB ((uint64_t)1 << 20)

/* In place of the C library's. */
static uint64_t disk_bytes, free_bytes;

int fstatvfs(int fd, struct statvfs *disk)
{
	(void)fd;
	*disk = (struct statvfs){.f_frsize = 4096,
				 .f_blocks = disk_bytes / 4096,
				 .f_bavail = free_bytes / 4096};
	return 0;
}

static int look_after(uint64_t unpacked_bytes, struct err *err)
{
	struct unpack_limit limit = {.bytes = unpacked_bytes};

	return unpack_limit_look(&limit, 1, "/tmp", "; set TMPDIR", err);
}

static void test_disk(void **state)
{
	struct err err = {""};

	(void)state;
	disk_bytes = 1000 * MIB;
	free_bytes = 70 * MIB;
	assert_int_equal(look_after(32 * MIB, &err), 0);
	free_bytes = 60 * MIB;
	assert_int_equal(look_after(32 * MIB, &err), -ENOSPC);
	assert_string_equal(err.text, "/tmp: no more is unpacked, as only 60.0 MiB of the disk are "
				      "left; set TMPDIR");
	assert_int_equal(look_after(1 * MIB, &err), 0); /* what is small is as ever */
	disk_bytes = 0;					/* a file system that does not tell */
	free_bytes = 0;
	assert_int_equal(look_after(32 * MIB, &err), 0);
	disk_bytes = 1000000 * MIB;
	free_bytes = 1100 * MIB;
	assert_int_equal(look_after(32 * MIB, &err), 0);
}

/* Not at each write: when so much more was written. */
static void test_looks(void **state)
{
	struct unpack_limit limit = {.bytes = 32 * MIB};
	struct err err = {""};

	(void)state;
	disk_bytes = 1000 * MIB;
	free_bytes = 500 * MIB;
	assert_int_equal(unpack_limit_look(&limit, 1, "/tmp", "", &err), 0);
	free_bytes = 0;
	limit.bytes += 16 * MIB - 1;
	assert_int_equal(unpack_limit_look(&limit, 1, "/tmp", "", &err), 0);
	limit.bytes++;
	assert_int_equal(unpack_limit_look(&limit, 1, "/tmp", "", &err), -ENOSPC);
}

static void test_times(void **state)
{
	struct unpack_limit limit = {0};
	struct err err = {""};

	(void)state;
	assert_int_equal(unpack_limit_add(&limit, 64 * MIB, 10, "file", &err), 0);
	assert_int_equal(unpack_limit_add(&limit, 1, 10, "file", &err), -EFBIG);
	assert_non_null(strstr(err.text, "file: becomes more than 200 times as large"));
	assert_int_equal(unpack_limit_add(&limit, 1, MIB, "file", &err), 0);
	limit.bytes = 0; /* 200 times, and more */
	assert_int_equal(unpack_limit_add(&limit, 200 * MIB, MIB, "file", &err), 0);
	assert_int_equal(unpack_limit_add(&limit, MIB, MIB, "file", &err), -EFBIG);
}

static int add_files(struct unpack_limit *limit, uint64_t count, size_t name_bytes,
		     unsigned new_folders, uint64_t packed_bytes)
{
	struct err err = {""};
	int rc = 0;

	for (uint64_t i = 0; rc == 0 && i < count; i++)
		rc = unpack_limit_add_file(limit, name_bytes, new_folders, packed_bytes, "file",
					   &err);
	return rc;
}

static void test_files(void **state)
{
	struct unpack_limit limit = {0};

	(void)state;
	assert_int_equal(add_files(&limit, 1000000, 30, 0, 100 * MIB), 0);
	assert_int_equal(add_files(&limit, 1, 30, 0, 100 * MIB), -EFBIG);
}

static void test_names(void **state)
{
	struct unpack_limit limit = {0};

	(void)state;
	assert_int_equal(add_files(&limit, 64 * 1024, 1024, 0, 100 * MIB), 0);
	assert_int_equal(add_files(&limit, 1, 1, 0, 100 * MIB), -EFBIG);
}

static void test_folders(void **state)
{
	struct unpack_limit limit = {0};

	(void)state;
	assert_int_equal(add_files(&limit, 16 * 1024, 1, 0, 500), 0);
	assert_int_equal(add_files(&limit, 1, 1, 0, 500), -EFBIG);
	limit = (struct unpack_limit){0};
	assert_int_equal(add_files(&limit, 8 * 1024, 1, 1, 500), 0);
	assert_int_equal(add_files(&limit, 1, 1, 0, 500), -EFBIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"a disk that is nearly full is left alone", test_disk, NULL, NULL, NULL},
		{"a disk is looked at after each 16 MiB", test_looks, NULL, NULL, NULL},
		{"what becomes more than 200 times as large is refused, what stays small never",
		 test_times, NULL, NULL, NULL},
		{"a million files are allowed, and not one more", test_files, NULL, NULL, NULL},
		{"64 MiB of names are allowed, and not a byte more", test_names, NULL, NULL, NULL},
		{"empty files and folders count as what they take on a disk", test_folders, NULL,
		 NULL, NULL},
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
