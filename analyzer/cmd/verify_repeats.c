#include "cmd/verify_repeats.h"

#include <errno.h>
#include <stdlib.h>

#include "cmd/compare_sides.h"

struct timed_repeat {
	const char *path;
	double ns;
};

static int compare_repeats(const void *left, const void *right)
{
	const struct timed_repeat *a = left, *b = right;

	return (a->ns > b->ns) - (a->ns < b->ns);
}

/* A recording that is not there; -ENOENT is of a range. */
static int of_recording(int rc)
{
	return rc == -ENOENT ? -EIO : rc;
}

static int time_repeat(struct timed_repeat *repeat, const char *path, const char *range,
		       struct err *err)
{
	struct compared_time time = {0};
	struct profile *profile = NULL;
	int rc = of_recording(profile_load(&profile, path, err));

	if (rc == 0)
		rc = comparison_time(&time, profile, range, err);
	*repeat = (struct timed_repeat){path, time.mean_ns};
	profile_free(profile);
	return rc;
}

static int choose_median(struct verify_side *side, const struct side *of, const char *range,
			 struct err *err)
{
	struct timed_repeat *repeats = calloc(of->path_count, sizeof(*repeats));
	int rc = 0;

	if (!repeats)
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < of->path_count && rc == 0; i++)
		rc = time_repeat(&repeats[i], of->paths[i], range, err);
	if (rc == 0) {
		qsort(repeats, of->path_count, sizeof(*repeats), compare_repeats);
		side->path = repeats[(of->path_count - 1) / 2].path;
		side->repeats = (struct compared_repeats){of->path_count, repeats[0].ns,
							  repeats[of->path_count - 1].ns};
	}
	free(repeats);
	return rc;
}

int verify_side_choose(struct verify_side *side, const char *path, const char *range,
		       struct err *err)
{
	int rc;

	*side = (struct verify_side){.repeats = {.count = 1}};
	rc = of_recording(compare_sides_add(&side->sides, path, err));
	if (rc < 0)
		return rc;
	side->path = side->sides.items[0].paths[0];
	return side->sides.items[0].path_count > 1
		       ? choose_median(side, &side->sides.items[0], range, err)
		       : 0;
}

void verify_side_free(struct verify_side *side)
{
	sides_free(&side->sides);
}
