#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/groups.h"
#include "base/paths.h"
#include "base/sums.h"
#include "trace/loader.h"
#include "trace/table_form.h"
#include "trace/usable_times.h"

bool loader_check_times(struct loader_task *task, int64_t start_ns, int64_t end_ns,
			const struct reader_place *place)
{
	if (!usable_times(start_ns, end_ns)) {
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

/* What was not asked for is there all the same, or is empty, which reading would have told. */
static int look_at(struct loader_task *task, enum trace_table table)
{
	const struct reader_place place = {task->owner->source->name, table, 1};
	struct recording_table bytes;
	char first;

	if (recording_open_table(&bytes, task->owner->source, table) == 0) {
		task->opened_count++;
		if (recording_read_table(&bytes, &first, 1) == 0)
			reader_count_loss(&task->losses, READER_missing_tables, &place,
					  READER_NO_HEADER);
		recording_close_table(&bytes);
	}
	return 0;
}

static int stop_at_row(const union trace_row *row, const struct reader_place *place, void *context)
{
	(void)row;
	(void)place;
	*(bool *)context = true;
	return -ECANCELED;
}

bool loader_has_rows(const struct recording_process *source, enum trace_table table)
{
	struct reader_losses losses = {0};
	struct err err = {""};
	bool has_rows = false;

	/* Where it fails there is no row, and whoever reads the table tells. */
	(void)reader_read_table(source, table, stop_at_row, &has_rows, &losses, &err);
	return has_rows;
}

/* A table whose moments are by another host's clock. */
struct moving {
	struct loader_task *task;
	reader_row each;
	struct table_form form;
};

/* Columns of that type are moments, of which 0 is none. */
static int move_row(const union trace_row *row, const struct reader_place *place, void *context)
{
	const struct moving *moving = context;
	union trace_row moved = *row;

	for (size_t i = 0; i < moving->form.column_count; i++) {
		const struct table_column *column = &moving->form.columns[i];
		int64_t ns;

		if (column->type != COLUMN_i64)
			continue;
		memcpy(&ns, (const char *)&moved + column->offset, sizeof(ns));
		if (!ns || __builtin_sub_overflow(ns, moving->task->owner->ahead_ns, &ns))
			continue;
		memcpy((char *)&moved + column->offset, &ns, sizeof(ns));
	}
	return moving->each(&moved, place, moving->task);
}

static int read_moved(struct loader_task *task, enum trace_table table, reader_row each,
		      struct err *err)
{
	struct moving moving = {task, each, table_form_of(table)};

	if (!task->owner->ahead_ns)
		return reader_read_table(task->owner->source, table, each, task, &task->losses,
					 err);
	return reader_read_table(task->owner->source, table, move_row, &moving, &task->losses, err);
}

int loader_read(struct loader_task *task, enum trace_table table, reader_row each)
{
	const struct recording_process *source = task->owner->source;
	struct reader_place place = {source->name, table, 0};
	struct err err = {""};
	int rc;

	if (!(task->owner->tables >> table & 1))
		return look_at(task, table);
	rc = read_moved(task, table, each, &err);
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

/* Where the process's loss of that kind is in losses[], or has to be added. */
static int find_loss(struct process_loader *loader, const char *kind, size_t *index)
{
	uint32_t number;
	int rc = groups_find(&loader->loss_kinds, &kind, sizeof(kind), &number);

	*index = loader->first_loss + number;
	return rc;
}

static int add_new_loss(struct loader *loader, struct profile_loss like)
{
	struct profile_loss *loss = ARRAY_NEXT(loader->profile->losses, loader->capacity.losses,
					       loader->profile->loss_count);

	if (!loss)
		return -ENOMEM;
	*loss = like;
	loader->profile->loss_count++;
	return 0;
}

int loader_add_loss(struct process_loader *loader, const char *kind, uint64_t count,
		    const char *detail)
{
	struct loader *all = loader->loader;
	size_t index;

	kind = strings_intern(all->texts, kind);
	detail = strings_intern(all->texts, detail);
	if (!kind || !detail || find_loss(loader, kind, &index) < 0)
		return -ENOMEM;
	if (index < all->profile->loss_count) {
		sum_add_count(&all->profile->losses[index].count, count);
		return 0;
	}
	return add_new_loss(all, (struct profile_loss){loader->process, kind, count, detail});
}

int loader_add_loss_of(struct loader *loader, uint32_t process, const char *kind, uint64_t count,
		       const char *detail)
{
	struct profile *profile = loader->profile;

	kind = strings_intern(loader->texts, kind);
	detail = strings_intern(loader->texts, detail);
	if (!kind || !detail)
		return -ENOMEM;
	for (size_t i = 0; i < profile->loss_count; i++)
		if (profile->losses[i].process == process && profile->losses[i].kind == kind) {
			sum_add_count(&profile->losses[i].count, count);
			return 0;
		}
	return add_new_loss(loader, (struct profile_loss){process, kind, count, detail});
}

int loader_sum_losses(struct profile *profile)
{
	struct groups kinds = {0};
	int rc = 0;

	profile->loss_sums = calloc(profile->loss_count + 1, sizeof(*profile->loss_sums));
	if (!profile->loss_sums)
		return -ENOMEM;
	for (size_t i = 0; rc == 0 && i < profile->loss_count; i++) {
		const struct profile_loss *loss = &profile->losses[i];
		struct profile_loss_sum *sum;
		uint32_t number;

		rc = groups_find(&kinds, &loss->kind, sizeof(loss->kind), &number);
		if (rc < 0)
			break;
		sum = &profile->loss_sums[number];
		if (number == profile->loss_sum_count) {
			*sum = (struct profile_loss_sum){loss->kind, 0, (uint32_t)i};
			profile->loss_sum_count++;
		}
		sum_add_count(&sum->count, loss->count);
	}
	groups_free(&kinds);
	return rc;
}
