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

/* Of all GPUs that the program can use; 0: they differ, or it is not known. */
static unsigned major_of_gpus(void)
{
	const struct driver *driver = driver_open();
	int count = 0, major = 0, other;

	if (driver->device_count(&count) != CUDA_SUCCESS)
		return 0;
	for (int i = 0; i < count; i++) {
		CUdevice device;

		if (driver->device(&device, i) != CUDA_SUCCESS ||
		    driver->device_attribute(&other, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
					     device) != CUDA_SUCCESS ||
		    (major && other != major))
			return 0;
		major = other;
	}
	return (unsigned)major;
}

static bool file_is_silent(const char *path, unsigned major)
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
		is_silent = images_bytes_are_silent(bytes, (size_t)status.st_size, major);
		munmap(bytes, (size_t)status.st_size);
	}
	close(file);
	return is_silent;
}

/* Before the driver has it: nothing of it runs yet. */
static void look_at(const void *image, const char *path)
{
	unsigned major;

	pool_before(RETURNS);
	if (!process_wants(TRY_FEWER_WAITS))
		return;
	waits_before(TELLS);
	if (!waits_may_be_left_out())
		return;
	major = major_of_gpus();
	if (!(image ? images_are_silent(image, major) : file_is_silent(path, major)))
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
