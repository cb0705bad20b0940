/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <ctype.h>
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
#include "nvml/device_env.h"
#include "nvml/nvml.h"
#include "proc/helper_pool.h"
#include "proc/living.h"

/* The GPUs that a program sees, in its order: indexes in struct nvml's devices.  By "Environment Variables" in NVIDIA's
 * "CUDA Programming Guide" and, for what it leaves open, by the driver's behavior. */
struct visible {
	const struct nvml *nvml;
	unsigned n;
	unsigned char gpus[NVML_DEVICES];
	const char *unknown;	/* why the order is unknown; NULL: it is known */
};

static bool has_node(const struct device_env *env, const struct nvml_device *d)
{
	return !env->nodes || d->minor < 0 || d->minor >= 64 || env->nodes >> d->minor & 1;
}

/* By default, CUDA puts the fastest GPU first and orders equal ones by PCI address. */
static void find_all(const struct device_env *env, struct visible *v)
{
	const struct nvml_device *first = NULL;

	for (unsigned i = 0; i < v->nvml->ndevices; i++) {
		const struct nvml_device *d = &v->nvml->devices[i];

		if (!has_node(env, d))
			continue;
		if (!first)
			first = d;
		if (strcmp(env->order, "PCI_BUS_ID") && strcmp(d->name, first->name))
			v->unknown = "the GPUs differ and CUDA_DEVICE_ORDER is not PCI_BUS_ID: the fastest is first";
		if (d->mig)
			v->unknown = "a GPU is split (MIG) and CUDA_VISIBLE_DEVICES names no part";
		v->gpus[v->n++] = i;
	}
}

/* Adds the devices that a list names, up to the first invalid word.  A duplicate leaves no device. */
static void choose(struct visible *v, const struct visible *all, int (*find)(const struct visible *all, const char *word),
		   const char *list)
{
	bool seen[NVML_DEVICES] = { false };

	for (const char *word = list; word; word = strchr(word, ',')) {
		int gpu;

		word += *word == ',';
		gpu = find(all, word);
		if (gpu < 0)
			return;
		if (seen[gpu]) {
			v->n = 0;
			return;
		}
		seen[gpu] = true;
		v->gpus[v->n++] = gpu;
	}
}

/* As strtoul() reads it: "1", " 1", "1gpu". */
static int find_index(const struct visible *all, const char *word)
{
	unsigned long i;

	word += strspn(word, " \t");
	if (!isdigit((unsigned char)*word))
		return -1;
	i = strtoul(word, NULL, 10);
	return i < all->n ? all->gpus[i] : -1;
}

/* A UUID, or a unique prefix of one. */
static int find_uuid(const struct visible *all, const char *word)
{
	size_t len = strcspn(word, ",");
	int found = -1;

	while (len && (word[len - 1] == ' ' || word[len - 1] == '\t'))
		len--;
	for (unsigned i = 0; len > 4 && i < all->n; i++) {
		if (strncmp(all->nvml->devices[all->gpus[i]].uuid, word, len))
			continue;
		if (found >= 0)
			return -1;
		found = all->gpus[i];
	}
	return found;
}

/* MIG-UUID or, before driver 470, MIG-GPU-UUID/instance/instance; a program gets only the first part. */
static int find_mig(const struct visible *all, const char *list)
{
	size_t len = strcspn(list, ",");

	for (unsigned i = 0; i < all->n; i++) {
		const struct nvml_device *d = &all->nvml->devices[all->gpus[i]];
		size_t uuid = strlen(d->uuid);

		if (uuid && !strncmp(list, "MIG-", 4) && !strncmp(list + 4, d->uuid, uuid) && list[4 + uuid] == '/')
			return all->gpus[i];
		for (unsigned part = 0; part < d->nmigs; part++)
			if (strlen(d->migs[part]) == len && !strncmp(d->migs[part], list, len))
				return all->gpus[i];
	}
	return -1;
}

static void find_visible(const struct device_env *env, const struct nvml *n, struct visible *v)
{
	const char *list = env->visible + strspn(env->visible, " \t");
	struct visible all = { .nvml = n };
	int gpu;

	*v = all;
	find_all(env, &all);
	if (!env->restricted) {
		*v = all;
	} else if (!strncmp(list, "MIG-", 4)) {
		gpu = find_mig(&all, list);
		if (gpu >= 0)
			v->gpus[v->n++] = gpu;
	} else if (!strncmp(list, "GPU-", 4)) {
		choose(v, &all, find_uuid, list);
	} else {
		choose(v, &all, find_index, list);
		v->unknown = all.unknown;
		if (env->slurm)
			v->unknown = "Slurm may hide GPUs from the job, which changes the meaning of indexes";
	}
}

/* Returns the number of GPUs on which the driver lists the process, and one of them. */
static unsigned count_used(const struct nvml *n, int pid, int *one)
{
	unsigned count = 0;

	*one = -1;
	for (unsigned i = 0; i < n->nprocesses; i++)
		if (n->processes[i].pid == pid) {
			*one = n->processes[i].device;
			count++;
		}
	return count;
}

/* By the environment. */
static int find_expected(const struct visible *v, unsigned device, const char **why)
{
	*why = device >= v->n ? "the program was started with fewer visible GPUs" : v->unknown;
	return *why ? -1 : v->gpus[device];
}

int device_find(const struct device_env *env, const struct nvml *n, int pid, unsigned device, const char **why)
{
	unsigned long long bytes;
	unsigned used;
	struct visible v;
	int gpu, one;

	*why = "NVIDIA's management library reports no GPU";
	if (!n->ndevices)
		return -1;
	find_visible(env, n, &v);
	used = count_used(n, pid, &one);
	gpu = find_expected(&v, device, why);
	if (gpu >= 0 && (!used || nvml_used(n, pid, gpu, &bytes)))
		return gpu;
	/* a program on one GPU has that as its device 0, even if it has changed its environment */
	if (used == 1 && !device)
		return one;
	if (gpu >= 0)
		*why = "the driver lists the program on other GPUs than its environment selects";
	return -1;
}

void device_numbers(const struct device_env *env, const struct nvml *n, int pid, unsigned *number)
{
	const char *why;
	int gpu;

	memset(number, 0, NVML_DEVICES * sizeof(*number));
	for (unsigned device = 0; device < n->ndevices; device++) {
		gpu = device_find(env, n, pid, device, &why);
		if (gpu >= 0)
			number[gpu] = device + 1;
	}
}

enum { ENVIRON_MAX = 1 << 20, NVIDIA_MAJOR = 195, NODES = 64 };

struct env_answer { int err; struct device_env env; };

static void device_env_take(char *to, size_t size, const char *value)
{
	snprintf(to, size, "%s", value);
}

/* As for getenv(), the first of equal names counts. */
static void see(struct device_env *env, const char *entry)
{
	if (!strncmp(entry, "CUDA_VISIBLE_DEVICES=", 21) && !env->restricted) {
		env->restricted = true;
		device_env_take(env->visible, sizeof(env->visible), entry + 21);
	} else if (!strncmp(entry, "CUDA_DEVICE_ORDER=", 18) && !*env->order) {
		device_env_take(env->order, sizeof(env->order), entry + 18);
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

	snprintf(name, sizeof(name), "/proc/%d/environ", proc_living(pid));
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

/* Follows no link out of the root. */
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

	snprintf(name, sizeof(name), "/proc/%d/root", proc_living(pid));
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
	int err = helper_call(l, &(struct helper_request){
			pid, "environment", read_env, &pid, sizeof(pid), .fd = -1 }, &a);

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
