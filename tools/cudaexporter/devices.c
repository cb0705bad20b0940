/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* By NVIDIA's "CUDA Programming Guide", environment variables, and what the driver does where that is silent. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "cudaexporter/devices.h"

/* The GPUs that a program has, in its order: indexes in struct nvml's devices. */
struct visible {
	const struct nvml *nvml;
	unsigned n;
	unsigned char gpus[NVML_DEVICES];
	const char *unknown;	/* why its order is not known; NULL: it is */
};

static bool has_node(const struct device_env *env, const struct nvml_device *d)
{
	return !env->nodes || d->minor < 0 || d->minor >= 64 || env->nodes >> d->minor & 1;
}

/* Without the variables, CUDA has the fastest first, and equal ones by their place on the bus. */
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

/* Takes the devices that the words say of all, up to the first word that is none.  One that is there twice leaves none. */
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

/* A UUID, or as much of one as no other begins with. */
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

/* MIG-UUID or, before driver 470, MIG-GPU-UUID/instance/instance; a program gets the first part alone. */
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
			v->unknown = "Slurm may hide GPUs from the job, which changes what the indexes mean";
	}
}

/* Returns how many GPUs the driver has the process on, and one of them. */
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

/* What the environment says. */
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

	*why = "NVIDIA's management library knows of no GPU";
	if (!n->ndevices)
		return -1;
	find_visible(env, n, &v);
	used = count_used(n, pid, &one);
	gpu = find_expected(&v, device, why);
	if (gpu >= 0 && (!used || nvml_used(n, pid, gpu, &bytes)))
		return gpu;
	/* a program that is on one GPU alone has that as its device, whatever it has changed in its environment */
	if (used == 1 && !device)
		return one;
	if (gpu >= 0)
		*why = "the driver has the program on other GPUs than its environment says";
	return -1;
}
