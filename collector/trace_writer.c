#define _GNU_SOURCE
#include "trace_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "intern.h"
#include "log.h"

#define CHUNK_BYTES 65536 /* a table's rows are written when so many have gathered */
#define NUMBER_BYTES 21	  /* 20 digits or a sign and 19, and the comma */
#define FRACTION_BYTES \
	32 /* sign, 17 digits, decimal point of a few bytes, exponent, and the comma */
#define INTERNED_KEEP_BYTES ((size_t)1 << 20) /* of names, while the disk is full */
#define FIRST_DESCRIPTOR 512   /* out of the way of programs that count on low numbers */
#define DESCRIPTORS_NEEDED 128 /* that a program may have, of which the tables take a few */

struct text {
	char *bytes;
	size_t used, room;
};

struct trace_rows {
	struct trace_rows *next; /* in the free list */
	struct text tables[TRACE_TABLE_COUNT];
};

struct table_file {
	int descriptor;
	dev_t device; /* to see whether the application closed it and opened something else */
	ino_t inode;
};

#define TABLE_NAME(table, columns) #table,
static const char *const table_names[] = {TRACE_TABLES(TABLE_NAME)};
#define HEADER_COLUMN(type, name, meaning) "," #name
#define TABLE_HEADER(table, columns) columns(HEADER_COLUMN) "\n",
static const char *const table_headers[] = {TRACE_TABLES(TABLE_HEADER)}; /* with a leading comma */
#define LOSS_NAME(name, unit, meaning) #name,
static const char *const loss_names[] = {TRACE_LOSS_KINDS(LOSS_NAME)};
#define LOSS_MEANING(name, unit, meaning) unit ": " meaning,
static const char *const loss_meanings[] = {TRACE_LOSS_KINDS(LOSS_MEANING)};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* files, interned rows, free list */
static struct table_file files[TRACE_TABLE_COUNT];
static struct trace_rows interned; /* names and signatures that are not written yet */
static struct trace_rows *free_rows;
static char folder[PATH_MAX];
static bool is_open, is_sealed;
static trace_kernel_filter kernel_filter;
static uint64_t losses[LOSS_COUNT];

/* ---- text ---- */

static char *text_reserve(struct text *text, size_t bytes)
{
	size_t room = text->room ? text->room : CHUNK_BYTES + 4096;
	char *grown;

	if (text->used + bytes <= text->room)
		return text->bytes + text->used;
	while (text->used + bytes > room)
		room *= 2;
	grown = realloc(text->bytes, room);
	if (!grown)
		return NULL;
	text->bytes = grown;
	text->room = room;
	return text->bytes + text->used;
}

static char *put_u64(char *out, uint64_t value)
{
	static const char pairs[] = "0001020304050607080910111213141516171819"
				    "2021222324252627282930313233343536373839"
				    "4041424344454647484950515253545556575859"
				    "6061626364656667686970717273747576777879"
				    "8081828384858687888990919293949596979899";
	char digits[20];
	size_t at = sizeof(digits);

	while (value >= 100) {
		at -= 2;
		memcpy(digits + at, pairs + 2 * (value % 100), 2);
		value /= 100;
	}
	at -= value >= 10 ? 2 : 1;
	memcpy(digits + at, pairs + 2 * value + (value >= 10 ? 0 : 1), value >= 10 ? 2 : 1);
	memcpy(out, digits + at, sizeof(digits) - at);
	return out + sizeof(digits) - at;
}

static char *put_i64(char *out, int64_t value)
{
	if (value >= 0)
		return put_u64(out, (uint64_t)value);
	*out++ = '-';
	return put_u64(out, -(uint64_t)value);
}

/* Reads back as the same value; whole numbers, as most counters are, without a fraction.  The program
 * may have chosen a locale: whatever it puts for the decimal point becomes one. */
