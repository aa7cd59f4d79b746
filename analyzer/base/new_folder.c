#include "base/new_folder.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/temporary.h"

/* Beside the folder, and hidden: nobody reads what is not whole. */
static bool name_temporary(char *temporary, size_t size, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return (size_t)snprintf(temporary, size, "%.*s.%s.XXXXXX", (int)(name - path), path, name) <
	       size;
}

int new_folder_open(struct new_folder *folder, const char *path, struct err *err)
{
	struct stat status;
	mode_t mask = umask(0);
	int rc;

	umask(mask);
	folder->path = path;
	if (lstat(path, &status) == 0)
		return err_set(err, -EEXIST, "%s: is there already; give -o another name", path);
	if (!name_temporary(folder->temporary, sizeof(folder->temporary), path))
		return err_set(err, -ENAMETOOLONG, "%s: the name is too long", path);
	rc = temporary_make_folder(folder->temporary);
	if (rc < 0)
		return err_set(err, rc, "%s: cannot be made: %s; give -o another name",
			       folder->temporary, strerror(-rc));
	if (chmod(folder->temporary, 0777 & ~mask) < 0) /* mkdtemp's 0700 hides it from others */
		errno = 0;
	return 0;
}

int new_folder_close(struct new_folder *folder, int rc, struct err *err)
{
	if (rc == 0 && rename(folder->temporary, folder->path) < 0)
		rc = err_set(err, -errno, "%s: cannot be made: %s; give -o another name",
			     folder->path, strerror(errno));
	if (rc < 0)
		temporary_remove(folder->temporary);
	else
		temporary_forget(folder->temporary);
	return rc;
}
