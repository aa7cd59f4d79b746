#define _GNU_SOURCE /* asprintf */

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/loader.h"

/* Operations keep their device in 16 bits. */
#define DEVICE_LIMIT ((size_t)UINT16_MAX)
/* Streams of one id in several contexts that are looked at one by one. */
#define STREAM_TRIES 4
/* Of the number that a second folder of the same process id ends in. */
#define FOLDER_ATTEMPT_DIGITS 3

static struct profile_process *loader_facts(const struct process_loader *loader)
{
	return &loader->loader->profile->processes[loader->process];
}

/* ---- process ---- */

static bool parse_fact(int64_t *number, const char *text)
{
	char *end;
	long long value;

	errno = 0;
	value = strtoll(text, &end, 10);
	*number = value;
	return *text && !*end && errno == 0 && value >= 0;
}

/* Facts that are whole numbers, from least on. */
static const struct {
	const char *key;
	int64_t least;
} number_facts[] = {{"pid", 1}, {"start_ns", 0}, {"sealed_ns", 0}, {"rank", 0}, {"world_size", 1}};

static void check_fact(struct loader_task *task, const struct profile_property *property,
		       const struct reader_place *place)
{
	for (size_t i = 0; i < sizeof(number_facts) / sizeof(*number_facts); i++) {
		int64_t number;

		if (!*property->value || strcmp(property->key, number_facts[i].key) ||
		    (parse_fact(&number, property->value) && number >= number_facts[i].least))
			continue;
		reader_count_loss(&task->losses, READER_unreadable_rows, place,
				  "%s is '%.40s', not a whole number from %lld on, and taken as "
				  "unknown; correct the line, or record again",
				  property->key, property->value, (long long)number_facts[i].least);
	}
}

static int add_property(const union trace_row *row, const struct reader_place *place, void *context)
{
	struct loader_task *task = context;
	struct process_loader *loader = task->owner;
	struct profile_process *process = loader_facts(loader);
	struct profile_property *property =
		ARRAY_NEXT(process->properties, loader->property_capacity, process->property_count);

	if (!property)
		return -ENOMEM;
	*property = (struct profile_property){strdup(row->process.key), strdup(row->process.value)};
	process->property_count++;
	if (!property->key || !property->value)
		return -ENOMEM;
	check_fact(task, property, place);
	if (!strcmp(property->key, "schema") &&
	    strtoll(property->value, NULL, 10) > TRACE_SCHEMA_VERSION)
		reader_count_loss(&task->losses, READER_newer_schema, place,
				  "schema %.20s is newer than %d, the newest that this version of "
				  "rooflinectl knows; use a newer rooflinectl",
				  property->value, TRACE_SCHEMA_VERSION);
	return 0;
}

int64_t loader_property_number(const struct profile_process *process, const char *key,
			       int64_t fallback)
{
	int64_t number;

	return parse_fact(&number, profile_property(process, key, "")) ? number : fallback;
}

static uint64_t folder_pid(const char *folder)
{
	const char *dot = strrchr(folder, '.');

	return dot ? strtoull(dot + 1, NULL, 10) : 0;
}

/* Without the number that it ends in; the same length where it ends in none. */
static size_t without_number(const char *folder, size_t length)
{
	size_t digits = 0;

	while (digits < length && isdigit((unsigned char)folder[length - 1 - digits]))
		digits++;
	return digits && digits + 1 < length && folder[length - 1 - digits] == '.'
		       ? length - digits - 1
		       : length;
}

/* "host" of host.4242, or of host.4242.2: of a process whose facts were lost; else host stays. */
static int folder_host(struct process_loader *loader, const char *folder, const char **host)
{
	size_t whole = strlen(folder), length = without_number(folder, whole);
	char name[NAME_MAX + 1];

	if (length + FOLDER_ATTEMPT_DIGITS + 1 >= whole)
		length = without_number(folder, length);
	if (length == whole || length >= sizeof(name))
		return 0;
	snprintf(name, sizeof(name), "%.*s", (int)length, folder);
	*host = strings_intern(loader->loader->texts, name);
	return *host ? 0 : -ENOMEM;
}

