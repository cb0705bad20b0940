/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include "gpuprobe/gpuprobe.h"
#include "gpuprobe/ranges_tell.h"

void ranges_tell(void)
{
	struct inject *inject = gpuprobe_state();
	int err = errno;

	if (!inject || !(inject->config.flags & GPUPROBE_RANGES))
		return;
	pthread_mutex_lock(&inject->lock);
	gpuprobe_wait(inject, &inject->ranges_served, ++inject->ranges_wanted);
	pthread_mutex_unlock(&inject->lock);
	errno = err;
}
