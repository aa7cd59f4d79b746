#include "trace/process_facts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/groups.h"
#include "trace/reader.h"

/* Of process.csv; "": not there. */
struct facts {
	enum roofline_run run;
	char host[256], pid[24], start_ns[24], identity[24];
};

static enum roofline_run run_of(const char *value)
{
	static const char *const joined[] = {[RUN_GRAPHS] = "2",
					     [RUN_COUNTERS] = "3",
					     [RUN_SAMPLES] = "4",
					     [RUN_UNTRACED] = "5"};

	for (int run = RUN_GRAPHS; run <= RUN_MOST; run++)
		if (!strcmp(joined[run], value))
			return (enum roofline_run)run;
	return RUN_ONLY;
}

static int take_fact(const union trace_row *row, const struct reader_place *place, void *context)
{
	const char *key = row->process.key, *value = row->process.value;
	struct facts *facts = context;

	(void)place;
	if (!strcmp(key, "run"))
		facts->run = run_of(value);
	else if (!strcmp(key, "host"))
		snprintf(facts->host, sizeof(facts->host), "%s", value);
	else if (!strcmp(key, "pid"))
		snprintf(facts->pid, sizeof(facts->pid), "%s", value);
	else if (!strcmp(key, "start_ns"))
		snprintf(facts->start_ns, sizeof(facts->start_ns), "%s", value);
	else if (!strcmp(key, "identity"))
		snprintf(facts->identity, sizeof(facts->identity), "%s", value);
	return 0;
}

/* As the collector names it. */
static bool has_own_name(const struct recording_process *process, const struct facts *facts)
{
	char name[sizeof(facts->host) + sizeof(facts->pid) + 1];

	snprintf(name, sizeof(name), "%s.%s", facts->host, facts->pid);
	return !strcmp(process->name, name);
}

/* The copy takes over the place of the one that it is a copy of where it alone has the name that the collector gave: what is
 * behind an index stays the same process. */
static int leave_out(struct recording *recording, size_t kept, size_t copy,
		     const struct facts *facts)
{
	struct recording_process *all = recording->processes;

	if (has_own_name(&all[copy], facts)) {
		struct recording_process other = all[kept];

		all[kept] = all[copy];
		all[copy] = other;
		all[kept].copy_count = other.copy_count;
		all[kept].copy_name = other.copy_name;
		all[copy].copy_name = NULL;
	}
	if (all[kept].copy_count++ == 0 && !(all[kept].copy_name = strdup(all[copy].name)))
		return -ENOMEM;
	recording_remove_process(recording, copy);
	return 0;
}

/* Two of which no start is known may be two of other tools, which number them alike. */
static int find_copy(struct recording *recording, struct groups *identities, size_t index,
		     const struct facts *facts)
{
	char key[sizeof(*facts)];
	int length = snprintf(key, sizeof(key), "%s\n%s\n%s\n%s", facts->host, facts->pid,
			      facts->start_ns, facts->identity);
	uint32_t number, known = identities->count;

	if (!*facts->pid || !*facts->start_ns) /* a key of its own */
		length = snprintf(key, sizeof(key), "%zu", index);
	if (groups_find(identities, key, (size_t)length, &number) < 0)
		return -ENOMEM;
	return number < known ? leave_out(recording, number, index, facts) : 0;
}

int process_facts_read(struct recording *recording)
{
	struct groups identities = {0}; /* numbered as the processes that stay */
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < recording->process_count;) {
		size_t count = recording->process_count;
		struct reader_losses losses = {0}; /* told by whoever loads it */
		struct facts facts = {.run = RUN_ONLY};
		struct err err = {""};

		if (reader_read_table(&recording->processes[i], TRACE_TABLE_process, take_fact,
				      &facts, &losses, &err) == -ENOMEM)
			rc = -ENOMEM;
		/* A process folder named by itself is a recording, whichever run it is of. */
		recording->processes[i].run = recording->is_process ? RUN_ONLY : facts.run;
		if (rc == 0)
			rc = find_copy(recording, &identities, i, &facts);
		i += recording->process_count == count;
	}
	groups_free(&identities);
	return rc;
}
