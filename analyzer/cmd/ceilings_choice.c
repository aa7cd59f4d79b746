#include "cmd/ceilings_choice.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/paths.h"
#include "cmd/ceilings_file.h"

#define SHIPPED_FOLDER "share/rooflinectl/ceilings"
#define STEM_SIZE 192 /* of a file's name without .json */

/* Letters of a file's name: what is not safe there, the space above all, becomes '_'. */
static void append_safe(char *stem, size_t size, const char *text)
{
	size_t length = strlen(stem);

	for (; *text && length + 1 < size; text++)
		stem[length++] =
			isalnum((unsigned char)*text) || strchr(".+-", *text) ? *text : '_';
	stem[length] = '\0';
}

static int user_folder(char *buffer, size_t size, struct err *err)
{
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
	int length;

	if (data && *data == '/') /* a relative one is to be ignored, says the XDG specification */
		length = snprintf(buffer, size, "%s/rooflinectl/ceilings", data);
	else if (home && *home)
		length = snprintf(buffer, size, "%s/.local/share/rooflinectl/ceilings", home);
	else
		return err_set(err, -ENOENT,
			       "HOME is not set, so there is no place of your own for "
			       "ceilings; give -o FILE");
	return (size_t)length < size ? 0 : err_set(err, -ENAMETOOLONG, "%s: too long", buffer);
}

int ceilings_user_path(char *buffer, size_t size, const char *gpu, const char *driver,
		       struct err *err)
{
	char folder[PATH_MAX], stem[STEM_SIZE] = "";
	int rc = user_folder(folder, sizeof(folder), err);

	if (rc < 0)
		return rc;
	append_safe(stem, sizeof(stem), gpu);
	append_safe(stem, sizeof(stem), "-");
	append_safe(stem, sizeof(stem), driver);
	if ((size_t)snprintf(buffer, size, "%s/%s.json", folder, stem) >= size)
		return err_set(err, -ENAMETOOLONG, "%s: too long", folder);
	return 0;
}

/* A folder is searched for the best file of one GPU. */
struct search {
	const char *gpu, *driver;
	struct ceilings *best;
	struct err *passed_over, *err;
};

/* The same driver beats another one, and then the later day; ISO 8601 sorts as text. */
static bool is_better(const struct search *search, const struct ceilings *candidate)
{
	bool fits = !strcmp(candidate->driver, search->driver), best_fits;

	if (!search->best)
		return true;
	best_fits = !strcmp(search->best->driver, search->driver);
	return fits != best_fits ? fits : strcmp(candidate->date, search->best->date) > 0;
}

/* One that is not in order is passed over.  Returns 0 or -ENOMEM. */
static int consider(struct search *search, const char *folder, const char *name)
{
	struct ceilings *candidate = NULL;
	struct err problem = {""};
	char path[PATH_MAX];
	int rc;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, name) >= sizeof(path))
		return 0;
	rc = ceilings_file_read(&candidate, path, &problem);
	if (rc == -ENOMEM)
		return err_set(search->err, rc, "%s", problem.text);
	if (rc < 0) {
		err_set(search->passed_over, rc, "%s", problem.text);
		return 0;
	}
	if (!strcmp(candidate->gpu, search->gpu) && is_better(search, candidate)) {
		struct ceilings *worse = search->best;

		search->best = candidate;
		candidate = worse;
	}
	ceilings_free(candidate);
	return 0;
}

/* Reads the files whose name begins with the GPU's and ends in .json. */
static int search_folder(struct search *search, const char *folder)
{
	char stem[STEM_SIZE] = "";
	struct dirent *entry;
	DIR *dir = opendir(folder);
	int rc = 0;

	if (!dir)
		return errno == ENOMEM ? err_set(search->err, -ENOMEM, "%s: out of memory", folder)
				       : 0;
	append_safe(stem, sizeof(stem), search->gpu);
	append_safe(stem, sizeof(stem), "-");
	while (rc == 0 && (entry = readdir(dir))) {
		size_t length = strlen(entry->d_name);

		if (!strncmp(entry->d_name, stem, strlen(stem)) && length > 5 &&
		    !strcmp(entry->d_name + length - 5, ".json"))
			rc = consider(search, folder, entry->d_name);
	}
	closedir(dir);
	return rc;
}