static void move_back(int64_t *moment_ns, int64_t ahead_ns)
{
	int64_t moved_ns;

	if (*moment_ns && !__builtin_sub_overflow(*moment_ns, ahead_ns, &moved_ns) && moved_ns > 0)
		*moment_ns = moved_ns;
}

/* By which clock its times shall be. */
static int choose_clock(struct process_loader *loader, struct profile_process *process)
{
	const struct loader *all = loader->loader;

	for (size_t i = 0; i < all->clock_count; i++) {
		const struct host_clock *clock = &all->clocks[i];

		if (strcmp(clock->host, process->host))
			continue;
		process->clock_host = strings_intern(all->texts, clock->base);
		process->clock_ahead_ns = loader->ahead_ns = clock->ahead_ns;
		process->clock_error_ns = clock->error_ns;
		process->clock_common_count = clock->common_count;
		move_back(&process->start_ns, clock->ahead_ns);
		move_back(&process->sealed_ns, clock->ahead_ns);
		return process->clock_host ? 0 : -ENOMEM;
	}
	return 0;
}

int loader_parse_process_facts(struct process_loader *loader)
{
	struct profile_process *process = loader_facts(loader);

	process->host = profile_property(process, "host", "");
	if (!process->property_count && folder_host(loader, process->folder, &process->host) < 0)
		return -ENOMEM;
	process->command = profile_property(process, "command", "");
	process->pid = (uint64_t)loader_property_number(process, "pid", 0);
	if (!process->pid)
		process->pid = folder_pid(process->folder);
	process->start_ns = loader_property_number(process, "start_ns", 0);
	process->sealed_ns = loader_property_number(process, "sealed_ns", 0);
	process->rank = loader_property_number(process, "rank", -1);
	process->run = (uint32_t)loader_property_number(process, "run", 0);
	process->is_replay =
		!strcmp(profile_property(process, "counters_mode", "rotation"), "replay");
	process->is_graph_level = !strcmp(profile_property(process, "graphs", "node"), "graph");
	process->has_managed = loader_property_number(process, "managed", 0) != 0;
	process->is_filtered = *profile_property(process, "filter_kernels", "") ||
			       loader_property_number(process, "delay_ns", 0) ||
			       loader_property_number(process, "duration_ns", 0) ||
			       loader_property_number(process, "profiler_api", 0);
	return choose_clock(loader, process);
}

/* ---- names ---- */

static int add_name(const union trace_row *row, const struct reader_place *place, void *context)
{
	struct process_loader *loader = ((struct loader_task *)context)->owner;
	const char **text =
		ARRAY_NEXT(loader->name_texts, loader->name_text_capacity, loader->name_count);
	uint32_t *call =
		ARRAY_NEXT(loader->name_calls, loader->name_call_capacity, loader->name_count);

	(void)place;
	if (!text || !call || !(*text = strings_intern(loader->loader->texts, row->names.text)))
		return -ENOMEM;
	*call = PROFILE_NONE;
	return id_map_put(&loader->names, row->names.id, (uint32_t)loader->name_count++);
}

const char *loader_name(const struct process_loader *loader, uint32_t id)
{
	uint32_t index = id_map_get(&loader->names, id);

	return index == PROFILE_NONE ? NULL : loader->name_texts[index];
}

/* ---- devices ---- */

/* Devices are the same by UUID, without one by ordinal, name and host; the number of an equal one, or of a new one. */
static int device_number(struct loader *loader, const struct trace_devices_row *row,
			 const char *host, uint32_t *number)
{
	char *identity = NULL;
	int length, rc;

	if (*row->uuid)
		length = asprintf(&identity, "%s", row->uuid);
	else
		length = asprintf(&identity, "\n%u\n%s\n%s", row->device, row->name, host);
	if (length < 0)
		return -ENOMEM;
	rc = groups_find(&loader->device_identities, identity, (size_t)length, number);
	free(identity);
	return rc;
}

