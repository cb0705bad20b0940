/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "machine/syscalls.h"
#include "proc/confine.h"

enum { NOBODY = 65534 };

/* A process without privileges takes one of these users by chance: neither accounts nor containers have them
 * (systemd.io/UIDS-GIDS), so no other process may signal it, as any process of a shared user could. */
enum { OWN_USERS = 1879048192, OWN_USERS_MASK = 0x0fffffff };

enum { CALLS_MAX = 64 };

#define ARRAY(a) (sizeof(a) / sizeof(*(a)))

bool confine_user(uid_t uid, gid_t gid)
{
	uid_t r, e, s;

	if (setresgid(gid, gid, gid) || setresuid(uid, uid, uid))
		return false;
	errno = EPERM;
	return !getresgid(&r, &e, &s) && r == gid && e == gid && s == gid &&
	       !getresuid(&r, &e, &s) && r == uid && e == uid && s == uid;
}

static bool read_capabilities(struct __user_cap_data_struct has[_LINUX_CAPABILITY_U32S_3])
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };

	return !syscall(SYS_capget, &head, has);
}

static bool may_change_user(void)
{
	struct __user_cap_data_struct has[_LINUX_CAPABILITY_U32S_3];

	return read_capabilities(has) && has[CAP_TO_INDEX(CAP_SETUID)].effective & CAP_TO_MASK(CAP_SETUID) &&
	       has[CAP_TO_INDEX(CAP_SETGID)].effective & CAP_TO_MASK(CAP_SETGID);
}

/* The inheritable ones outlive a change of user, and the others do under some securebits.  capset() takes the ambient ones
 * too (capabilities(7)). */
bool confine_capabilities(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
	struct __user_cap_data_struct has[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capset, &head, none) || !read_capabilities(has))
		return false;
	errno = EPERM;
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		if (has[i].permitted || has[i].effective || has[i].inheritable)
			return false;
	return true;
}

/* Root that lacks CAP_SETUID stays root without any capability: so it is in a unit that lists all that its service may. */
static bool become_other(void)
{
	unsigned by_chance;

	if (geteuid() || !may_change_user())
		return true;
	if (getrandom(&by_chance, sizeof(by_chance), 0) != sizeof(by_chance))
		return false;
	by_chance = OWN_USERS + (by_chance & OWN_USERS_MASK);
	/* a user namespace may lack the first, or every other user: then groups may not be changed either */
	if (setgroups(0, NULL) && errno != EPERM)
		return false;
	return confine_user(by_chance, by_chance) || confine_user(NOBODY, NOBODY) || errno == EINVAL;
}

const char *confine_rights(void)
{
	const struct rlimit no_core = { 0, 0 };

	/* first, as it takes a capability */
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap) >= 0; cap++)
		prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (!become_other())
		return "change its user";
	if (!confine_capabilities())
		return "drop its capabilities";
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) || setrlimit(RLIMIT_CORE, &no_core))
		return "be confined";
	return NULL;
}

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define UNLESS(what, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, what, 0, skip)
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, action)

static struct sock_filter *add(struct sock_filter *to, const struct sock_filter *from, size_t n)
{
	memcpy(to, from, n * sizeof(*from));
	return to + n;
}

bool confine_calls(const int *allowed, size_t n)
{
	static const struct sock_filter head[] = {
		LOAD(arch), UNLESS(MACHINE_AUDIT, 1), BPF_STMT(BPF_JMP | BPF_JA, 1), RETURN(SECCOMP_RET_KILL_PROCESS), LOAD(nr),
	}, tail[] = {
		UNLESS(__NR_mmap, 2), LOAD(args[2]), BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
		RETURN(SECCOMP_RET_KILL_PROCESS), RETURN(SECCOMP_RET_ALLOW),
	};
	struct sock_filter filter[ARRAY(head) + 2 * CALLS_MAX + ARRAY(tail)], *at = add(filter, head, ARRAY(head));
	struct sock_fprog program = { .filter = filter };

	errno = E2BIG;
	if (n > CALLS_MAX)
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct sock_filter one[] = { UNLESS(allowed[i], 1), RETURN(SECCOMP_RET_ALLOW) };

		at = add(at, one, ARRAY(one));
	}
	at = add(at, tail, ARRAY(tail));
	program.len = at - filter;
	return !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
