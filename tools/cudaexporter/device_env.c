/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What a helper reads of a process: its first environment, and which device nodes its root has. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "cudaexporter/devices.h"
#include "proc/helper_pool.h"

enum { ENVIRON_MAX = 1 << 20, NVIDIA_MAJOR = 195, NODES = 64 };

struct env_answer { int err; struct device_env env; };

static void take(char *to, size_t size, const char *value)
{
	snprintf(to, size, "%s", value);
}

/* The first of equal names counts, as for getenv(). */
static void see(struct device_env *env, const char *entry)
{
	if (!strncmp(entry, "CUDA_VISIBLE_DEVICES=", 21) && !env->restricted) {
		env->restricted = true;
		take(env->visible, sizeof(env->visible), entry + 21);
	} else if (!strncmp(entry, "CUDA_DEVICE_ORDER=", 18) && !*env->order) {
		take(env->order, sizeof(env->order), entry + 18);
	} else if (!strncmp(entry, "SLURM_JOB_ID=", 13)) {
		env->slurm = true;
	}
}

static int read_environ(int pid, struct device_env *env)
{
	char name[32], *line = NULL;
	size_t size = 0, total = 0;
	ssize_t n;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/environ", pid);
	f = fopen(name, "re");
	if (!f)
		return errno == ENOENT ? -ESRCH : -errno;
	while (total < ENVIRON_MAX && (n = getdelim(&line, &size, '\0', f)) > 0) {
		total += n;
		see(env, line);
	}
	free(line);
	fclose(f);
	return 0;
}

/* No link leads out of the root. */
static int open_dev(const char *root_name)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	int root = open(root_name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int dev = root < 0 ? -1 : syscall(SYS_openat2, root, "dev", &how, sizeof(how));

	if (root >= 0)
		close(root);
	return dev;
}

static unsigned long long read_nodes(int pid)
{
	unsigned long long nodes = 0;
	struct stat st;
	char name[32];
	int dev;

	snprintf(name, sizeof(name), "/proc/%d/root", pid);
	dev = open_dev(name);
	for (unsigned i = 0; dev >= 0 && i < NODES; i++) {
		snprintf(name, sizeof(name), "nvidia%u", i);
		if (!fstatat(dev, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISCHR(st.st_mode) &&
		    st.st_rdev == makedev(NVIDIA_MAJOR, i))
			nodes |= 1ull << i;
	}
	if (dev >= 0)
		close(dev);
	return nodes;
}

static void read_env(struct helper_job *job)
{
	struct env_answer a = { 0 };
	int pid = *(const int *)job->in;

	a.err = read_environ(pid, &a.env);
	if (!a.err)
		a.env.nodes = read_nodes(pid);
	helper_put(job, &a, sizeof(a));
}

int device_env_read(struct helper_pool *l, int pid, struct device_env *env)
{
	struct helper_answer a;
	int err = helper_call(l, pid, "environment", read_env, &pid, sizeof(pid), -1, &a);

	*env = (struct device_env){ 0 };
	if (err)
		return err;
	if (a.size == sizeof(struct env_answer)) {
		err = ((const struct env_answer *)a.bytes)->err;
		*env = ((const struct env_answer *)a.bytes)->env;
	}
	helper_drop(&a);
	return err;
}
