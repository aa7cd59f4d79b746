/*
 * record_signals.h - waits for a program as if it had been started without us.
 *
 * Whoever sends us a signal means the program, so every signal goes on to it, but for one that may be taken for us.
 */
#ifndef ROOFLINE_RECORD_SIGNALS_H
#define ROOFLINE_RECORD_SIGNALS_H

#include <stdbool.h>
#include <sys/types.h>

/* From here on signals are kept for signals_wait(); nothing is missed while the program starts.  A second
 * call changes nothing. */
void signals_hold(void);

/* Signals are as they were before signals_hold(), which then may be called again; in the child before exec. */
void signals_restore(void);

/* What is done beside waiting; all of it 0 and NULL: nothing. */
struct signals_watch {
	int taken_signal;			 /* ours: it is not passed on; 0: all are */
	int period_ms;				 /* how often tick is called */
	void (*tick)(void *user, bool is_asked); /* is_asked: the taken signal came */
	void *user;
};

/* Waits until the program has ended, and passes on what signals come.  Returns 0, or a negative errno. */
int signals_wait(pid_t program, int *status, const struct signals_watch *watch);

/* Whether somebody asked for an end: INT, QUIT, TERM or HUP. */
bool signals_are_end_asked(void);

/* Dies of the signal that ended the program, without a core file: the program has written its own. */
void signals_die_of(int signal_number);

#endif
