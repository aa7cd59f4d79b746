/*
 * commands.h - every subcommand, once.
 *
 * To add one: write analyzer/cmd/foo.c with `int cmd_foo(int argc, char **argv)`
 * and add its COMMAND row here.  argv[0] is "rooflinectl foo"; the result is the
 * exit code.  docs/commands/foo.md is its page.
 */
#ifndef ROOFLINE_COMMANDS_H
#define ROOFLINE_COMMANDS_H

/* COMMAND(name, summary), in the order that --help shows them */
#define COMMANDS(COMMAND)                                                                        \
	COMMAND(analyze, "record a program, again with what is missing, and give the verdict")   \
	COMMAND(record, "run a program with the collector and record what its GPU work does")    \
	COMMAND(ctl, "stop and start a recording under way, or make a copy of what it holds")    \
	COMMAND(top, "show what a program that is being recorded does now")                      \
	COMMAND(report, "tell where the GPU's time went and why it idled")                       \
	COMMAND(advise, "recommend what to change, with the gain and how to check it")           \
	COMMAND(whatif, "what several changes at once would bring, re-simulated")                \
	COMMAND(scale, "what several GPUs would bring to a program recorded on one")             \
	COMMAND(verify, "compare the speedup that a change brought with the predicted one")      \
	COMMAND(compare, "tell what is different between two or more recordings")                \
	COMMAND(tune, "find the launch parameters with which a program is fastest")              \
	COMMAND(try,                                                                             \
		"run a program with a strategy in place of its source: is it faster, and right") \
	COMMAND(plot, "draw a recording: timeline, gaps, kernels")                               \
	COMMAND(pack, "make one small file of a recording, which every command reads")           \
	COMMAND(unpack, "make a folder of CSV files again of a packed recording")                \
	COMMAND(export, "write a recording for Perfetto, Chrome, SQLite or speedscope")          \
	COMMAND(import, "make a recording of what Nsight Systems or PyTorch recorded")           \
	COMMAND(summarize, "reduce each rank of a recording to 1 MB, to be merged")              \
	COMMAND(merge, "combine summaries of any number of ranks, and tell who was late")        \
	COMMAND(workloads, "list or run the bundled workloads")                                  \
	COMMAND(ceilings, "measure this GPU's roofs and launch costs, or show a stored file")    \
	COMMAND(completion, "print what a shell completes commands and options by")              \
	COMMAND(doctor, "tell what works on this machine, what does not, and the fix")           \
	COMMAND(demo, "the main job on a bundled recording of a real GPU")

/* Exit codes of every command. */
enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_GATE = 3 };

#define COMMAND_PROTOTYPE(name, summary) int cmd_##name(int argc, char **argv);
COMMANDS(COMMAND_PROTOTYPE)
#undef COMMAND_PROTOTYPE

#endif
