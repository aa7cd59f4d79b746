/*
 * control.h - how a recording under way is spoken to from outside: small files in the process's folder.
 *
 * Whoever asks makes the file `request`, one line of "ID COMMAND", by a link, so that none is overwritten.  The
 * collector's own thread looks for it CONTROL_POLL_MS after it last did, takes it away, does it, and replaces the file
 * `status`, lines of "name value", of which `answer` is the ID.  Files rather than a FIFO or a socket: the program's
 * descriptors stay its own, and who may write is who may write into the folder.  No reader of recordings knows them.
 */
#ifndef ROOFLINE_CONTROL_H
#define ROOFLINE_CONTROL_H

#define CONTROL_REQUEST "request"
#define CONTROL_STATUS "status"
#define CONTROL_SLOW \
	"slow" /* a range was slower than --when-slower: lines as in status, taken away by record */
#define CONTROL_SEGMENT \
	"segment." /* with a number behind it: a folder of tables of --last, the newest has the highest */
#define CONTROL_POLL_MS 250
#define CONTROL_LINE_MOST 256

/* COMMAND(name) */
#define CONTROL_COMMANDS(COMMAND) \
	COMMAND(start)            \
	COMMAND(stop)             \
	COMMAND(flush)            \
	COMMAND(status)

#define CONTROL_CONSTANT(name) CONTROL_##name,
enum control_command { CONTROL_COMMANDS(CONTROL_CONSTANT) CONTROL_COMMAND_COUNT };
#undef CONTROL_CONSTANT

/* VALUE(name, meaning): numbers of `status`, all since counting began, which is at the first request.  Busy time has a
 * line "busy_ns.DEVICE" for each device. */
#define CONTROL_VALUES(VALUE)                                               \
	VALUE(answer, "ID of the request")                                  \
	VALUE(time_ns, "CLOCK_REALTIME")                                    \
	VALUE(is_stopped, "1 after stop, until start")                      \
	VALUE(has_ended, "1 when a limit has ended the recording")          \
	VALUE(launches, "launches of kernels, and of graphs")               \
	VALUE(kernels, "kernels, those of graphs among them")               \
	VALUE(copies, "copies and memsets")                                 \
	VALUE(calls, "API calls")                                           \
	VALUE(written_bytes, "of the recording, since the program started") \
	VALUE(lost, "records that were dropped or could not be written")

#define CONTROL_DEVICES 64 /* whose busy time is counted */

#endif
