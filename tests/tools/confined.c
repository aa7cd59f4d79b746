/*
 * confined.c - runs a program that the kernel kills by SIGSYS where it makes a socket or starts another program.
 *
 *	confined PROGRAM [ARG...]
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NUMBER offsetof(struct seccomp_data, nr)
#define FIRST_ARGUMENT offsetof(struct seccomp_data, args[0])
#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)
#define IF_EQUAL(value, then, otherwise) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, then, otherwise)

/* One execve is let pass, which has this very address of a name: ours. */
static int confine(const char *name)
{
	uint64_t address = (uintptr_t)name;
	struct sock_filter filter[] = {
		LOAD(NUMBER),
		IF_EQUAL(__NR_socket, 6, 0),
		IF_EQUAL(__NR_execveat, 5, 0),
		IF_EQUAL(__NR_execve, 0, 5),
		LOAD(FIRST_ARGUMENT),
		IF_EQUAL((uint32_t)address, 0, 2),
		LOAD(FIRST_ARGUMENT + 4),
		IF_EQUAL((uint32_t)(address >> 32), 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0
		       ? -1
		       : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	if (confine(argv[1]) < 0) {
		perror("confined");
		return 77; /* this kernel cannot */
	}
	execv(argv[1], argv + 1);
	perror(argv[1]);
	return 127;
}
