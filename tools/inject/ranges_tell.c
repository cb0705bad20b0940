/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include "inject/inject.h"
#include "inject/ranges_tell.h"

void ranges_tell(void)
{
	struct inject *inject = inject_state();
	int err = errno;

	if (!inject || !(inject->config.flags & INJECT_RANGES))
		return;
	pthread_mutex_lock(&inject->lock);
	inject_wait(inject, &inject->ranges_served, ++inject->ranges_wanted);
	pthread_mutex_unlock(&inject->lock);
	errno = err;
}
