/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* filtered [-m] CMD ARG...: runs CMD with a seccomp filter, as a container's, that does not know uretprobe(2): the kernel kills a
 * process that calls it.  -m: with one under which membarrier(2) is missing. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

enum { URETPROBE = 335 };

int main(int argc, char **argv)
{
	const int missing = argc > 1 && !strcmp(argv[1], "-m");
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, missing ? SYS_membarrier : URETPROBE, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, missing ? SECCOMP_RET_ERRNO | ENOSYS : SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { 4, filter };

	argv += 1 + missing;
	if (!*argv || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 2;
	execvp(*argv, argv);
	perror(*argv);
	return 1;
}