static void device_fill(struct profile_device *device, const struct trace_devices_row *row)
{
	*device = (struct profile_device){
		.name = strdup(row->name),
		.uuid = strdup(row->uuid),
		.compute_major = row->compute_major,
		.compute_minor = row->compute_minor,
		.sm_count = row->sm_count,
		.sm_clock_khz = row->sm_clock_khz,
		.memory_bytes = row->memory_bytes,
		.memory_byte_per_s = row->memory_byte_per_s,
		.l2_bytes = row->l2_bytes,
		.max_warps_per_sm = row->max_warps_per_sm,
		.max_blocks_per_sm = row->max_blocks_per_sm,
		.max_registers_per_sm = row->max_registers_per_sm,
		.max_shared_bytes_per_sm = row->max_shared_bytes_per_sm,
	};
}

static uint32_t device_append(struct loader *loader, const struct trace_devices_row *row)
{
	struct profile *profile = loader->profile;
	struct profile_device *device =
		ARRAY_NEXT(profile->devices, loader->capacity.devices, profile->device_count);

	if (!device)
		return PROFILE_NONE;
	device_fill(device, row);
	profile->device_count++; /* before the check: profile_free frees what there is of it */
	if (!device->name || !device->uuid)
		return PROFILE_NONE;
	return (uint32_t)profile->device_count - 1;
}

/* The device of a row: an equal one of another process, or a new one. */
static uint32_t device_find_or_append(struct loader *loader, const struct trace_devices_row *row,
				      const char *host)
{
	uint32_t number;

	if (device_number(loader, row, host, &number) < 0)
		return PROFILE_NONE;
	if (number < loader->profile->device_count)
		return number;
	if (loader->profile->device_count >= DEVICE_LIMIT)
		return (uint32_t)DEVICE_LIMIT - 1;
	return device_append(loader, row);
}

static int loader_put_device(struct process_loader *loader, const struct trace_devices_row *row)
{
	const char *host = loader_facts(loader)->host;
	uint32_t device = device_find_or_append(loader->loader, row, host);

	if (device == PROFILE_NONE)
		return -ENOMEM;
	return id_map_put(&loader->devices, row->device, device);
}

static int add_device(const union trace_row *row, const struct reader_place *place, void *context)
{
	(void)place;
	return loader_put_device(((struct loader_task *)context)->owner, &row->devices);
}

uint32_t loader_device(struct process_loader *loader, uint32_t ordinal)
{
	const struct trace_devices_row unknown = {.device = ordinal,
						  .name = "unknown GPU",
						  .uuid = ""};
	uint32_t device = id_map_get(&loader->devices, ordinal);

	if (device != PROFILE_NONE)
		return device;
	if (loader_put_device(loader, &unknown) < 0)
		return PROFILE_NONE;
	return id_map_get(&loader->devices, ordinal);
}

/* ---- contexts and streams ---- */

static int add_context(const union trace_row *row, const struct reader_place *place, void *context)
{
	struct loader_task *task = context;
	struct process_loader *loader = task->owner;
	struct context_entry *entry = ARRAY_NEXT(loader->context_entries, loader->context_capacity,
						 loader->context_count);
	uint32_t device;

	if (id_map_get(&loader->devices, row->contexts.device) == PROFILE_NONE)
		reader_count_loss(&task->losses, READER_orphan_ids, place,
				  "device %u is not in devices.csv", row->contexts.device);
	device = loader_device(loader, row->contexts.device);
	if (!entry || device == PROFILE_NONE)
		return -ENOMEM;
	*entry = (struct context_entry){device, row->contexts.null_stream};
	return id_map_put(&loader->contexts, row->contexts.context,
			  (uint32_t)loader->context_count++);
}

static const struct context_entry *loader_context(const struct process_loader *loader,
						  uint32_t context)
{
	uint32_t index = id_map_get(&loader->contexts, context);

	return index == PROFILE_NONE ? NULL : &loader->context_entries[index];
}

/* The number of a stream among those of its process: the streams of a process stand behind each other. */
static int number_of_stream(struct process_loader *loader, uint32_t context, uint32_t id,
			    uint32_t *number)
{
	const uint32_t key[2] = {context, id};

	return groups_find(&loader->stream_numbers, key, sizeof(key), number);
}

