/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* One run of cudakerneltime: what comes from the library in the program, and what becomes of it.  The functions are hooks
 * of struct tool. */
#ifndef MEASURE_H
#define MEASURE_H
#include "cudakerneltime/kernel_report.h"
#include "cudakerneltime/launch_calls.h"
#include "cudakerneltime/launch_csv.h"
#include "proc/helper_pool.h"
#include "session/gpuprobe.h"
#include "session/tool.h"
#include "view/chrome.h"

/* Starts zeroed except for session, events, gpuprobe, helpers, join (measure_join()), written and what the options set. */
struct kerneltime {
	struct session session;
	struct event_loop events;
	struct gpuprobe gpuprobe;
	const char *chrome_path, *csv_path;
	struct gpuprobe_modules modules;
	struct launch_join join;
	struct launch_keep keep;
	struct launch_calls calls;
	struct kernel_rows rows;
	struct kernel_report report;
	struct chrome chrome;
	struct launch_csv csv;
	struct helper_pool helpers;
	bool written;		/* set: all files were */
};

struct launch_join measure_join(struct kerneltime *k);
const char *measure_config(void *ctx, struct gpuprobe_config *config);
void measure_start(void *ctx);
const char *measure_frame(void *ctx, const struct gpuprobe_peer *peer, uint32_t kind, const void *data, size_t size);
void measure_report(void *ctx);
int measure_stop(void *ctx, int sig);

#endif
