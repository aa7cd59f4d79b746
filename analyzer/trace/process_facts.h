/*
 * process_facts.h - what has to be known of a recording's processes before any is loaded.
 *
 * Which run each is of; and which folders hold a process that another one has already, as a copy of a folder does: these are
 * left out, and whoever loads the one that stays tells of it.
 */
#ifndef ROOFLINE_PROCESS_FACTS_H
#define ROOFLINE_PROCESS_FACTS_H

#include "trace/recording.h"

/* Returns 0 or -ENOMEM; a process.csv that cannot be read says nothing. */
int process_facts_read(struct recording *recording);

#endif
