#define _GNU_SOURCE
#include "nccl_calls.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <generated_nvtx_meta.h>

#include "clock.h"
#include "inject.h"
#include "nvtx_stubs.h"
#include "program_rows.h"
#include "window.h"

/* ---- what NVTX's extension for payloads declares, which not every toolkit has a header of ---- */

#define PAYLOAD_TYPE_EXTENDED ((int32_t)0xDFBD0009) /* nvtxEventAttributes_t.payloadType */
#define STATIC_SCHEMAS (UINT64_C(1) << 24)	    /* programs number their schemas from here on */

struct payload {
	uint64_t schema;
	size_t size;
	const void *bytes;
};

typedef int pop_function(nvtxDomainHandle_t, const struct payload *, size_t);

enum { PAYLOAD_MODULE = 2, SLOT_POP_PAYLOAD = 4, SLOT_DISABLED = 1 };

struct segment {
	size_t id, slot_count;
	intptr_t *slots;
};

struct extension {
	uint16_t version, struct_size, module, compatibility;
	size_t segment_count;
	struct segment *segments;
};

/* ---- what NCCL's payloads are: a schema's number never gets another meaning ---- */

enum { COMMUNICATOR_RANK = 1, COMMUNICATOR_ALL, COMMUNICATOR_SPLIT };

/* Numbers behind the size of a message: a rank, an operation. */
static const struct schema {
	const char *operation; /* NULL: it makes a communicator */
	bool has_peer, has_reduction;
	int communicator;
} schemas[] = {
	[0] = {.communicator = COMMUNICATOR_RANK},
	[1] = {.communicator = COMMUNICATOR_ALL},
	[4] = {"AllGather"},
	[5] = {"AllReduce", .has_reduction = true},
	[6] = {"Broadcast", .has_peer = true},
	[7] = {"ReduceScatter", .has_reduction = true},
	[8] = {"Reduce", .has_peer = true, .has_reduction = true},
	[9] = {"Send", .has_peer = true},
	[10] = {"Recv", .has_peer = true},
	[11] = {.communicator = COMMUNICATOR_RANK},
	[12] = {.communicator = COMMUNICATOR_RANK},
	[13] = {.communicator = COMMUNICATOR_SPLIT},
	[15] = {.communicator = COMMUNICATOR_RANK}, /* shrunk */
	[16] = {"AlltoAll"},
	[17] = {"Gather", .has_peer = true},
	[18] = {"Scatter", .has_peer = true},
	[20] = {.communicator = COMMUNICATOR_SPLIT}, /* grown */
};

#define SCHEMA_COUNT (sizeof(schemas) / sizeof(*schemas))

/* A payload, of which so much was read. */
struct reading {
	const struct payload *payload;
	size_t offset;
};

/* False when it is not as long. */
static bool read_bytes(struct reading *reading, void *value, size_t size)
{
	const struct payload *payload = reading->payload;

	if (payload->size < reading->offset + size)
		return false;
	memcpy(value, (const char *)payload->bytes + reading->offset, size);
	reading->offset += size;
	return true;
}

static bool read_long(struct reading *reading, trace_u64 *value)
{
	return read_bytes(reading, value, sizeof(uint64_t));
}

static bool read_int(struct reading *reading, trace_u32 *value)
{
	return read_bytes(reading, value, sizeof(uint32_t));
}

