/*
 * device_graphs.h - graphs that the device launched: who launched them, how, how soon and for how long.
 *
 * Works on a profile with whole graph launches (--graphs=graph).  CUPTI names the
 * graph that launched, not which of its launches: that is assumed to be the last one
 * that had started (fire and forget, sibling) or ended (tail) before, within the accuracy
 * of records.  Pure.
 */
#ifndef ROOFLINE_DEVICE_GRAPHS_H
#define ROOFLINE_DEVICE_GRAPHS_H

#include "base/distribution.h"
#include "trace/profile.h"

/* CUpti_ActivityDeviceGraphTrace's deviceLaunchMode, as in graphs.csv. */
enum launch_mode {
	LAUNCH_BY_HOST,
	LAUNCH_FIRE_AND_FORGET,
	LAUNCH_TAIL,
	LAUNCH_SIBLING,
	LAUNCH_MODE_COUNT
};

/* All launches of one graph by one other in one mode. */
struct device_launches {
	uint32_t process;	 /* processes[] */
	uint32_t launcher_graph; /* executable graph ids of that process */
	uint32_t graph;
	uint32_t launch_mode;		/* enum launch_mode, or what a newer CUPTI has */
	bool is_host_launched;		/* the host launches this graph, too */
	bool is_launcher_host_launched; /* the host launches its launcher */
	struct distribution time;	/* of the launched graph */
	/* From the launcher's start to the launched graph's; of tail launches from the launcher's end.
	 * Its count is that of launches whose launcher was recorded. */
	struct distribution latency;
};

/* What one launch of a graph may launch in a mode: CUDA's limits (Programming Guide, 'Device Graph
 * Launch').  What exceeds them is not launched; only the call on the device returns an error. */
#define FIRE_AND_FORGET_LIMIT 120
#define TAIL_LIMIT 255

/* A graph whose launches reached a limit: whether more launches were attempted is not recorded. */
struct device_limit {
	uint32_t process, device; /* processes[], devices[] */
	uint32_t launcher_graph;
	uint32_t launch_mode;
	uint64_t launch_count; /* launches of the launcher that reached the limit */
	uint64_t most;	       /* graphs that one of them launched in this mode */
};

struct device_graphs {
	const struct profile *profile;	  /* borrowed; whose processes and graphs these are */
	struct device_launches *launches; /* by total time, largest first */
	size_t count;
	uint64_t launch_count; /* of all of them */
	struct device_limit
		*limits; /* in the order of the launchers' first launches, then by mode */
	size_t limit_count;
};

/* Of profile->graph_run where there is one, else of the profile itself. */
int device_graphs_build(struct device_graphs **out, const struct profile *profile, struct err *err);

/* "fire and forget", "tail", "sibling"; "other" for a mode of a newer CUPTI.  Static. */
const char *device_graphs_mode_name(uint32_t launch_mode);

/* The same for programs: "fire_and_forget". */
const char *device_graphs_mode_key(uint32_t launch_mode);

/* 120 of fire and forget, 255 of tail; 0 where none is known. */
uint64_t device_graphs_limit(uint32_t launch_mode);

void device_graphs_free(struct device_graphs *graphs);

#endif
