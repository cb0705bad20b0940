/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "base/die.h"
#include "base/util.h"
#include "cudakerneltime/launch_ends.h"

static void add(const struct gpuprobe_module *module, unsigned long long *running, unsigned long long *no_room)
{
	for (unsigned i = 0; i < module->code->sites.num; i++) {
		const unsigned long long *n = module->sums[i].hist;

		if (n[GPU_LAUNCHES_BEGUN] > n[GPU_LAUNCHES_ENDED])
			*running += n[GPU_LAUNCHES_BEGUN] - n[GPU_LAUNCHES_ENDED];
		*no_room += n[GPU_LAUNCH_NO_ROOM];
	}
}

void launch_ends_say(const struct gpuprobe_modules *m)
{
	unsigned long long running = 0, no_room = 0;

	for (const struct gpuprobe_process *p = m->first; p; p = p->next) {
		for (uint32_t i = 0; i < p->num_modules; i++) {
			if (p->modules[i])
				add(p->modules[i], &running, &no_room);
		}
	}
	if (running)
		warning(0, "%llu launch%s did not end before the GPU was last read", running, running == 1 ? "" : "es");
	if (no_room)
		warning(0, "%llu block%s left out: too many launches ran at once", no_room, plural(no_room));
}