static uint32_t this_thread(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

/* Before 2.25 a payload has no communicator: it is as much shorter. */
static bool has_communicator(const struct schema *schema, const struct payload *payload)
{
	size_t ints = (size_t)schema->has_peer + (size_t)schema->has_reduction;
	size_t without = sizeof(uint64_t) + (ints ? sizeof(uint64_t) : 0);

	return payload->size >= without + sizeof(uint64_t);
}

static void note_collective(const struct schema *schema, const struct payload *payload)
{
	struct trace_collectives_row row = {.time_ns = clock_ns(CLOCK_REALTIME),
					    .thread = this_thread(),
					    .operation = schema->operation,
					    .peer = UINT32_MAX,
					    .reduction = UINT32_MAX};
	struct reading reading = {payload, 0};

	if (has_communicator(schema, payload) && !read_long(&reading, &row.communicator))
		return;
	if (!read_long(&reading, &row.bytes) ||
	    (schema->has_peer && !read_int(&reading, &row.peer)) ||
	    (schema->has_reduction && !read_int(&reading, &row.reduction)))
		return;
	if (window_contains(row.time_ns))
		program_rows_put_collective(&row);
}

/* 2.18 to 2.24: rank, ranks, device; later the communicator comes first, then ranks, rank, device. */
static bool read_rank(struct reading *reading, struct trace_communicators_row *row)
{
	if (reading->payload->size < sizeof(uint64_t) + 3 * sizeof(uint32_t))
		return read_int(reading, &row->rank) && read_int(reading, &row->rank_count) &&
		       read_int(reading, &row->device);
	return read_long(reading, &row->communicator) && read_int(reading, &row->rank_count) &&
	       read_int(reading, &row->rank) && read_int(reading, &row->device);
}

/* Behind the communicator comes the one that it was made of. */
static bool read_split(struct reading *reading, struct trace_communicators_row *row)
{
	trace_u64 parent;

	return read_long(reading, &row->communicator) && read_long(reading, &parent) &&
	       read_int(reading, &row->rank_count) && read_int(reading, &row->rank) &&
	       read_int(reading, &row->device);
}

/* Of all GPUs of this process, whose ranks are their places in a list that is not told. */
static bool read_all(struct reading *reading, struct trace_communicators_row *row)
{
	row->rank = row->device = UINT32_MAX;
	return read_long(reading, &row->communicator) && read_int(reading, &row->rank_count);
}

/* Rows of the time before the window stay: communicators are made once. */
static void note_communicator(const struct schema *schema, const struct payload *payload)
{
	static bool (*const read[])(struct reading *, struct trace_communicators_row *) = {
		[COMMUNICATOR_RANK] = read_rank,
		[COMMUNICATOR_ALL] = read_all,
		[COMMUNICATOR_SPLIT] = read_split,
	};
	struct trace_communicators_row row = {.time_ns = clock_ns(CLOCK_REALTIME),
					      .thread = this_thread()};
	struct reading reading = {payload, 0};

	if (read[schema->communicator](&reading, &row) && row.rank_count)
		program_rows_put_communicator(&row);
}

static void note(const struct payload *payload)
{
	uint64_t number = payload->schema - STATIC_SCHEMAS;

	if (payload->schema < STATIC_SCHEMAS || number >= SCHEMA_COUNT || !payload->bytes)
		return;
	if (schemas[number].operation)
		note_collective(&schemas[number], payload);
	else if (schemas[number].communicator)
		note_communicator(&schemas[number], payload);
}

static void note_all(const struct payload *payloads, size_t count)
{
	for (size_t i = 0; payloads && i < count; i++)
		note(&payloads[i]);
}

/* ---- NCCL's domains: each copy of the library that is loaded makes one ---- */

#define DOMAINS_MOST 16

static _Atomic(nvtxDomainHandle_t) domains[DOMAINS_MOST];

static bool is_nccls(nvtxDomainHandle_t domain)
{
	for (size_t i = 0; domain && i < DOMAINS_MOST; i++) {
		nvtxDomainHandle_t known = atomic_load_explicit(&domains[i], memory_order_acquire);

		if (!known || known == domain)
			return known != NULL;
	}
	return false;
}

static void on_domain(const nvtxDomainCreateA_params *call, const nvtxDomainHandle_t *created)
{
	if (!call || !call->name || strcmp(call->name, "NCCL") || !created || !*created)
		return;
	for (size_t i = 0; i < DOMAINS_MOST; i++) {
		nvtxDomainHandle_t known = NULL;

		if (atomic_compare_exchange_strong(&domains[i], &known, *created) ||
		    known == *created)
			return;
	}
}

void nccl_calls_on_nvtx(CUpti_CallbackId id, const CUpti_NvtxData *data)
{
	if (id == CUPTI_CBID_NVTX_nvtxDomainCreateA)
		on_domain(data->functionParams, data->functionReturnValue);
}

/* ---- ranges that are pushed ---- */

#define NO_TRACKING (-2) /* what NVTX returns without a tool */

typedef int push_function(nvtxDomainHandle_t, const nvtxEventAttributes_t *);

static _Atomic(push_function *) cupti_push; /* the same for all modules */

/* The payloads' number is in the field that has been reserved before. */
static int push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes)
{
	push_function *go_on = atomic_load_explicit(&cupti_push, memory_order_acquire);

	if (attributes && attributes->payloadType == PAYLOAD_TYPE_EXTENDED && is_nccls(domain) &&
	    inject_is_recording())
		note_all((const struct payload *)(uintptr_t)attributes->payload.ullValue,
			 (size_t)attributes->reserved0);
	return go_on ? go_on(domain, attributes) : NO_TRACKING;
}

/* ---- ranges that are popped with a payload ---- */

typedef int domain_pop_function(void *);

static _Atomic(pop_function *) cupti_pop; /* a CUPTI that has one */
static _Atomic(domain_pop_function *) domain_pop;

void nccl_calls_wrap(void *table)
{
	domain_pop_function *pop = (domain_pop_function *)nvtx_stubs_domain_pop(table);
	push_function *cuptis = (push_function *)nvtx_stubs_domain_push(table);

	if (pop)
		atomic_store_explicit(&domain_pop, pop, memory_order_release);
	if (!cuptis || cuptis == push)
		return;
	atomic_store_explicit(&cupti_push, cuptis, memory_order_release);
	nvtx_stubs_replace_domain_push(table, (nvtx_any_function *)push);
}

/* Of other domains' ranges nobody knows how they were pushed: without a CUPTI that does it they stay as they are. */
static int pop_payload(nvtxDomainHandle_t domain, const struct payload *payloads, size_t count)
{
	pop_function *pop = atomic_load_explicit(&cupti_pop, memory_order_acquire);
	domain_pop_function *plain = atomic_load_explicit(&domain_pop, memory_order_acquire);

	if (inject_is_recording() && is_nccls(domain)) {
		note_all(payloads, count);
		if (!pop && plain)
			return plain(domain);
	}
	return pop ? pop(domain, payloads, count) : NO_TRACKING;
}

bool nccl_calls_put(void *given)
{
	struct extension *extension = given;
	intptr_t *slot;

	if (!extension || extension->module != PAYLOAD_MODULE || !extension->segment_count ||
	    extension->segments[0].slot_count <= SLOT_POP_PAYLOAD)
		return false;
	slot = &extension->segments[0].slots[SLOT_POP_PAYLOAD];
	if (*slot && *slot != SLOT_DISABLED && *slot != (intptr_t)pop_payload)
		atomic_store_explicit(&cupti_pop, (pop_function *)*slot, memory_order_release);
	__atomic_store_n(slot, (intptr_t)pop_payload, __ATOMIC_RELEASE);
	return true;
}

void nccl_calls_start(const struct cupti_api *cupti, CUpti_SubscriberHandle subscriber,
		      const struct options *options)
{
	if (!options->nvtx)
		return;
	cupti->cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_NVTX,
				   CUPTI_CBID_NVTX_nvtxDomainCreateA);
}
