/*
 * pager.h - what is longer than the terminal is shown by a pager, as git and perf do it.
 *
 * What goes to stdout is kept until the program ends: then it is known how long it is, and a pager that is left early
 * changes neither the exit code nor what is told on stderr.  There is none where stdout is no terminal, where PAGER is empty
 * or cat, and where none is installed.
 */
#ifndef ROOFLINE_PAGER_H
#define ROOFLINE_PAGER_H

/* Keeps from here on what goes to stdout, where that is a terminal; exit() shows it. */
void pager_open(void);

/* Nothing is kept any more; before anything is written. */
void pager_cancel(void);

/* Shows at once what was written until now, and keeps it as well: a pager has all of it. */
void pager_show_begin(void);

/* What stdout is shown on: the terminal where a pager keeps it, else STDOUT_FILENO. */
int pager_terminal(void);

#endif
