/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "base/clock.h"
#include "base/die.h"
#include "base/util.h"
#include "nvml/nvml.h"
#include "proc/helper.h"

enum { NVML_ERROR_DRIVER_NOT_LOADED = 9, NVML_ERROR_LIBRARY_NOT_FOUND = 12 };	/* of nvmlReturn_t */

typedef struct nvml_handle *nvml_handle;	/* nvmlDevice_t */

struct nvml_memory_info { unsigned long long total, free, used; };	/* nvmlMemory_t */

struct nvml_utilization { unsigned gpu, memory; };	/* nvmlUtilization_t: percent of the time */

struct nvml_pci_info {		/* nvmlPciInfo_t */
	char bus_id_legacy[16];
	unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
	char bus_id[32];
};

/* nvmlProcessInfo_v1_t and _v2_t; used is ~0 if unknown. */
struct nvml_process_v1 { unsigned pid; unsigned long long used; };
struct nvml_process_v2 { unsigned pid; unsigned long long used; unsigned gpu_instance, compute_instance; };

/* The functions of libnvidia-ml.so.1 that are called, by NVIDIA's "NVML API Reference Guide" (docs.nvidia.com/deploy/
 * nvml-api), first the required ones: X(member, result, function, parameters).
 *
 * Processes are listed by _v2, whose struct never changed.  In drivers from 535.43 to 535.86, _v3's had one member more,
 * so it is only for a library without _v2; drivers before 455 have neither. */
#define NVML_NEEDED(X)										\
	X(init, int, nvmlInit_v2, (void))							\
	X(shutdown, int, nvmlShutdown, (void))							\
	X(error, const char *, nvmlErrorString, (int))						\
	X(count, int, nvmlDeviceGetCount_v2, (unsigned *))					\
	X(handle, int, nvmlDeviceGetHandleByIndex_v2, (unsigned, nvml_handle *))		\
	X(uuid, int, nvmlDeviceGetUUID, (nvml_handle, char *, unsigned))			\
	X(name, int, nvmlDeviceGetName, (nvml_handle, char *, unsigned))			\
	X(memory, int, nvmlDeviceGetMemoryInfo, (nvml_handle, struct nvml_memory_info *))

#define NVML_OPTIONAL(X)									\
	X(pci, int, nvmlDeviceGetPciInfo_v3, (nvml_handle, struct nvml_pci_info *))		\
	X(minor, int, nvmlDeviceGetMinorNumber, (nvml_handle, unsigned *))			\
	X(utilization, int, nvmlDeviceGetUtilizationRates, (nvml_handle, struct nvml_utilization *))	\
	X(mig_mode, int, nvmlDeviceGetMigMode, (nvml_handle, unsigned *, unsigned *))		\
	X(mig, int, nvmlDeviceGetMigDeviceHandleByIndex, (nvml_handle, unsigned, nvml_handle *))	\
	X(processes_v3, int, nvmlDeviceGetComputeRunningProcesses_v3,				\
	  (nvml_handle, unsigned *, struct nvml_process_v2 *))					\
	X(processes_v2, int, nvmlDeviceGetComputeRunningProcesses_v2,				\
	  (nvml_handle, unsigned *, struct nvml_process_v2 *))					\
	X(processes, int, nvmlDeviceGetComputeRunningProcesses,				\
	  (nvml_handle, unsigned *, struct nvml_process_v1 *))					\
	X(mps_v2, int, nvmlDeviceGetMPSComputeRunningProcesses_v2,				\
	  (nvml_handle, unsigned *, struct nvml_process_v2 *))

#define NVML_MEMBER(member, result, function, parameters) result (*member) parameters;
struct nvml_api {
	NVML_NEEDED(NVML_MEMBER)
	NVML_OPTIONAL(NVML_MEMBER)
};
#undef NVML_MEMBER

/* Starts zeroed. */
struct nvml_found {
	unsigned ndevices, nprocesses;
	nvml_handle handles[NVML_DEVICES];
	struct nvml_device devices[NVML_DEVICES];
	struct nvml_process processes[NVML_PROCESSES];
	union {			/* one device's */
		struct nvml_process_v1 v1[NVML_PROCESSES];
		struct nvml_process_v2 v2[NVML_PROCESSES];
	};
};

enum nvml_state {
	NVML_READ,		/* devices and processes follow */
	NVML_MISSING,		/* it is not installed */
	NVML_NO_DRIVER,		/* it may be loaded later */
	NVML_FAILED,		/* for the reason in why */
};

