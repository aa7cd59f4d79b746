/*
 * checked.h - included before every file that clang-tidy reads: what a function of ours or of jansson returns has to be
 * looked at, as if each were declared with warn_unused_result.
 *
 * Exempt are functions of the headers included here, of which many return what only some callers want (printf, err_set), and
 * what a caller drops on purpose, with (void).  tidy.sh ends the attribute behind each file.
 */
#define _GNU_SOURCE
#include <archive.h>
#include <archive_entry.h>
#include <argp.h>
#include <csv.h>
#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <regex.h>
#include <signal.h>
#include <spawn.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <yajl/yajl_parse.h>
#include <zstd.h>

#include "base/err.h"
#include "base/format.h"

#pragma clang attribute push(__attribute__((warn_unused_result)), apply_to = hasType(functionType))