/* Most processes have one context: the last stream of that id is the one.  Else, after a few others, its number tells. */
static uint32_t find_stream(const struct process_loader *loader, uint32_t context, uint32_t id)
{
	const struct profile *profile = loader->loader->profile;
	const uint32_t key[2] = {context, id};
	uint32_t stream = id_map_get(&loader->streams, id), number;

	for (int tries = 0; tries < STREAM_TRIES; tries++) {
		if (stream == PROFILE_NONE || profile->streams[stream].context == context)
			return stream;
		stream = loader->loader->next_stream[stream];
	}
	number = groups_look(&loader->stream_numbers, key, sizeof(key));
	return number == UINT32_MAX ? PROFILE_NONE : loader->first_stream + number;
}

static uint32_t stream_append(struct process_loader *loader, uint32_t context, uint32_t id,
			      uint32_t device)
{
	struct loader *all = loader->loader;
	struct profile *profile = all->profile;
	const struct context_entry *entry = loader_context(loader, context);
	uint32_t number;
	struct profile_stream *stream =
		ARRAY_NEXT(profile->streams, all->capacity.streams, profile->stream_count);
	uint32_t *next =
		ARRAY_NEXT(all->next_stream, all->next_stream_capacity, profile->stream_count);

	if (!stream || !next)
		return PROFILE_NONE;
	*stream = (struct profile_stream){
		.process = loader->process,
		.device = device,
		.context = context,
		.stream = id,
		.is_null = entry && entry->null_stream == id,
	};
	if (number_of_stream(loader, context, id, &number) < 0)
		return PROFILE_NONE;
	*next = id_map_get(&loader->streams, id);
	if (id_map_put(&loader->streams, id, (uint32_t)profile->stream_count) < 0)
		return PROFILE_NONE;
	return (uint32_t)profile->stream_count++;
}

uint32_t loader_stream(struct process_loader *loader, uint32_t context, uint32_t id,
		       uint32_t device)
{
	struct profile *profile = loader->loader->profile;
	uint32_t stream = find_stream(loader, context, id);

	if (stream == PROFILE_NONE)
		return stream_append(loader, context, id, device);
	if (profile->streams[stream].device == PROFILE_NONE)
		profile->streams[stream].device = device;
	return stream;
}

/* As only a damaged recording has it: that stream once more, which is not found by its id. */
static uint32_t append_on(struct process_loader *loader, uint32_t stream, uint32_t device)
{
	struct loader *all = loader->loader;
	struct profile *profile = all->profile;
	const uint32_t key[3] = {profile->streams[stream].context, profile->streams[stream].stream,
				 device};
	uint32_t number = groups_look(&loader->stream_numbers, key, sizeof(key));
	struct profile_stream *added;
	uint32_t *next;

	if (number != UINT32_MAX)
		return loader->first_stream + number;
	added = ARRAY_NEXT(profile->streams, all->capacity.streams, profile->stream_count);
	next = ARRAY_NEXT(all->next_stream, all->next_stream_capacity, profile->stream_count);
	if (!added || !next || groups_find(&loader->stream_numbers, key, sizeof(key), &number) < 0)
		return PROFILE_NONE;
	*added = profile->streams[stream];
	added->device = device;
	*next = PROFILE_NONE;
	return (uint32_t)profile->stream_count++;
}

uint32_t loader_stream_on(struct process_loader *loader, uint32_t context, uint32_t id,
			  uint32_t device)
{
	uint32_t stream = loader_stream(loader, context, id, device);

	return stream == PROFILE_NONE || loader->loader->profile->streams[stream].device == device
		       ? stream
		       : append_on(loader, stream, device);
}

uint32_t loader_stream_of_any(struct process_loader *loader, uint32_t context, uint32_t id,
			      uint32_t device)
{
	uint32_t only = id_map_get(&loader->streams, id);

	return find_stream(loader, context, id) == PROFILE_NONE && only != PROFILE_NONE
		       ? only
		       : loader_stream(loader, context, id, device);
}

