/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* contained CMD ARG...: runs CMD with what container engines refuse by default: the calls that their seccomp profile has
 * for processes with capabilities alone fail with EPERM, and privileges cannot be had any more. */
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

static const unsigned refused[] = {
	SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_mount, SYS_umount2, SYS_setns, SYS_unshare, SYS_pivot_root,
	SYS_open_by_handle_at, SYS_fanotify_init, SYS_keyctl, SYS_add_key, SYS_request_key, SYS_kexec_load, SYS_reboot,
	SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_quotactl, SYS_lookup_dcookie, SYS_syslog, SYS_acct,
	SYS_settimeofday, SYS_clock_settime, SYS_sethostname, SYS_swapon, SYS_swapoff,
	SYS_move_pages, SYS_mbind, SYS_set_mempolicy, SYS_vhangup, SYS_kcmp, SYS_fsopen, SYS_fsmount, SYS_move_mount,
	SYS_open_tree, SYS_io_uring_setup, 438 /* pidfd_getfd */,
};

int main(int argc, char **argv)
{
	enum { N = sizeof(refused) / sizeof(*refused) };
	struct sock_filter filter[N + 3] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	const struct sock_fprog program = { N + 3, filter };
	unsigned i;

	for (i = 0; i < N; i++)
		filter[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, refused[i], (unsigned char)(N - i), 0);
	filter[N + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	filter[N + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1);
	if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 2;
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 1;
}
