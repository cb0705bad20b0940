/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <ctype.h>
#include <dirent.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/die.h"
#include "proc/living.h"
#include "proc/privileges.h"

/* A process could have so many that reading of them takes long. */
enum { MAX_THREADS = 4096, MODE_FILTER = 2 };

static bool thread_has_filter(const char *tid)
{
	char line[256], *text = proc_status(atoi(tid), "Seccomp", line, sizeof(line));

	return text && atoi(text) == MODE_FILTER;
}

bool proc_has_filter(int pid)
{
	char *name = xprintf("/proc/%d/task", pid);
	DIR *dir = opendir(name);
	struct dirent *e;
	bool has = false;
	int n = 0;

	while (dir && !has && (e = readdir(dir)))
		if (isdigit((unsigned char)*e->d_name))
			has = ++n > MAX_THREADS || thread_has_filter(e->d_name);
	if (dir)
		closedir(dir);
	free(name);
	return has;
}

/* Since Linux 5.8 and 5.9; the headers may be older. */
enum { PERFMON = 38, BPF = 39, CHECKPOINT_RESTORE = 40 };

#define BIT(n) (1ull << (n))

static const unsigned long long wanted[] = {
	[PRIVILEGE_BPF] = BIT(BPF) | BIT(PERFMON),
	[PRIVILEGE_EVENTS] = BIT(PERFMON),
	[PRIVILEGE_UPROBES] = BIT(CAP_SYS_ADMIN),
	[PRIVILEGE_PTRACE] = BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH),
	[PRIVILEGE_MEMORY] = BIT(CAP_SYS_PTRACE),
	[PRIVILEGE_CHECKPOINT] = BIT(CHECKPOINT_RESTORE),
	[PRIVILEGE_SETUID] = BIT(CAP_SETUID) | BIT(CAP_SETGID),
};

/* CAP_SYS_ADMIN implies these. */
static const unsigned long long admins = BIT(BPF) | BIT(PERFMON) | BIT(CHECKPOINT_RESTORE);

/* Returns a number from /proc/self/status; 0 if the field is missing. */
static unsigned long long status(const char *name, int base)
{
	char line[256], *text = proc_status(getpid(), name, line, sizeof(line));

	return text ? strtoull(text, NULL, base) : 0;
}

/* The inode number of the initial namespace is fixed (include/linux/proc_ns.h). */
static bool in_user_namespace(void)
{
	struct stat st;

	return !stat("/proc/self/ns/user", &st) && st.st_ino != 0xeffffffd;
}

static char *lacking(unsigned long long caps)
{
	static const struct { int cap; const char *name; } names[] = {
		{ BPF, "CAP_BPF" }, { PERFMON, "CAP_PERFMON" },
		{ CAP_SYS_PTRACE, "CAP_SYS_PTRACE" }, { CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH" },
		{ CHECKPOINT_RESTORE, "CAP_CHECKPOINT_RESTORE" }, { CAP_SYS_ADMIN, "CAP_SYS_ADMIN" },
		{ CAP_SETUID, "CAP_SETUID" }, { CAP_SETGID, "CAP_SETGID" },
	};
	char text[128];
	size_t len = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (caps & BIT(names[i].cap))
			len += snprintf(text + len, sizeof(text) - len, "%s%s", len ? " and " : "",
					names[i].name);
	return xprintf("%s%s missing: run as root or grant %s", text,
		       strstr(text, " and ") ? " are" : " is", strstr(text, " and ") ? "them" : "it");
}

static unsigned long long missing(enum privilege what)
{
	unsigned long long has = status("CapEff", 16);

	if (has & BIT(CAP_SYS_ADMIN))
		has |= admins;
	if (has & BIT(CAP_DAC_OVERRIDE))
		has |= BIT(CAP_DAC_READ_SEARCH);
	return wanted[what] & ~has;
}

bool privilege_lacks(enum privilege what)
{
	return missing(what) || in_user_namespace();
}

/* Readers of a process's memory (Documentation/admin-guide/LSM/Yama.rst): 1: its ancestors and the process that it names;
 * 2: those with CAP_SYS_PTRACE; 3: none. */
static int yama_scope(void)
{
	FILE *f = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	int scope = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%d", &scope) != 1)
		scope = 0;
	fclose(f);
	return scope;
}

char *privilege_missing(enum privilege what)
{
	unsigned long long lacks = missing(what);

	if (in_user_namespace())
		return xstrdup("running in a user namespace (rootless container?), whose root lacks "
			       "the privilege: run on the host");
	if (lacks)
		return lacking(lacks);
	if (what == PRIVILEGE_MEMORY && yama_scope() == 3)
		return xstrdup("kernel.yama.ptrace_scope is 3: denied to every process until the next boot");
	if (what == PRIVILEGE_MEMORY && status("Seccomp", 10))
		return xstrdup("blocked by a seccomp filter (of a container?): run on the host or allow "
			       "process_vm_readv in the filter");
	if (status("Seccomp", 10))
		return xstrdup("blocked by a seccomp filter (of a container?): run on the host or allow bpf "
			       "and perf_event_open in the filter");
	return xstrdup("all capabilities present: AppArmor or SELinux?");
}

bool privilege_needs_leave(void)
{
	return yama_scope() == 1 && privilege_lacks(PRIVILEGE_MEMORY);
}

char *privilege_own_memory(void)
{
	int scope = yama_scope();

	if (scope)
		return xprintf("kernel.yama.ptrace_scope is %d", scope);
	if (status("Seccomp", 10))
		return xstrdup("blocked by a seccomp filter (of a container?): allow process_vm_readv in the filter");
	return xstrdup("the process is not dumpable, or a security module denies it");
}
