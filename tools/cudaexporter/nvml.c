/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "base/clock.h"
#include "base/die.h"
#include "cudaexporter/nvml.h"
#include "cudaexporter/nvml_library.h"

static const unsigned long long patience_ns = 5000000000;	/* before a library that does not answer is worth a warning */
enum { DEATHS_MAX = 3 };

static const char without[] = "the memory of GPUs and what processes use of it is left out";

void nvml_open(struct nvml *n, bool verbose)
{
	n->verbose = verbose;
	n->library = nvml_library_new();
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

/* Waits for no helper: it may be in a call that no signal ends. */
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
	if (!n->said || n->missing)
		warning(0, "NVIDIA's management library crashed or could not be started: %s%s", without,
			n->missing ? " from now on" : "");
	n->said = true;
}

static void late(struct nvml *n)
{
	n->late = true;
	if (n->said || clock_ns() - n->asked < patience_ns)
		return;
	n->said = true;
	warning(0, "NVIDIA's management library does not answer: %s until it does; see dmesg for errors of a GPU "
		"(NVRM: Xid)", without);
}

static void *copy(const char **at, size_t size)
{
	void *to = xcalloc(1, size + 1);

	memcpy(to, *at, size);
	*at += size;
	return to;
}

static void say_failure(struct nvml *n, const struct nvml_answer *a)
{
	if (n->said)
		return;
	if (a->state == NVML_FAILED)
		warning(0, "NVIDIA's management library: %s: %s", a->why, without);
	else if (n->verbose)
		note("NVIDIA's management library: %s: %s", a->why, without);
	n->said = true;
}

/* Returns false if it is no list of devices. */
static bool take(struct nvml *n, const struct helper_answer *answer)
{
	const struct nvml_answer *a = (const void *)answer->bytes;
	const char *at = answer->bytes + sizeof(*a);

	if (answer->size < sizeof(*a) || a->ndevices > NVML_DEVICES || a->nprocesses > NVML_PROCESSES ||
	    answer->size != sizeof(*a) + a->ndevices * sizeof(*n->devices) + a->nprocesses * sizeof(*n->processes))
		return false;
	if (a->state != NVML_READ)
		say_failure(n, a);
	n->missing = a->state == NVML_MISSING;
	n->devices = copy(&at, a->ndevices * sizeof(*n->devices));
	n->ndevices = a->ndevices;
	n->processes = copy(&at, a->nprocesses * sizeof(*n->processes));
	n->nprocesses = a->nprocesses;
	return a->state == NVML_READ;
}

/* Drops an answer that came too late.  Returns false if it has not come yet. */
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
	/* the answer to a question that was late is of then */
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
	ok = take(n, &a);
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
