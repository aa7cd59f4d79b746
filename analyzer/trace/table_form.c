#include "trace/table_form.h"

/* A function per table, because offsetof needs the structure that a COLUMN row cannot name. */
#define COLUMN_ENTRY(type, name, meaning) {#name, COLUMN_##type, offsetof(row_type, name)},
#define TABLE_FUNCTION(table, columns)                                                   \
	static struct table_form describe_##table(void)                                  \
	{                                                                                \
		typedef struct trace_##table##_row row_type;                             \
		static const struct table_column list[] = {columns(COLUMN_ENTRY)};       \
		return (struct table_form){#table, list, sizeof(list) / sizeof(list[0]), \
					   sizeof(row_type)};                            \
	}
TRACE_TABLES(TABLE_FUNCTION)
#undef TABLE_FUNCTION
#undef COLUMN_ENTRY

#define TABLE_ENTRY(table, columns) describe_##table,
static struct table_form (*const describe_table[])(void) = {TRACE_TABLES(TABLE_ENTRY)};
#undef TABLE_ENTRY

struct table_form table_form_of(enum trace_table table)
{
	return describe_table[table]();
}
