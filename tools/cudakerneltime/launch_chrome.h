/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A timeline of the launches on each device, and of the blocks on each SM (view/chrome.h). */
#ifndef LAUNCH_CHROME_H
#define LAUNCH_CHROME_H
#include "cudakerneltime/kernel_report.h"
#include "cudakerneltime/launch_keep.h"
#include "view/chrome.h"

/* Draws what is kept; report names the kernels. */
void launch_chrome(struct chrome *chrome, const struct launch_keep *keep, struct kernel_report *report);

#endif
