#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "live/busy_kernels.h"

static char folder[] = "/tmp/test_busy_kernels.XXXXXX";

static void append(const char *process, const char *table, const char *text)
{
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, process);
	(void)mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%s/%s.csv", folder, process, table);
	file = fopen(path, "a");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void add_process(const char *process)
{
	append(process, "process", "key,value\nschema,1\n");
	append(process, "names", "id,text\n1,_Z5saxpyifPf\n2,_Z5scalei\n");
	append(process, "signatures", "id,name\n1,1\n2,2\n3,1\n");
	append(process, "kernels", "signature,start_ns,end_ns\n");
}

static void expect(const struct busy_kernel *kernel, const char *label, int64_t time_ns,
		   uint64_t launch_count)
{
	assert_string_equal(kernel->label, label);
	assert_int_equal(kernel->time_ns, time_ns);
	assert_int_equal(kernel->launch_count, launch_count);
}

/* Of all processes together; what was there before the first call does not count. */
static void test_sums(void **state)
{
	struct busy_kernels *kernels = busy_kernels_open();
	struct busy_kernel busy[5];

	(void)state;
	add_process("host.1");
	append("host.1", "kernels", "1,1000,9000\n2,5000,5");
	assert_int_equal(busy_kernels_read(kernels, folder, busy, 5), 0);
	append("host.1", "kernels", "900\n1,1000,1100\n2,2000,2500\n3,3000,3100\n1,99");
	assert_int_equal(busy_kernels_read(kernels, folder, busy, 5), 2);
	expect(&busy[0], "scale", 500, 1);
	expect(&busy[1], "saxpy", 200, 2);
	append("host.1", "kernels", "00,10000\n");
	add_process("host.2");
	append("host.2", "kernels", "1,1000,1010\n7,1,2\nnonsense,,\n2,5,1\n");
	assert_int_equal(busy_kernels_read(kernels, folder, busy, 5), 1);
	expect(&busy[0], "saxpy", 110, 2);
	assert_int_equal(busy_kernels_read(kernels, folder, busy, 5), 0);
	busy_kernels_close(kernels);
}

/* A kernel that is launched for the first time has a name that was written since. */
static void test_new_name(void **state)
{
	struct busy_kernels *kernels = busy_kernels_open();
	struct busy_kernel busy[1];

	(void)state;
	assert_int_equal(busy_kernels_read(kernels, folder, busy, 1), 0);
	append("host.1", "names", "3,_Z3newv\n");
	append("host.1", "signatures", "4,3\n");
	append("host.1", "kernels", "4,1000,2000\n1,1000,1001\n");
	assert_int_equal(busy_kernels_read(kernels, folder, busy, 1), 1);
	expect(&busy[0], "new", 1000, 1);
	busy_kernels_close(kernels);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[PATH_MAX];

	(void)state;
	snprintf(command, sizeof(command), "rm -r '%s'", folder);
	return system(command);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("what is appended counts, of all processes, whole lines only", test_sums),
		SENTENCE("a kernel that is new has the name that was written since", test_new_name),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