static char *put_f64(char *out, double value)
{
	char text[FRACTION_BYTES];

	if (value > -1e15 && value < 1e15 && value == (double)(int64_t)value)
		return put_i64(out, (int64_t)value);
	snprintf(text, sizeof(text), "%.17g", value);
	for (const char *from = text; *from; from++)
		if (strchr("0123456789+-e", *from))
			*out++ = *from;
		else if (out[-1] != '.')
			*out++ = '.';
	return out;
}

/* RFC 4180; written here so that a guest in a foreign process needs no library of its own. */
static char *put_text(char *out, const char *text)
{
	if (!text)
		return out;
	if (!strpbrk(text, ",\"\r\n")) {
		size_t length = strlen(text);

		memcpy(out, text, length);
		return out + length;
	}
	*out++ = '"';
	for (; *text; text++) {
		if (*text == '"')
			*out++ = '"';
		*out++ = *text;
	}
	*out++ = '"';
	return out;
}

/* ---- files ---- */

static uint64_t count_lines(const char *bytes, size_t length)
{
	uint64_t lines = 0;

	for (const char *end = bytes + length; (bytes = memchr(bytes, '\n', (size_t)(end - bytes)));
	     bytes++)
		lines++;
	return lines;
}

/* Moves a descriptor to a high number, so that programs find the low ones as ever.  A program that has
 * so few of them left needs these more than we do. */
static int move_high(int low)
{
	int first = FIRST_DESCRIPTOR, high;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 2 * FIRST_DESCRIPTOR)
		first = (int)limit.rlim_cur / 2;
	high = fcntl(low, F_DUPFD_CLOEXEC, first);
	close(low);
	return high < 0 ? -EMFILE : high;
}

/* Opens a table for appending.  Returns 0 or a negative errno. */
static int table_open(enum trace_table table)
{
	struct table_file *file = &files[table];
	char path[PATH_MAX + 64];
	struct stat status;
	int descriptor;

	snprintf(path, sizeof(path), "%s/%s.csv", folder, table_names[table]);
	descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (descriptor < 0)
		return -errno;
	descriptor = move_high(descriptor);
	if (descriptor < 0)
		return descriptor;
	if (fstat(descriptor, &status)) {
		close(descriptor);
		return -EIO;
	}
	*file = (struct table_file){descriptor, status.st_dev, status.st_ino};
	return 0;
}

/* False when the application closed the descriptor, and perhaps opened something else on its number. */
static bool table_is_own(const struct table_file *file, struct stat *status)
{
	return fstat(file->descriptor, status) == 0 && status->st_dev == file->device &&
	       status->st_ino == file->inode;
}

/* The table's own descriptor, opened anew when the application closed or replaced it. */
static int table_descriptor(enum trace_table table, struct stat *status)
{
	struct table_file *file = &files[table];
	int rc;

	if (table_is_own(file, status))
		return status->st_nlink ? file->descriptor : -ENOENT;
	rc = table_open(table);
	if (rc < 0)
		return rc;
	return fstat(file->descriptor, status) == 0 ? file->descriptor : -errno;
}

/* Writes all of it, or returns an errno; *done tells how far it came. */
static int write_fully(int descriptor, const char *bytes, size_t length, size_t *done)
{
	for (*done = 0; *done < length;) {
		ssize_t written = write(descriptor, bytes + *done, length - *done);

		if (written == 0)
			return EIO; /* a file system of its own making; trying again could last for ever */
		if (written > 0)
			*done += (size_t)written;
		else if (errno != EINTR)
			return errno;
	}
	return 0;
}

/* Appends whole lines, after the header when the table is still empty: the disk may have been full
 * before.  On failure the table is cut back to whole lines.  Returns how many bytes are there to stay. */