/* Precedes the arrays in an answer. */
struct nvml_answer {
	enum nvml_state state;
	char why[128];
	unsigned ndevices, nprocesses;
};

/* Sorts by place; devices without one stay last, in NVML's order. */
static void insert(struct nvml_found *f, nvml_handle handle, unsigned long long place)
{
	unsigned at = f->ndevices;

	for (; at && f->devices[at - 1].place > place; at--) {
		f->handles[at] = f->handles[at - 1];
		f->devices[at].place = f->devices[at - 1].place;
	}
	f->handles[at] = handle;
	f->devices[at].place = place;
	f->ndevices++;
}

static int find_devices(const struct nvml_api *api, struct nvml_found *f)
{
	unsigned count = 0;
	int err = api->count(&count);

	if (err)
		return err;
	for (unsigned i = 0; i < count && i < NVML_DEVICES; i++) {
		struct nvml_pci_info pci = { .domain = ~0u };
		nvml_handle handle;

		if (api->handle(i, &handle))
			continue;
		if (api->pci && api->pci(handle, &pci))
			pci = (struct nvml_pci_info){ .domain = ~0u };
		insert(f, handle, (unsigned long long)pci.domain << 32 | pci.bus << 8 | pci.device);
	}
	return 0;
}

static void read_migs(const struct nvml_api *api, nvml_handle handle, struct nvml_device *d)
{
	unsigned now = 0, next = 0;
	nvml_handle mig;

	d->mig = api->mig_mode && !api->mig_mode(handle, &now, &next) && now;
	for (unsigned i = 0; d->mig && api->mig && i < NVML_MIGS; i++)
		if (!api->mig(handle, i, &mig) && !api->uuid(mig, d->migs[d->nmigs], NVML_UUID))
			d->nmigs++;
}

static void read_device(const struct nvml_api *api, nvml_handle handle, struct nvml_device *d)
{
	struct nvml_memory_info memory = { 0 };
	struct nvml_utilization use;
	unsigned number;

	if (api->uuid(handle, d->uuid, sizeof(d->uuid)))
		*d->uuid = '\0';
	if (api->name(handle, d->name, sizeof(d->name)))
		*d->name = '\0';
	d->minor = api->minor && !api->minor(handle, &number) ? (int)number : -1;
	d->memory_known = !api->memory(handle, &memory);
	d->total = memory.total;
	d->used = memory.used;
	d->busy = api->utilization && !api->utilization(handle, &use) && use.gpu <= 100 ? (int)use.gpu : -1;
	read_migs(api, handle, d);
}

/* Adds to the process's entry for this device; the device's entries begin at first.  A split device lists a process once
 * for each part. */
static void add_process(struct nvml_found *f, unsigned first, unsigned device, unsigned pid, unsigned long long used)
{
	unsigned i = first;

	if (used == ~0ull)
		return;
	while (i < f->nprocesses && f->processes[i].pid != (int)pid)
		i++;
	if (i == NVML_PROCESSES)
		return;
	if (i == f->nprocesses)
		f->processes[f->nprocesses++] = (struct nvml_process){ .pid = pid, .device = device };
	f->processes[i].used += used;
}

static bool has_process(const struct nvml_found *f, unsigned first, unsigned end, unsigned pid)
{
	for (unsigned i = first; i < end; i++)
		if (f->processes[i].pid == (int)pid)
			return true;
	return false;
}

/* Clients of the multi-process service are in another list; a process in both counts once. */
static void read_clients(const struct nvml_api *api, struct nvml_found *f, unsigned first, unsigned device)
{
	unsigned n = NVML_PROCESSES, end = f->nprocesses;

	if (!api->mps_v2 || api->mps_v2(f->handles[device], &n, f->v2))
		return;
	for (unsigned i = 0; i < n && i < NVML_PROCESSES; i++)
		if (!has_process(f, first, end, f->v2[i].pid))
			add_process(f, first, device, f->v2[i].pid, f->v2[i].used);
}

