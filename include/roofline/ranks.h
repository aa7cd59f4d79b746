/*
 * ranks.h - which process of a job this is, by what launchers set in the environment.
 *
 * The collector writes it; `rooflinectl record` tells the ranks of one job from two runs by it.
 */
#ifndef ROOFLINE_RANKS_H
#define ROOFLINE_RANKS_H

#include <stddef.h>
#include <stdlib.h>

/* The first of these that is set: Open MPI, MVAPICH2, PMI and MPICH, PMIx, Slurm, torchrun. */
#define RANK_VARIABLES                                                                          \
	"OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID", \
		"RANK"
#define LOCAL_RANK_VARIABLES                                                          \
	"OMPI_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", \
		"SLURM_LOCALID", "LOCAL_RANK"
#define WORLD_SIZE_VARIABLES \
	"OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS", "WORLD_SIZE"

/* The text of the first variable that is set and not empty, or NULL; names ends with NULL. */
static inline const char *ranks_first(const char *const *names)
{
	for (; *names; names++) {
		const char *text = getenv(*names);

		if (text && *text)
			return text;
	}
	return NULL;
}

static inline const char *ranks_rank(void)
{
	static const char *const names[] = {RANK_VARIABLES, NULL};

	return ranks_first(names);
}

static inline const char *ranks_local_rank(void)
{
	static const char *const names[] = {LOCAL_RANK_VARIABLES, NULL};

	return ranks_first(names);
}

static inline const char *ranks_world_size(void)
{
	static const char *const names[] = {WORLD_SIZE_VARIABLES, NULL};

	return ranks_first(names);
}

#endif