/* "measured on NVIDIA H200 with driver 580.1 on 2026-01-31", and what does not fit. */
static void note_measured(struct ceilings_choice *choice, const char *origin, const char *gpu,
			  const char *driver)
{
	const struct ceilings *ceilings = choice->ceilings;
	char other[160] = "";

	if (strcmp(ceilings->gpu, gpu))
		snprintf(other, sizeof(other), "; this GPU is %.100s", gpu);
	else if (*driver && strcmp(ceilings->driver, driver))
		snprintf(other, sizeof(other), "; the driver here is %.60s", driver);
	snprintf(choice->note, sizeof(choice->note), "%s%s on %.96s with driver %.40s on %.10s%s",
		 origin, ceilings->is_quick ? "measured quickly" : "measured", ceilings->gpu,
		 ceilings->driver, *ceilings->date ? ceilings->date : "unknown day", other);
}

/* The user's own files, then those that came with us. */
static int choose_stored(struct ceilings_choice *choice, const char *gpu, const char *driver,
			 struct err *err)
{
	struct search search = {.gpu = gpu,
				.driver = driver,
				.passed_over = &choice->passed_over,
				.err = err};
	const char *origin = "";
	char folder[PATH_MAX];
	int rc = 0;

	if (user_folder(folder, sizeof(folder), NULL) == 0)
		rc = search_folder(&search, folder);
	if (rc == 0 && !search.best) {
		origin = "shipped with rooflinectl, ";
		if (path_resource(folder, sizeof(folder), SHIPPED_FOLDER) == 0)
			rc = search_folder(&search, folder);
	}
	choice->ceilings = search.best;
	if (search.best)
		note_measured(choice, origin, gpu, driver);
	return rc;
}

static int choose_datasheet(struct ceilings_choice *choice, const char *gpu, uint32_t sm_count,
			    uint32_t sm_clock_khz, struct err *err)
{
	if (ceilings_of_datasheet(&choice->ceilings, gpu, sm_count, sm_clock_khz) < 0)
		return err_set(err, -ENOMEM, "out of memory");
	if (choice->ceilings)
		snprintf(choice->note, sizeof(choice->note),
			 "datasheet figures, which no program reaches: measure with 'rooflinectl "
			 "ceilings'");
	else
		snprintf(choice->note, sizeof(choice->note),
			 "none for %.96s: measure with 'rooflinectl ceilings'",
			 *gpu ? gpu : "an unknown GPU");
	return 0;
}

int ceilings_for_gpu(struct ceilings_choice *choice, const char *gpu, const char *driver,
		     uint32_t sm_count, uint32_t sm_clock_khz, const char *path, struct err *err)
{
	char origin[PATH_MAX + 8];
	int rc;

	*choice = (struct ceilings_choice){0};
	if (path) {
		rc = ceilings_file_read(&choice->ceilings, path, err);
		snprintf(origin, sizeof(origin), "%.700s: ", path);
		if (rc == 0)
			note_measured(choice, origin, gpu, driver);
		return rc;
	}
	rc = choose_stored(choice, gpu, driver, err);
	if (rc < 0 || choice->ceilings)
		return rc;
	return choose_datasheet(choice, gpu, sm_count, sm_clock_khz, err);
}

/* The driver of the first process that names one: a recording is of one machine, or of like ones. */
static const char *driver_of(const struct profile *profile)
{
	for (size_t i = 0; i < profile->process_count; i++) {
		const char *driver = profile_property(&profile->processes[i], "driver_name", "");

		if (*driver)
			return driver;
	}
	return "";
}

int ceilings_for(struct ceilings_choice *choice, const struct profile *profile,
		 const struct profile_device *device, const char *path, struct err *err)
{
	return ceilings_for_gpu(choice, device->name ? device->name : "", driver_of(profile),
				device->sm_count, device->sm_clock_khz, path, err);
}

void ceilings_choice_close(struct ceilings_choice *choice)
{
	ceilings_free(choice->ceilings);
	choice->ceilings = NULL;
}
