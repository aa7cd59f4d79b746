#define _GNU_SOURCE
#include "power.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "clock.h"
#include "guard.h"
#include "log.h"
#include "nvml.h"
#include "wait.h"
#include "writer/trace_writer.h"
#include "window.h"

#define PERIOD_NS INT64_C(100000000)
#define STOP_TIMEOUT_NS INT64_C(1000000000) /* NVML may hang with the driver */
#define DEVICES_MOST 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* never held while NVML is called */
static pthread_cond_t wake, done;
static bool has_thread, is_stopping, is_done;

static struct device {
	uint32_t device;
	char uuid[64];
} devices[DEVICES_MOST];
static size_t device_count;

/* Of the thread alone. */
static struct nvml nvml;
static nvml_device handles[DEVICES_MOST];
static size_t handle_count; /* devices that were looked for; NULL: NVML has no such device */

/* Before any of them is used. */
__attribute__((constructor)) static void init_conditions(void)
{
	wait_init_condition(&wake);
	wait_init_condition(&done);
}

void power_add_device(uint32_t device, const char *uuid)
{
	pthread_mutex_lock(&lock);
	if (has_thread && device_count < DEVICES_MOST) {
		devices[device_count].device = device;
		snprintf(devices[device_count].uuid, sizeof(devices->uuid), "%s", uuid);
		device_count++;
	}
	pthread_mutex_unlock(&lock);
}

static void find_devices(size_t count)
{
	for (; handle_count < count; handle_count++)
		if (nvml.find(devices[handle_count].uuid, &handles[handle_count]) != NVML_OK) {
			handles[handle_count] = NULL;
			log_warn_once("NVML does not know %s; its power is not recorded",
				      devices[handle_count].uuid);
		}
}

/* What NVML does not tell of a device stays 0. */
static void read_device(struct trace_rows *rows, size_t index)
{
	nvml_device handle = handles[index];
	unsigned long long reasons = 0;
	struct trace_power_row row = {.time_ns = clock_ns(CLOCK_REALTIME),
				      .device = devices[index].device};

	if (!handle || trace_writer_has_ended() || !window_contains(row.time_ns))
		return;
	if (nvml.clock(handle, NVML_CLOCK_OF_SM, &row.sm_clock_mhz) != NVML_OK)
		row.sm_clock_mhz = 0;
	if (nvml.clock(handle, NVML_CLOCK_OF_MEMORY, &row.memory_clock_mhz) != NVML_OK)
		row.memory_clock_mhz = 0;
	if (nvml.power(handle, &row.power_mw) != NVML_OK)
		row.power_mw = 0;
	if (nvml.temperature(handle, NVML_TEMPERATURE_OF_GPU, &row.temperature_c) != NVML_OK)
		row.temperature_c = 0;
	if (nvml.reasons(handle, &reasons) == NVML_OK)
		row.reasons = reasons;
	trace_write_power(rows, &row);
}

/* Entries of devices[] that are there do not change. */
static void read_devices(void)
{
	struct trace_rows *rows;
	size_t count;

	pthread_mutex_lock(&lock);
	count = device_count;
	pthread_mutex_unlock(&lock);
	if (!count)
		return;
	find_devices(count);
	rows = trace_rows_get();
	for (size_t i = 0; i < count; i++)
		read_device(rows, i);
	trace_rows_put(rows);
}

/* Returns true when the program exits. */
static bool wait_until(int64_t until_ns)
{
	struct timespec until = clock_timespec(until_ns);
	bool stopping;

	pthread_mutex_lock(&lock);
	while (!is_stopping && pthread_cond_timedwait(&wake, &lock, &until) == 0)
		;
	stopping = is_stopping;
	pthread_mutex_unlock(&lock);
	return stopping;
}

/* A reading that took longer than a period is followed by the next at once, not by those that were missed. */
static void read_in_turns(void)
{
	int64_t next_ns = clock_ns(CLOCK_MONOTONIC);
	bool is_last;

	do {
		int64_t now_ns = clock_ns(CLOCK_MONOTONIC);

		next_ns = next_ns + PERIOD_NS > now_ns ? next_ns + PERIOD_NS : now_ns;
		is_last = wait_until(next_ns);
		read_devices();
	} while (!is_last);
}

static void tell_problem(const char *problem)
{
	struct trace_rows *rows = trace_rows_get();

	log_warn("--power: %s; clocks, power and temperature are not recorded", problem);
	trace_property(rows, "power_problem", problem);
	trace_rows_put(rows);
}

static void *power_main(void *unused)
{
	guard_own_thread();
	if (!nvml_load(&nvml))
		tell_problem("there is no libnvidia-ml.so.1, or it is too old");
	else if (nvml.init() != NVML_OK)
		tell_problem("NVML does not start");
	else {
		read_in_turns();
		nvml.shutdown();
	}
	pthread_mutex_lock(&lock);
	is_done = true;
	pthread_cond_broadcast(&done);
	pthread_mutex_unlock(&lock);
	return unused;
}

void power_start(const struct options *options)
{
	sigset_t all, before;
	pthread_t thread;

	if (!options->power)
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_mutex_lock(&lock);
	has_thread = pthread_create(&thread, NULL, power_main, NULL) == 0;
	if (has_thread)
		pthread_detach(thread);
	pthread_mutex_unlock(&lock);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!has_thread)
		tell_problem("no thread could be started");
}

void power_stop(void)
{
	struct timespec until = clock_timespec(clock_ns(CLOCK_MONOTONIC) + STOP_TIMEOUT_NS);

	pthread_mutex_lock(&lock);
	is_stopping = true;
	pthread_cond_signal(&wake);
	while (has_thread && !is_done && pthread_cond_timedwait(&done, &lock, &until) == 0)
		;
	pthread_mutex_unlock(&lock);
}