static void read_processes(const struct nvml_api *api, struct nvml_found *f, unsigned device)
{
	unsigned n = NVML_PROCESSES, first = f->nprocesses;
	nvml_handle handle = f->handles[device];

	if (api->processes_v2 || api->processes_v3) {
		if ((api->processes_v2 ? api->processes_v2 : api->processes_v3)(handle, &n, f->v2))
			n = 0;
		for (unsigned i = 0; i < n && i < NVML_PROCESSES; i++)
			add_process(f, first, device, f->v2[i].pid, f->v2[i].used);
	} else if (api->processes && !api->processes(handle, &n, f->v1)) {
		for (unsigned i = 0; i < n && i < NVML_PROCESSES; i++)
			add_process(f, first, device, f->v1[i].pid, f->v1[i].used);
	}
	read_clients(api, f, first, device);
}

/* Reads all devices that answer.  Returns 0, or NVML's error if it cannot count them. */
static int nvml_devices_read(const struct nvml_api *api, struct nvml_found *f)
{
	int err = find_devices(api, f);

	for (unsigned i = 0; i < f->ndevices; i++) {
		read_device(api, f->handles[i], &f->devices[i]);
		read_processes(api, f, i);
	}
	return err;
}

struct nvml_library {
	struct nvml_api api;
	bool loaded, initialized;
	struct nvml_found found;
};

/* Returns false if a required one is missing. */
static bool find_functions(void *so, struct nvml_api *api)
{
	bool all = true;

#define FIND(member, result, function, parameters) api->member = (result (*) parameters)dlsym(so, #function);
#define FIND_NEEDED(member, result, function, parameters) \
	FIND(member, result, function, parameters) all = all && api->member;
	NVML_NEEDED(FIND_NEEDED)
	NVML_OPTIONAL(FIND)
#undef FIND_NEEDED
#undef FIND
	return all;
}

static void load(struct nvml_library *l, struct nvml_answer *a)
{
	void *so = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!so) {
		a->state = NVML_MISSING;
		snprintf(a->why, sizeof(a->why), "%s", dlerror());
	} else if (!find_functions(so, &l->api)) {
		a->state = NVML_MISSING;
		snprintf(a->why, sizeof(a->why), "libnvidia-ml.so.1 is too old: missing functions");
	} else {
		l->loaded = true;
	}
}

static void fail(struct nvml_library *l, struct nvml_answer *a, int err)
{
	const char *why = l->api.error(err);

	a->state = err == NVML_ERROR_DRIVER_NOT_LOADED || err == NVML_ERROR_LIBRARY_NOT_FOUND ? NVML_NO_DRIVER : NVML_FAILED;
	snprintf(a->why, sizeof(a->why), "%s", why ? why : "unknown error");
}

static void read_all(struct nvml_library *l, struct nvml_answer *a)
{
	int err = l->initialized ? 0 : l->api.init();

	l->initialized = !err;
	memset(&l->found, 0, sizeof(l->found));
	if (!err)
		err = nvml_devices_read(&l->api, &l->found);
	if (err)
		fail(l, a, err);
	if (err && l->initialized) {	/* another driver may be loaded the next time */
		l->api.shutdown();
		l->initialized = false;
	}
	a->ndevices = l->found.ndevices;
	a->nprocesses = l->found.nprocesses;
}

/* In the helper: serves a request, a pointer to its state.  Loads the library if need be, and answers with a struct
 * nvml_answer, the devices and the processes. */
static void nvml_library_read(struct helper_job *job)
{
	struct nvml_library *l = *(struct nvml_library *const *)job->in;
	struct nvml_answer a = { .state = NVML_READ };

	if (!l->loaded)
		load(l, &a);
	if (l->loaded)
		read_all(l, &a);
	helper_put(job, &a, sizeof(a));
	helper_put(job, l->found.devices, a.ndevices * sizeof(*l->found.devices));
	helper_put(job, l->found.processes, a.nprocesses * sizeof(*l->found.processes));
}

static const unsigned long long patience_ns = 5000000000;	/* before the warning about a missing answer */
enum { DEATHS_MAX = 3 };

static const char without[] = "GPU memory metrics are left out";

void nvml_open(struct nvml *n, bool verbose)
{
	n->verbose = verbose;
	n->library = xcalloc(1, sizeof(*n->library));
	helper_start(&n->helper);
}

static void drop(struct nvml *n)
{
	free(n->devices);
	free(n->processes);
	n->devices = NULL;
	n->processes = NULL;
	n->ndevices = n->nprocesses = 0;
}

/* Does not wait: the helper may be in a call that no signal ends. */
static void reap(struct nvml *n)
{
	if (n->left && waitpid(n->left, NULL, WNOHANG))
		n->left = 0;
}