static int add_stream(const union trace_row *row, const struct reader_place *place, void *context)
{
	struct loader_task *task = context;
	struct process_loader *loader = task->owner;
	const struct context_entry *entry = loader_context(loader, row->streams.context);
	struct profile_stream *stream;
	uint32_t index;

	if (!entry)
		reader_count_loss(&task->losses, READER_orphan_ids, place,
				  "context %u is not in contexts.csv", row->streams.context);
	index = loader_stream(loader, row->streams.context, row->streams.stream,
			      entry ? entry->device : PROFILE_NONE); /* until an operation tells */
	if (index == PROFILE_NONE)
		return -ENOMEM;
	stream = &loader->loader->profile->streams[index];
	stream->priority = row->streams.priority;
	stream->flag = row->streams.flag;
	if (stream->flag == 3) /* CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL */
		stream->is_null = true;
	return 0;
}

/* ---- signatures and threads ---- */

static int add_signature(const union trace_row *row, const struct reader_place *place,
			 void *context)
{
	struct loader_task *task = context;
	const char *name = loader_name(task->owner, row->signatures.name);
	uint32_t index;

	if (!name) {
		reader_count_loss(&task->losses, READER_orphan_ids, place,
				  "name %u is not in names.csv", row->signatures.name);
		name = "unknown kernel";
	}
	index = loader_signature(task->owner->loader, &row->signatures, name);
	if (index == PROFILE_NONE ||
	    id_map_put(&task->owner->name_kernels, row->signatures.name,
		       task->owner->loader->profile->signatures[index].kernel) < 0)
		return -ENOMEM;
	return id_map_put(&task->owner->signatures, row->signatures.id, index);
}

uint32_t loader_thread(struct process_loader *loader, uint32_t id)
{
	struct loader *all = loader->loader;
	uint32_t index = id_map_get(&loader->threads, id);
	struct profile_thread *thread;

	if (index != PROFILE_NONE)
		return index;
	thread = ARRAY_NEXT(all->profile->threads, all->capacity.threads,
			    all->profile->thread_count);
	index = (uint32_t)all->profile->thread_count;
	if (!thread || id_map_put(&loader->threads, id, index) < 0)
		return PROFILE_NONE;
	*thread = (struct profile_thread){.process = loader->process, .thread = id};
	all->profile->thread_count++;
	return index;
}

static int add_thread(const union trace_row *row, const struct reader_place *place, void *context)
{
	struct loader_task *task = context;
	uint32_t index = loader_thread(task->owner, row->threads.thread);
	const char *name = loader_name(task->owner, row->threads.name);

	if (index == PROFILE_NONE)
		return -ENOMEM;
	if (!name)
		reader_count_loss(&task->losses, READER_orphan_ids, place,
				  "name %u is not in names.csv", row->threads.name);
	task->owner->loader->profile->threads[index].name = name;
	return 0;
}

int loader_read_small_tables(struct process_loader *loader)
{
	struct loader_task *task = &loader->small;
	int rc = loader_read(task, TRACE_TABLE_process, add_property);

	if (rc == 0)
		rc = loader_parse_process_facts(loader);
	if (rc == 0)
		rc = loader_read(task, TRACE_TABLE_names, add_name);
	if (rc == 0)
		rc = loader_read(task, TRACE_TABLE_devices, add_device);
	if (rc == 0)
		rc = loader_read(task, TRACE_TABLE_contexts, add_context);
	if (rc == 0)
		rc = loader_read(task, TRACE_TABLE_streams, add_stream);
	if (rc == 0)
		rc = loader_read(task, TRACE_TABLE_signatures, add_signature);
	if (rc == 0)
		rc = loader_read(task, TRACE_TABLE_machine_code, loader_add_machine_code);
	if (rc == 0)
		rc = loader_read(task, TRACE_TABLE_threads, add_thread);
	if (rc == 0)
		rc = loader_read(task, TRACE_TABLE_metrics, loader_add_metric);
	if (rc == 0)
		rc = loader_read(task, TRACE_TABLE_sampled_metrics, loader_add_sampled_metric);
	return rc;
}
