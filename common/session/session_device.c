/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <bpf/libbpf.h>
#include "abi/device.h"
#include "api/cuda_fn.h"
#include "base/clock.h"
#include "base/die.h"
#include "base/util.h"
#include "session/session.h"
#include "session/session_device.h"

/* A function that waits is of interest to a tool that asked for those, whatever its class. */
static unsigned alone(unsigned classes)
{
	unsigned mask = CUDA_DEVICE_CLASSES & ~classes;

	return classes & CUDA_WAITS ? mask & ~(1u << CUDA_RESET | 1u << CUDA_WAIT) : mask;
}

static struct device_state *state_of(const struct bpf_object *obj)
{
	size_t size;

	return (struct device_state *)bpf_map__initial_value(
		bpf_object__find_map_by_name(obj, ".data.device"), &size);
}

unsigned session_device_prepare(struct session *t, struct bpf_object *obj, unsigned classes)
{
	struct bpf_map *map = bpf_object__find_map_by_name(obj, ".rodata.device");
	struct device_config config = { .only = t->devices, .alone = alone(classes) };

	bpf_map__set_initial_value(map, &config, sizeof(config));
	t->probes.helper_classes = config.alone;
	if (t->command)
		state_of(obj)->since = 0;
	return classes | CUDA_DEVICE_CLASSES;
}

void session_device_begin(const struct session *t, const struct bpf_object *obj)
{
	struct device_state *state = state_of(obj);

	if (t->command)
		return;
	state->since = clock_ns();
	__atomic_add_fetch(&state->generation, 1, __ATOMIC_RELAXED);
}

void session_device_losses(const struct bpf_object *obj)
{
	const struct device_state *state = state_of(obj);

	if (state->unknown)
		warning(0, "left out %llu call%s whose device is not known: their threads chose it before tracing began",
			state->unknown, plural(state->unknown));
}
