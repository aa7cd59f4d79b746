#define _GNU_SOURCE
#include "loaded_images.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "flush_thread.h"
#include "program_rows.h"

#define ELF_MAGIC 0x464c457fu
#define FAT_BINARY_MAGIC 0xba55ed50u
#define FAT_WRAPPER_MAGIC 0x466243b1u /* of __fatBinC_Wrapper_t, which points to a fat binary */

/* As trace_schema.h says of loads.kind. */
enum kind { KIND_UNKNOWN, KIND_MACHINE_CODE, KIND_PTX, KIND_FAT_BINARY, KIND_FILE };

struct fat_wrapper {
	uint32_t magic, version;
	const void *data;
};

/* _dl_find_object of glibc 2.35 and newer takes no lock; NULL: there is none. */
static int (*find_object)(void *address, void *result);

static atomic_bool has_own_code; /* something was loaded that does not lie in an object */

static bool lies_in_object(const void *address)
{
	char result[256]; /* struct dl_find_object has 8 words */

	return find_object && find_object((void *)(uintptr_t)address, result) == 0;
}

static enum kind kind_of(uint32_t magic)
{
	unsigned char first = magic & 0xff;

	if (magic == ELF_MAGIC)
		return KIND_MACHINE_CODE;
	if (magic == FAT_BINARY_MAGIC || magic == FAT_WRAPPER_MAGIC)
		return KIND_FAT_BINARY;
	return first == '\t' || first == '\n' || first == '\r' || (first >= ' ' && first < 127)
		       ? KIND_PTX
		       : KIND_UNKNOWN;
}

static bool is_embedded(const void *image, uint32_t magic)
{
	struct fat_wrapper wrapper;

	if (lies_in_object(image))
		return true;
	if (magic != FAT_WRAPPER_MAGIC)
		return false;
	memcpy(&wrapper, image, sizeof(wrapper));
	return lies_in_object(wrapper.data);
}

/* A text may be shorter than the others' first word. */
static uint32_t magic_of(const void *image)
{
	uint32_t magic = *(const unsigned char *)image;

	if (magic == (ELF_MAGIC & 0xff) || magic == (FAT_BINARY_MAGIC & 0xff) ||
	    magic == (FAT_WRAPPER_MAGIC & 0xff))
		memcpy(&magic, image, sizeof(magic));
	return magic;
}

/* The driver reads it, too. */
static void note_image(uint32_t correlation, const void *image)
{
	struct trace_loads_row row = {.correlation = correlation};
	uint32_t magic = magic_of(image);

	row.kind = kind_of(magic);
	row.is_embedded = is_embedded(image, magic);
	if (!row.is_embedded)
		has_own_code = true;
	program_rows_put_load(&row);
}

/* What the call waits for is the recording's, not the program's. */
static void deliver(uint32_t correlation)
{
	struct trace_overheads_row row = {.start_ns = clock_ns(CLOCK_REALTIME),
					  .is_profiler = 1,
					  .thread = (uint32_t)syscall(SYS_gettid),
					  .correlation = correlation};

	flush_thread_deliver();
	row.end_ns = clock_ns(CLOCK_REALTIME);
	program_rows_put_delivery(&row);
}

/* The members are laid out alike: what is loaded comes second. */
static const void *image_of(const CUpti_CallbackData *data)
{
	const cuModuleLoadData_params *call = data->functionParams;

	return call ? call->image : NULL;
}

bool loaded_images_on_call(CUpti_CallbackId id, const CUpti_CallbackData *data)
{
	switch (id) {
	case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData:
	case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadDataEx:
	case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadFatBinary:
	case CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData:
		if (data->callbackSite == CUPTI_API_ENTER && image_of(data))
			note_image(data->correlationId, image_of(data));
		return true;
	case CUPTI_DRIVER_TRACE_CBID_cuModuleUnload:
	case CUPTI_DRIVER_TRACE_CBID_cuLibraryUnload:
		if (data->callbackSite == CUPTI_API_ENTER && has_own_code)
			deliver(data->correlationId);
		return true;
	case CUPTI_DRIVER_TRACE_CBID_cuModuleLoad:
	case CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadFromFile:
		has_own_code = true;
		if (data->callbackSite == CUPTI_API_ENTER)
			program_rows_put_load(
				&(struct trace_loads_row){.correlation = data->correlationId,
							  .kind = KIND_FILE});
		return true;
	default:
		return false;
	}
}

void loaded_images_start(const struct cupti_api *cupti, CUpti_SubscriberHandle subscriber)
{
	static const CUpti_CallbackId calls[] = {
		CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData,
		CUPTI_DRIVER_TRACE_CBID_cuModuleLoadDataEx,
		CUPTI_DRIVER_TRACE_CBID_cuModuleLoadFatBinary,
		CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData,
		CUPTI_DRIVER_TRACE_CBID_cuModuleLoad,
		CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadFromFile,
		CUPTI_DRIVER_TRACE_CBID_cuModuleUnload,
		CUPTI_DRIVER_TRACE_CBID_cuLibraryUnload,
	};

	*(void **)&find_object = dlsym(RTLD_DEFAULT, "_dl_find_object");
	if (!find_object)
		return;
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		cupti->cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, calls[i]);
}
