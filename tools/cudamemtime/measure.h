/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A measurement: its options, its state, and the hooks of struct tool. */
#ifndef CUDAMEMTIME_MEASURE_H
#define CUDAMEMTIME_MEASURE_H
#include "cudamemtime/site_report.h"
#include "gpuprobe/gpuprobe_run.h"
#include "session/tool.h"
#include "view/chrome.h"

/* In the order of enum ptx_scheme. */
#define SCHEME_WORDS "dep|fence|paper|simple"

#define RECORDS_DEFAULT 8192

struct measure {
	struct session session;
	struct event_loop events;
	struct gpuprobe gpuprobe;
	int scheme;		/* enum ptx_scheme */
	const char *spaces, *ops;	/* of -S and --op; NULL: the default */
	const char *csv, *chrome;
	long records;		/* of a group; 0: not given */
	bool stage;
	/* state */
	struct kernels kernels;
	FILE *csv_file;
	struct chrome timeline;
	bool failed;		/* a file could not be written */
};

/* Checks the options; exits 2 if they cannot be combined. */
void measure_check(struct measure *m);

/* The hooks; ctx is a struct measure *. */
const char *measure_config(void *ctx, struct gpuprobe_config *config);
void measure_start(void *ctx);
void measure_report(void *ctx);
int measure_stop(void *ctx, int sig);

void measure_free(struct measure *m);

/* For completion: the i-th word, NULL at the end. */
const char *choice_space_word(int i);
const char *choice_op_word(int i);

#endif