static size_t table_append(enum trace_table table, const char *bytes, size_t length)
{
	const char *header = table_headers[table] + 1;
	size_t done = 0, header_done = 0;
	struct stat status;
	int descriptor = table_descriptor(table, &status);
	int problem = descriptor < 0 ? -descriptor : 0;

	if (!problem && status.st_size == 0) {
		problem = write_fully(descriptor, header, strlen(header), &header_done);
		if (problem)
			header_done = 0;
	}
	if (!problem)
		problem = write_fully(descriptor, bytes, length, &done);
	if (!problem)
		return length;
	while (done > 0 && bytes[done - 1] != '\n')
		done--;
	if (descriptor >= 0 && ftruncate(descriptor, status.st_size + (off_t)(header_done + done)))
		problem = errno;
	log_warn_once("cannot write %s/%s.csv: %s; rows are lost and counted", folder,
		      table_names[table], strerror(problem));
	return done;
}

static void losses_append(int64_t time_ns);

/* Rows that come when the recording is sealed are not written, but its reader is told of them. */
static void rows_refuse(const struct text *text)
{
	struct timespec now;

	trace_loss_add(LOSS_late_records, count_lines(text->bytes, text->used));
	if (!is_sealed)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	losses_append((int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
}

static void rows_append(struct trace_rows *rows, enum trace_table table)
{
	struct text *text = &rows->tables[table];
	size_t done;

	if (text->used && is_open) {
		done = table_append(table, text->bytes, text->used);
		trace_loss_add(LOSS_unwritten_rows,
			       count_lines(text->bytes + done, text->used - done));
	} else if (text->used) {
		rows_refuse(text);
	}
	text->used = 0;
}

static void interned_give_up(enum trace_table table)
{
	struct text *text = &interned.tables[table];

	if (text->used)
		trace_loss_add(LOSS_unwritten_rows, count_lines(text->bytes, text->used));
	text->used = 0;
}

/* What later rows refer to is kept for the next time when it cannot be written now. */
static void interned_append_table(enum trace_table table)
{
	struct text *text = &interned.tables[table];
	size_t done;

	if (!text->used)
		return;
	done = table_append(table, text->bytes, text->used);
	text->used -= done;
	memmove(text->bytes, text->bytes + done, text->used);
	if (text->used > INTERNED_KEEP_BYTES)
		interned_give_up(table);
}

/* Interned rows go first: nothing on disk refers to what is not there. */
static void interned_append(void)
{
	if (!is_open)
		return; /* nothing that refers to them will be written either */
	interned_append_table(TRACE_TABLE_names);
	interned_append_table(TRACE_TABLE_signatures);
}

static void rows_flush(struct trace_rows *rows, enum trace_table table)
{
	pthread_mutex_lock(&lock);
	interned_append();
	rows_append(rows, table);
	pthread_mutex_unlock(&lock);
}

/* ---- rows ---- */

#define ROOM_i64(name) NUMBER_BYTES +
#define ROOM_u64(name) NUMBER_BYTES +
#define ROOM_u32(name) NUMBER_BYTES +
#define ROOM_f64(name) FRACTION_BYTES +
#define ROOM_text(name) 2 * (row->name ? strlen(row->name) : 0) + 3 +
#define COLUMN_ROOM(type, name, meaning) ROOM_##type(name)
#define PUT_i64(name) put_i64(out, row->name)
#define PUT_u64(name) put_u64(out, row->name)
#define PUT_u32(name) put_u64(out, row->name)
#define PUT_f64(name) put_f64(out, row->name)
#define PUT_text(name) put_text(out, row->name)
#define COLUMN_PUT(type, name, meaning) \
	out = PUT_##type(name);         \
	*out++ = ',';

/* format_kernels(text, row) and so on: one line, or false when memory is out. */
#define FORMAT_FUNCTION(table, columns)                                                      \
	static bool format_##table(struct text *text, const struct trace_##table##_row *row) \
	{                                                                                    \
		char *out = text_reserve(text, columns(COLUMN_ROOM) 1);                      \
                                                                                             \
		if (!out)                                                                    \
			return false;                                                        \
		columns(COLUMN_PUT) out[-1] = '\n';                                          \
		text->used = (size_t)(out - text->bytes);                                    \
		return true;                                                                 \
	}
TRACE_TABLES(FORMAT_FUNCTION)

#define WRITE_FUNCTION(table, columns)                                                           \
	void trace_write_##table(struct trace_rows *rows, const struct trace_##table##_row *row) \
	{                                                                                        \
		if (!rows || !format_##table(&rows->tables[TRACE_TABLE_##table], row))           \
			trace_loss_add(LOSS_unwritten_rows, 1);                                  \
		else if (rows->tables[TRACE_TABLE_##table].used >= CHUNK_BYTES)                  \
			rows_flush(rows, TRACE_TABLE_##table);                                   \
	}
TRACE_TABLES(WRITE_FUNCTION)

struct trace_rows *trace_rows_take(void)
{
	struct trace_rows *rows;

	pthread_mutex_lock(&lock);
	rows = free_rows;
	if (rows)
		free_rows = rows->next;
	pthread_mutex_unlock(&lock);
	return rows ? rows : calloc(1, sizeof(*rows));
}

void trace_rows_give(struct trace_rows *rows)
{
	if (!rows)
		return;
	pthread_mutex_lock(&lock);
	interned_append();
	for (int table = 0; table < TRACE_TABLE_COUNT; table++)
		rows_append(rows, table);
	rows->next = free_rows;
	free_rows = rows;
	pthread_mutex_unlock(&lock);
}

/* ---- interning ---- */

/* A buffer of records with a long name each must not gather in memory until all are decoded. */
static void interned_append_chunk(enum trace_table table)
{
	if (interned.tables[table].used >= CHUNK_BYTES)
		interned_append();
}

static uint32_t name_locked(const char *text)
{
	bool is_new;
	uint32_t id = intern_text(text, &is_new);
	struct trace_names_row row = {id, text};

	if (is_new && !format_names(&interned.tables[TRACE_TABLE_names], &row))
		trace_loss_add(LOSS_unwritten_rows, 1);
	interned_append_chunk(TRACE_TABLE_names);
	return id;
}

uint32_t trace_name(const char *text)
{
	uint32_t id;

	if (!text)
		return 0;
	pthread_mutex_lock(&lock);
	id = name_locked(text);
	pthread_mutex_unlock(&lock);
	return id;
}

uint32_t trace_signature(const struct trace_signatures_row *wanted, const char *mangled_name)
{
	struct trace_signatures_row row = *wanted;
	bool is_new;

	pthread_mutex_lock(&lock);
	row.id = 0;
	row.name = mangled_name ? name_locked(mangled_name) : 0;
	row.id = intern_signature(&row, &is_new);
	if (is_new && kernel_filter && !kernel_filter(mangled_name ? mangled_name : ""))
		row.id = intern_signature_drop(&row);
	else if (is_new && !format_signatures(&interned.tables[TRACE_TABLE_signatures], &row))
		trace_loss_add(LOSS_unwritten_rows, 1);
	interned_append_chunk(TRACE_TABLE_signatures);
	pthread_mutex_unlock(&lock);
	return row.id;
}

/* ---- losses and properties ---- */

void trace_loss_add(enum trace_loss kind, uint64_t count)
{
	__atomic_fetch_add(&losses[kind], count, __ATOMIC_RELAXED);
}

/* Under the lock.  A count that cannot be written now is kept for the next time. */
static void losses_append(int64_t time_ns)
{
	static struct text text;

	for (int kind = 0; kind < LOSS_COUNT; kind++) {
		uint64_t count = __atomic_exchange_n(&losses[kind], 0, __ATOMIC_RELAXED);
		struct trace_losses_row row = {time_ns, loss_names[kind], count,
					       loss_meanings[kind]};

		text.used = 0;
		if (count && (!format_losses(&text, &row) ||
			      table_append(TRACE_TABLE_losses, text.bytes, text.used) < text.used))
			trace_loss_add(kind, count);
	}
}

void trace_losses_write(int64_t time_ns)
{
	pthread_mutex_lock(&lock);
	if (is_open)
		losses_append(time_ns);
	pthread_mutex_unlock(&lock);
}

void trace_property(struct trace_rows *rows, const char *key, const char *value)
{
	struct trace_process_row row = {key, value};

	if (value && *value)
		trace_write_process(rows, &row);
}

void trace_property_format(struct trace_rows *rows, const char *key, const char *format, ...)
{
	char value[4096];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(value, sizeof(value), format, arguments);
	va_end(arguments);
	trace_property(rows, key, value);
}

/* ---- opening and closing ---- */

static int make_folders(const char *path)
{
	char partial[PATH_MAX];

	snprintf(partial, sizeof(partial), "%s", path);
	for (char *slash = strchr(partial + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(partial, 0755) && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return mkdir(partial, 0755) && errno != EEXIST ? -errno : 0;
}

/* output/host.pid; a process id can come again (exec, or a long job), then host.pid.2 and so on. */
static int make_process_folder(const char *output)
{
	char host[256] = "localhost";
	int rc = make_folders(output);

	if (rc < 0) {
		snprintf(folder, sizeof(folder), "%s", output);
		return rc;
	}
	gethostname(host, sizeof(host) - 1);
	for (char *slash = host; (slash = strchr(slash, '/'));)
		*slash = '_'; /* Linux takes any name */
	for (int attempt = 1; attempt < 1000; attempt++) {
		char suffix[16] = "";

		if (attempt > 1)
			snprintf(suffix, sizeof(suffix), ".%d", attempt);
		if ((size_t)snprintf(folder, sizeof(folder), "%s/%s.%d%s", output, host,
				     (int)getpid(), suffix) >= sizeof(folder))
			return -ENAMETOOLONG;
		if (mkdir(folder, 0755) == 0)
			return 0;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

/* A program that may have only few descriptors keeps them: it could miss those that we take. */
static int check_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= DESCRIPTORS_NEEDED)
		return 0;
	log_warn(
		"only %d files may be open (ulimit -n) and a recording has %d of its own; nothing is "
		"recorded. Allow %d",
		(int)limit.rlim_cur, TRACE_TABLE_COUNT, DESCRIPTORS_NEEDED);
	return -EMFILE;
}

int trace_writer_open(const char *output, trace_kernel_filter filter)
{
	int rc = check_descriptors();

	if (rc < 0)
		return rc;
	rc = make_process_folder(output);

	for (int table = 0; rc == 0 && table < TRACE_TABLE_COUNT; table++) {
		rc = table_open(table);
		if (rc == 0)
			table_append(table, "", 0);
	}
	if (rc < 0) {
		log_warn("cannot record into %s: %s; nothing is recorded. Set ROOFLINE_OUTPUT to a "
			 "folder that can be written",
			 folder, strerror(-rc));
		trace_writer_abandon();
		return rc;
	}
	kernel_filter = filter;
	is_open = true;
	return 0;
}

const char *trace_writer_folder(void)
{
	return folder;
}

/* The last chance of what could not be written before. */
static void append_the_rest(void)
{
	pthread_mutex_lock(&lock);
	for (int table = 0; table < TRACE_TABLE_COUNT; table++)
		table_append(table, "", 0); /* the header, where it is missing */
	interned_append();
	interned_give_up(TRACE_TABLE_names);
	interned_give_up(TRACE_TABLE_signatures);
	pthread_mutex_unlock(&lock);
}

void trace_writer_seal(int64_t sealed_ns)
{
	struct trace_rows *rows = trace_rows_take();

	append_the_rest();
	trace_losses_write(sealed_ns);
	trace_property_format(rows, "sealed_ns", "%lld", (long long)sealed_ns);
	trace_rows_give(rows);
	pthread_mutex_lock(&lock);
	is_open = false;
	is_sealed = true;
	pthread_mutex_unlock(&lock);
}

void trace_writer_abandon(void)
{
	struct stat status;

	is_open = false;
	for (int table = 0; table < TRACE_TABLE_COUNT; table++)
		if (files[table].inode && table_is_own(&files[table], &status))
			close(files[table].descriptor);
	memset(files, 0, sizeof(files));
}
