/*
 * modules.c - code that is loaded: whether it can tell the host something when that waits (images.h).
 */
#include "modules.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "before.h"
#include "driver.h"
#include "images.h"
#include "pool.h"
#include "process.h"
#include "waits.h"

static bool file_is_silent(const char *path)
{
	int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	struct stat status = {0};
	void *bytes = MAP_FAILED;
	bool is_silent = false;

	if (file < 0)
		return false;
	if (fstat(file, &status) == 0 && status.st_size > 0)
		bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
	if (bytes != MAP_FAILED) {
		is_silent = images_bytes_are_silent(bytes, (size_t)status.st_size);
		munmap(bytes, (size_t)status.st_size);
	}
	close(file);
	return is_silent;
}

/* Before the driver has it: nothing of it runs yet. */
static void look_at(const void *image, const char *path)
{
	pool_before(RETURNS);
	if (!process_wants(TRY_FEWER_WAITS))
		return;
	waits_before(TELLS);
	if (waits_may_be_left_out() && !(image ? images_are_silent(image) : file_is_silent(path)))
		waits_stop(TRY_PRINTS);
}

#define LOAD(name, member, exported, image, path, declared, ...)                \
	CUresult name declared                                                  \
	{                                                                       \
		__typeof__(driver_open()->member) real = driver_open()->member; \
                                                                                \
		FLUSH_BEFORE(exported);                                         \
		look_at(image, path);                                           \
		return real ? real(__VA_ARGS__) : CUDA_ERROR_NOT_FOUND;         \
	}

LOAD(try_load_file, load_file, "cuModuleLoad", NULL, path, (CUmodule * module, const char *path),
     module, path)
LOAD(try_load_data, load_data, "cuModuleLoadData", image, NULL,
     (CUmodule * module, const void *image), module, image)
LOAD(try_load_data_ex, load_data_ex, "cuModuleLoadDataEx", image, NULL,
     (CUmodule * module, const void *image, unsigned count, CUjit_option *options, void **values),
     module, image, count, options, values)
LOAD(try_load_fat_binary, load_fat_binary, "cuModuleLoadFatBinary", image, NULL,
     (CUmodule * module, const void *image), module, image)
LOAD(try_load_library, load_library, "cuLibraryLoadData", image, NULL,
     (CUlibrary * library, const void *image, CUjit_option *options, void **values, unsigned count,
      CUlibraryOption *library_options, void **library_values, unsigned library_count),
     library, image, options, values, count, library_options, library_values, library_count)
LOAD(try_load_library_file, load_library_file, "cuLibraryLoadFromFile", NULL, path,
     (CUlibrary * library, const char *path, CUjit_option *options, void **values, unsigned count,
      CUlibraryOption *library_options, void **library_values, unsigned library_count),
     library, path, options, values, count, library_options, library_values, library_count)
