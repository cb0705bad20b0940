/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include "base/die.h"
#include "cudaexporter/nvml_device.h"
#include "cudaexporter/nvml_library.h"

struct nvml_library {
	struct nvml_api api;
	bool loaded, initialized;
	struct nvml_found found;
};

struct nvml_library *nvml_library_new(void)
{
	return xcalloc(1, sizeof(struct nvml_library));
}

/* Returns false if the library lacks one. */
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
		snprintf(a->why, sizeof(a->why), "libnvidia-ml.so.1 is too old: it lacks functions");
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
	if (err && l->initialized) {	/* the driver may be another one the next time */
		l->api.shutdown();
		l->initialized = false;
	}
	a->ndevices = l->found.ndevices;
	a->nprocesses = l->found.nprocesses;
}

void nvml_library_read(struct helper_job *job)
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
