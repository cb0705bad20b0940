/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef LAUNCH_ENDS_H
#define LAUNCH_ENDS_H
#include "model/gpuprobe_modules.h"

/* Says how many launches had begun and not ended when they were last read, and what found no room on the GPU. */
void launch_ends_say(const struct gpuprobe_modules *m);

#endif
