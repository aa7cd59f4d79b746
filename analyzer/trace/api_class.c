#include "trace/api_class.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum match { STARTS, CONTAINS };

struct pattern {
	enum match match;
	const char *text; /* of the name without cu or cuda */
	enum profile_call_class call_class;
};

/* The first row that fits decides, so what is special stands above what is general. */
static const struct pattern patterns[] = {
	{STARTS, "GraphLaunch", CALL_GRAPH_LAUNCH},
	{STARTS, "Graphics", CALL_MEMORY}, /* registers and maps buffers of OpenGL, Vulkan */
	{STARTS, "Graph", CALL_GRAPH_MANAGE},
	{STARTS, "StreamBeginCapture", CALL_GRAPH_MANAGE},
	{STARTS, "StreamEndCapture", CALL_GRAPH_MANAGE},
	{STARTS, "StreamGetCaptureInfo", CALL_GRAPH_MANAGE},
	{STARTS, "StreamIsCapturing", CALL_GRAPH_MANAGE},
	{STARTS, "StreamUpdateCaptureDependencies", CALL_GRAPH_MANAGE},
	{STARTS, "ThreadExchangeStreamCaptureMode", CALL_GRAPH_MANAGE},
	{STARTS, "UserObject", CALL_GRAPH_MANAGE},

	{CONTAINS, "Synchronize", CALL_SYNC},

	{STARTS, "Launch", CALL_LAUNCH}, /* kernels, cooperative, host functions */
	{STARTS, "StreamAddCallback", CALL_LAUNCH},
	{STARTS, "ModuleLaunch", CALL_LAUNCH}, /* HIP's own */
	{STARTS, "ExtModuleLaunch", CALL_LAUNCH},
	{STARTS, "ExtLaunch", CALL_LAUNCH},

	{STARTS, "Memcpy", CALL_COPY},
	{STARTS, "Memset", CALL_COPY},
	{STARTS, "MemPrefetch", CALL_COPY},
	{STARTS, "MemDiscardAndPrefetch", CALL_COPY},

	{STARTS, "EventCreate", CALL_CREATE},
	{STARTS, "EventDestroy", CALL_CREATE},
	{STARTS, "StreamCreate", CALL_CREATE},
	{STARTS, "StreamDestroy", CALL_CREATE},

	{STARTS, "Event", CALL_EVENT},
	{STARTS, "StreamWait", CALL_EVENT},
	{STARTS, "StreamWriteValue", CALL_EVENT},
	{STARTS, "StreamBatchMemOp", CALL_EVENT},
	{STARTS, "StreamQuery", CALL_EVENT},

	{STARTS, "Mem", CALL_MEMORY}, /* cuMemAlloc, cuMemFree, cuMemMap, cudaMemPool... */
	{STARTS, "Malloc", CALL_MEMORY},
	{STARTS, "Free", CALL_MEMORY},
	{STARTS, "Host", CALL_MEMORY},
	{STARTS, "Array", CALL_MEMORY},
	{STARTS, "MipmappedArray", CALL_MEMORY},
	{STARTS, "ImportExternalMemory", CALL_MEMORY},
	{STARTS, "ExternalMemory", CALL_MEMORY},
	{STARTS, "DestroyExternalMemory", CALL_MEMORY},
	{STARTS, "IpcOpenMem", CALL_MEMORY},
	{STARTS, "IpcCloseMem", CALL_MEMORY},
	{STARTS, "DeviceSetMemPool", CALL_MEMORY},
	{STARTS, "DeviceGraphMemTrim", CALL_MEMORY},

	{STARTS, "Module", CALL_MODULE},
	{STARTS, "Library", CALL_MODULE},
	{STARTS, "Link", CALL_MODULE},
	{STARTS, "KernelGet", CALL_MODULE}, /* loads lazily */
	{STARTS, "FuncLoad", CALL_MODULE},
	{STARTS, "GetFuncBySymbol", CALL_MODULE},
	{STARTS, "FuncGetAttributes", CALL_MODULE}, /* loads lazily */
	{STARTS, "FuncSet", CALL_MODULE},	    /* likewise */
	{STARTS, "KernelSet", CALL_MODULE},
	{STARTS, "RegisterFatBinary", CALL_MODULE},
	{STARTS, "InitModule", CALL_MODULE},
};

/* Length of name without one suffix; the same length when it ends with none. */
static size_t length_without_suffix(const char *name, size_t length)
{
	size_t digits = 0;

	if (length > 5 &&
	    (!strncmp(name + length - 5, "_ptsz", 5) || !strncmp(name + length - 5, "_ptds", 5)))
		return length - 5;
	while (digits < length && isdigit((unsigned char)name[length - 1 - digits]))
		digits++;
	if (digits > 0 && length > digits + 2 && !strncmp(name + length - digits - 2, "_v", 2))
		return length - digits - 2;
	return length;
}

void api_plain_name(char *buffer, size_t size, const char *name)
{
	size_t length, shorter;

	name += strspn(name, "_");
	length = strlen(name);
	while ((shorter = length_without_suffix(name, length)) != length)
		length = shorter;
	snprintf(buffer, size, "%.*s", (int)(length < size ? length : size), name);
}

static bool pattern_fits(const struct pattern *pattern, const char *verb)
{
	if (pattern->match == CONTAINS)
		return strstr(verb, pattern->text) != NULL;
	return !strncmp(verb, pattern->text, strlen(pattern->text));
}

enum profile_call_class api_class(const char *plain_name)
{
	const char *verb = plain_name;

	if (!strncmp(verb, "cuda", 4))
		verb += 4;
	else if (!strncmp(verb, "cu", 2))
		verb += 2;
	else if (!strncmp(verb, "hip",
			  3)) /* of imported recordings of AMD's GPUs: the names are CUDA's */
		verb += 3;
	/* cublasCreate and cudnnCreate are no calls of CUDA itself */
	if (verb == plain_name || !isupper((unsigned char)*verb))
		return CALL_OTHER;
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		if (pattern_fits(&patterns[i], verb))
			return patterns[i].call_class;
	return CALL_OTHER;
}
