/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The timeline of held bytes, for --chrome. */
#ifndef LEAK_CHROME_H
#define LEAK_CHROME_H
#include "model/memory.h"
#include "view/chrome.h"

struct leak_chrome {
	const char *path;	/* set by the tool; NULL: without a timeline */
	struct chrome timeline;
};

/* Exits 2 if the output goes to the same file. */
void leak_chrome_check(const struct leak_chrome *c);

void leak_chrome_open(struct leak_chrome *c);

/* Adds what a process holds from this time on (CLOCK_MONOTONIC, ns), an estimate from one allocation in sample. */
void leak_chrome_held(struct leak_chrome *c, struct mem_process *process, unsigned long long time,
		      long sample);

/* Call when a process has ended. */
void leak_chrome_exit(struct leak_chrome *c, const struct mem_process *process, unsigned long long time);

/* Completes the file with the names of the processes.  Returns false if it could not be written. */
bool leak_chrome_close(struct leak_chrome *c, const struct memory *memory);

#endif
