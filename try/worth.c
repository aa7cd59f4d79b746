#include "worth.h"

#include "process.h"

#include <stdint.h>

#include "clock.h"
#include "latest.h"

enum {
	/* What a launch takes until it was measured here: 2 to 2.5 us on the host of an H200 (tests/gpu/many_launches.cu). */
	FIRST_LAUNCH_NS = 2500,
	/* Where the program itself takes longer than so many launches from one to the next, a graph, which can save no more than
	 * the launch, makes it at most a quarter faster; and while launches are put off the GPU has nothing to do. */
	SLOW_LAUNCHES = 3,
	LONGEST_INTERVAL_LAUNCHES = 8, /* longer ones are waits */
	LAUNCH_RISE =
		64, /* the shortest launch counts; from one to the next it is forgotten by this part */
	SMOOTHING = 32,
	/* A stretch that is compared is long against what the clock takes (20 ns), and lasts until the function is called again
	 * with which it began; where that does not happen until any other one is called. */
	STRETCH_NS = 1000000,
	LONGEST_NS = 10000000,
	/* So many times a wait, or a launch in another stream, followed a single launch: launches are passed on without looking, PASSED_ON of them.  Then
	 * SINGLES_AGAIN of them are put off again, to see whether the program does something else now. */
	SINGLES = 32,
	SINGLES_AGAIN = 8,
	PASSED_ON = 1000,
	/* One stretch of ten is without, once it is known to pay fewer and fewer, down to one of TRIED_MOST: what comparing costs
	 * is then below what can be measured. */
	TRIED_STRETCHES = 9,
	TRIED_MOST = 500,
	LAUNCHES_LEAST = 8, /* in a stretch, or it says nothing of launches */
	KEPT_LEAST = 5,
	GAIN_LEAST_PERCENT = 1 /* medians of so many stretches differ by less by chance */
};

static struct state {
	uint64_t last_ns; /* 0: the program waited since the last launch */
	uint64_t interval_ns;
	uint64_t launch_ns; /* what the driver takes for one */
	uint64_t
		last_launch_ns; /* what it took for the last one, or what one takes where it was not measured; 0: put off */
	uint64_t start_ns, launches;
	unsigned stub; /* with which the stretch began */
	bool is_bare, is_slow;
	unsigned singles, passed_on;
	unsigned tried_since_bare, tried_most;
	struct latest tried, bare;
} state = {.tried_most = TRIED_STRETCHES, .launch_ns = FIRST_LAUNCH_NS};

/* From one launch to the next, without what the launch itself takes. */
static void measure_interval(uint64_t now)
{
	uint64_t interval = now - state.last_ns, launch = state.last_launch_ns,
		 longest = LONGEST_INTERVAL_LAUNCHES * state.launch_ns;

	state.last_launch_ns = 0;
	if (!state.last_ns)
		return;
	interval = interval > launch ? interval - launch : 0;
	interval = interval > longest ? longest : interval;
	state.interval_ns += interval / SMOOTHING;
	state.interval_ns -= state.interval_ns / SMOOTHING;
}

/* Longer ones than the shortest wait for the GPU to take them. */
void worth_note_launch(uint64_t took_ns, bool is_kernel)
{
	uint64_t most = state.launch_ns + state.launch_ns / LAUNCH_RISE;

	if (is_kernel)
		state.launch_ns = took_ns < most ? took_ns : most;
	state.last_launch_ns = took_ns;
}

void worth_of_run(unsigned launches)
{
	state.singles = launches == 1 ? state.singles + 1 : 0;
}

/* Each launch is followed by a wait, a copy, or a launch in another stream: there is nothing to put together. */
static bool are_single(void)
{
	if (state.singles < SINGLES)
		return false;
	if (++state.passed_on < PASSED_ON)
		return true;
	state.passed_on = 0;
	state.singles = SINGLES - SINGLES_AGAIN;
	return false;
}

/* The program calls nothing that would end the stretch: it says nothing, and what could be gained is not given away. */
static void give_up_bare(uint64_t now)
{
	if (!state.is_bare || now - state.start_ns < 2 * (uint64_t)LONGEST_NS)
		return;
	state.is_bare = false;
	state.tried_since_bare = 0;
	state.start_ns = 0;
}

static enum worth choose(void)
{
	if (state.is_bare)
		return WORTH_COMPARING;
	state.is_slow = state.interval_ns > SLOW_LAUNCHES * state.launch_ns;
	if (are_single())
		return WORTH_SLOW_PROGRAM;
	return state.is_slow ? WORTH_SLOW_PROGRAM : WORTH_IT;
}

enum worth worth_of_launch(void)
{
	uint64_t now;
	enum worth worth;

	if (process_is_stubborn())
		return WORTH_IT;
	now = clock_ns();
	measure_interval(now);
	give_up_bare(now);
	state.last_ns = now;
	state.launches++;
	worth = choose();
	if (worth != WORTH_IT)
		state.last_launch_ns = state.launch_ns;
	return worth;
}

bool worth_is_comparing(void)
{
	return state.is_bare;
}

static bool pays(void)
{
	if (state.bare.count < KEPT_LEAST || state.tried.count < KEPT_LEAST)
		return true;
	return latest_median(&state.tried) * (100 + GAIN_LEAST_PERCENT) <
	       latest_median(&state.bare) * 100;
}

static bool is_over(uint64_t passed_ns, unsigned stub)
{
	if (state.launches < LAUNCHES_LEAST || passed_ns < STRETCH_NS)
		return false;
	return stub == state.stub || passed_ns >= LONGEST_NS;
}

/* Once it is known to pay it is asked again more and more seldom. */
static void end_stretch(uint64_t passed_ns)
{
	latest_add(state.is_bare ? &state.bare : &state.tried,
		   (double)passed_ns / (double)state.launches);
	if (state.is_bare) {
		state.tried_since_bare = 0;
		if (state.bare.count > KEPT_LEAST && state.tried_most < TRIED_MOST)
			state.tried_most *= 2;
	}
	state.is_bare = !state.is_bare && ++state.tried_since_bare >= state.tried_most;
}

bool worth_at_boundary(unsigned stub)
{
	uint64_t now = clock_ns(), passed_ns = now - state.start_ns;

	if (process_is_stubborn())
		return false;
	state.last_ns = 0;
	if (state.start_ns && !is_over(passed_ns, stub))
		return false;
	if (state.start_ns)
		end_stretch(passed_ns);
	state.start_ns = now;
	state.launches = 0;
	state.stub = stub;
	return !pays();
}

void worth_reset(void)
{
	state = (struct state){.tried_most = TRIED_STRETCHES, .launch_ns = FIRST_LAUNCH_NS};
}
