#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/paths.h"
#include "trace/loader.h"

/* One operation, call or wait that took longer is a damaged number; analyses add up thousands of
 * them without leaving 64 bits. */
#define LONGEST_NS ((int64_t)30 * 24 * 3600 * 1000000000)
/* In the year 2116: what is added to a moment leads out of 64 bits nowhere. */
#define LATEST_NS (INT64_MAX / 2)

bool loader_check_times(struct loader_task *task, int64_t start_ns, int64_t end_ns,
			const struct reader_place *place)
{
	if (start_ns <= 0 || end_ns < start_ns || end_ns > LATEST_NS ||
	    end_ns - start_ns > LONGEST_NS) {
		reader_count_loss(&task->losses, READER_invalid_times, place,
				  "start %lld, end %lld", (long long)start_ns, (long long)end_ns);
		return false;
	}
	if (!task->first_ns || start_ns < task->first_ns)
		task->first_ns = start_ns;
	if (end_ns > task->last_ns)
		task->last_ns = end_ns;
	return true;
}

int loader_read(struct loader_task *task, enum trace_table table, reader_row each)
{
	const struct recording_process *source = task->owner->source;
	struct reader_place place = {source->name, table, 0};
	struct err err = {""};
	int rc = reader_read_table(source, table, each, task, &task->losses, &err);

	if (rc == 0)
		task->opened_count++;
	if (rc == 0 || rc == -ENOENT)
		return 0;
	err_set(&task->err, rc, "%s", err.text);
	if (rc == -ENOMEM)
		return rc;
	reader_count_loss(&task->losses, READER_unreadable_rows, &place,
			  "the table cannot be read: %s", path_problem(rc));
	return 0;
}

/* ---- losses ---- */

static struct profile_loss *find_loss(struct process_loader *loader, const char *kind)
{
	struct profile *profile = loader->loader->profile;

	for (size_t i = profile->loss_count; i > 0; i--) {
		struct profile_loss *loss = &profile->losses[i - 1];

		if (loss->process != loader->process)
			break;
		if (loss->kind == kind)
			return loss;
	}
	return NULL;
}

int loader_add_loss(struct process_loader *loader, const char *kind, uint64_t count,
		    const char *detail)
{
	struct loader *all = loader->loader;
	struct profile_loss *loss;

	kind = strings_intern(all->texts, kind);
	detail = strings_intern(all->texts, detail);
	if (!kind || !detail)
		return -ENOMEM;
	loss = find_loss(loader, kind);
	if (loss) {
		if (__builtin_add_overflow(loss->count, count, &loss->count))
			loss->count = UINT64_MAX;
		return 0;
	}
	loss = ARRAY_NEXT(all->profile->losses, all->capacity.losses, all->profile->loss_count);
	if (!loss)
		return -ENOMEM;
	*loss = (struct profile_loss){loader->process, kind, count, detail};
	all->profile->loss_count++;
	return 0;
}
