/*
 * job_share.cuh - some bytes of the first process of a job for all others, before they have any other way to talk.
 *
 * The first one listens at MASTER_ADDR, a port above MASTER_PORT, which launchers of PyTorch set; without them at this
 * host, at a port that follows from the name of the job.
 */
#ifndef ROOFLINE_JOB_SHARE_CUH
#define ROOFLINE_JOB_SHARE_CUH

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gpus.cuh"

static inline void job_share_fail(const char *what)
{
	fprintf(stderr,
		"cannot share with the other processes of this job: %s: %s; set MASTER_ADDR and "
		"MASTER_PORT\n",
		what, strerror(errno));
	exit(1);
}

static inline std::string job_share_port()
{
	static const char *const names[] = {"PMIX_NAMESPACE", "PMI_JOBID", "SLURM_JOB_ID", nullptr};
	const char *port = getenv("MASTER_PORT"), *job = ranks_first(names);
	uint32_t hash = 2166136261u;

	if (port)
		return std::to_string(atoi(port) + 1);
	for (; job && *job; job++)
		hash = (hash ^ (unsigned char)*job) * 16777619u;
	return std::to_string(20000 + hash % 10000);
}

static inline struct addrinfo *job_share_address()
{
	const char *host = getenv("MASTER_ADDR");
	struct addrinfo hints = {}, *address = nullptr;

	hints.ai_family = AF_INET;
	hints.ai_socktype = SOCK_STREAM;
	if (getaddrinfo(host ? host : "127.0.0.1", job_share_port().c_str(), &hints, &address))
		job_share_fail("no address");
	return address;
}

static inline void job_share_send(int listening, int others, const void *bytes, size_t size)
{
	for (int i = 0; i < others; i++) {
		int other = accept(listening, nullptr, nullptr);

		if (other < 0 || send(other, bytes, size, MSG_NOSIGNAL) != (ssize_t)size)
			job_share_fail("the first process");
		close(other);
	}
}

static inline int job_share_listen(const struct addrinfo *address, int others)
{
	int listening = socket(AF_INET, SOCK_STREAM, 0), yes = 1;

	if (listening < 0 ||
	    setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) < 0 ||
	    bind(listening, address->ai_addr, address->ai_addrlen) < 0 ||
	    listen(listening, others) < 0)
		job_share_fail("the first process");
	return listening;
}

/* The first process may come later than this one. */
static inline int job_share_connect(const struct addrinfo *address)
{
	for (int tries = 0; tries < 100 * gpus_limit_s; tries++) {
		int first = socket(AF_INET, SOCK_STREAM, 0);

		if (first < 0)
			job_share_fail("no socket");
		if (connect(first, address->ai_addr, address->ai_addrlen) == 0)
			return first;
		close(first);
		usleep(10000);
	}
	errno = ETIMEDOUT;
	job_share_fail("the first process does not answer");
	return -1;
}

/* Those of the first process are in bytes of all of them afterwards. */
static inline void job_share(const struct gpus_place &place, void *bytes, size_t size)
{
	struct addrinfo *address = job_share_address();
	int end;

	if (place.rank == 0) {
		end = job_share_listen(address, place.count - 1);
		job_share_send(end, place.count - 1, bytes, size);
	} else {
		end = job_share_connect(address);
		if (recv(end, bytes, size, MSG_WAITALL) != (ssize_t)size)
			job_share_fail("the first process has ended");
	}
	close(end);
	freeaddrinfo(address);
}

#endif