static void leave(struct nvml *n)
{
	reap(n);
	n->left = helper_leave(&n->helper);
	reap(n);
}

static void died(struct nvml *n)
{
	leave(n);
	n->deaths++;
	n->missing = n->deaths >= DEATHS_MAX;
	if (!n->reported || n->missing)
		warning(0, "NVIDIA's management library crashed or could not be started: %s%s", without,
			n->missing ? " from now on" : "");
	n->reported = true;
}

static void late(struct nvml *n)
{
	n->late = true;
	if (n->reported || clock_ns() - n->asked < patience_ns)
		return;
	n->reported = true;
	warning(0, "NVIDIA's management library is not responding: %s until it does; see dmesg for errors of a GPU "
		"(NVRM: Xid)", without);
}

static void *copy(const char **at, size_t size)
{
	void *to = xcalloc(1, size + 1);

	memcpy(to, *at, size);
	*at += size;
	return to;
}

static void report_failure(struct nvml *n, const struct nvml_answer *a)
{
	if (n->reported)
		return;
	if (a->state == NVML_FAILED)
		warning(0, "NVIDIA's management library: %s: %s", a->why, without);
	else if (n->verbose)
		note("NVIDIA's management library: %s: %s", a->why, without);
	n->reported = true;
}

/* Returns false if the answer has no valid list of devices. */
static bool nvml_take(struct nvml *n, const struct helper_answer *answer)
{
	const struct nvml_answer *a = (const void *)answer->bytes;
	const char *at = answer->bytes + sizeof(*a);

	if (answer->size < sizeof(*a) || a->ndevices > NVML_DEVICES || a->nprocesses > NVML_PROCESSES ||
	    answer->size != sizeof(*a) + a->ndevices * sizeof(*n->devices) + a->nprocesses * sizeof(*n->processes))
		return false;
	if (a->state != NVML_READ)
		report_failure(n, a);
	n->missing = a->state == NVML_MISSING;
	n->devices = copy(&at, a->ndevices * sizeof(*n->devices));
	n->ndevices = a->ndevices;
	n->processes = copy(&at, a->nprocesses * sizeof(*n->processes));
	n->nprocesses = a->nprocesses;
	return a->state == NVML_READ;
}

/* Drops a late answer.  Returns false if it has not come yet. */
static bool settled(struct nvml *n)
{
	struct helper_answer a;
	int err;

	if (!n->helper.waiting)
		return true;
	err = helper_receive(&n->helper, 0, &a);
	if (!err)
		helper_drop(&a);
	else if (err != -ETIME && err != -ECANCELED)
		died(n);
	if (!n->helper.waiting)
		n->late = false;
	else
		late(n);
	return !n->helper.waiting;
}

void nvml_ask(struct nvml *n)
{
	reap(n);
	if (n->missing || !settled(n) || n->missing)
		return;
	n->asked = clock_ns();
	if (!helper_send(&n->helper, nvml_library_read, &n->library, sizeof(n->library), -1))
		died(n);
}

bool nvml_read(struct nvml *n, long ms)
{
	struct helper_answer a;
	bool ok;
	int err;

	drop(n);
	/* a late answer is outdated */
	if (!n->helper.waiting || n->late)
		nvml_ask(n);
	if (!n->helper.waiting)
		return false;
	err = helper_receive(&n->helper, n->late ? 0 : ms, &a);
	if (err == -ETIME || err == -ECANCELED)
		late(n);
	else if (err)
		died(n);
	if (err)
		return false;
	n->late = false;
	ok = nvml_take(n, &a);
	helper_drop(&a);
	if (n->missing)
		leave(n);
	return ok;
}

bool nvml_used(const struct nvml *n, int pid, unsigned device, unsigned long long *bytes)
{
	for (unsigned i = 0; i < n->nprocesses; i++) {
		if (n->processes[i].pid != pid || n->processes[i].device != device)
			continue;
		*bytes = n->processes[i].used;
		return true;
	}
	return false;
}

void nvml_close(struct nvml *n)
{
	drop(n);
	leave(n);
	free(n->library);
	n->library = NULL;
}

void nvml_start(struct nvml *n, const struct helper *like, bool verbose)
{
	n->helper.idle = like->idle;
	n->helper.ctx = like->ctx;
	nvml_open(n, verbose);
	nvml_ask(n);
}
