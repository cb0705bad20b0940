/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A timeline of the calls, as complete events ("ph":"X"; see view/chrome.h), of what is held,
 * and of the work put into streams: slices without a length, as nothing is known of when it begins and
 * ends, with an arrow from the call of each. */
#ifndef TRACE_CHROME_H
#define TRACE_CHROME_H
#include <stdbool.h>
#include "base/quota.h"
#include "model/memory.h"
#include "view/chrome.h"

struct chrome;
struct cuda_proto;
struct trace_call;
struct users;

struct trace_streams {
	struct stream_track *tracks;
	int made;
	struct users *users;	/* of the processes; owned by the caller */
	struct quota quota;	/* bytes of tracks; as trace_streams_quota() at first */
};

struct trace_chrome {
	struct chrome out;
	struct chrome_track *tracks;	/* those named so far */
	struct trace_streams streams;	/* its users and quota as these, trace_streams_quota() */
	struct users *users;	/* of the processes; owned by the caller */
	struct quota quota;	/* bytes of tracks; as trace_chrome_quota() at first */
};

struct trace_held {
	struct memory memory;
	struct held_thread *threads;	/* that chose a device or context */
	struct users *users;	/* of the processes; owned by the caller */
	struct quota quota;	/* bytes of threads */
};

struct quota trace_chrome_quota(void);

/* Opens the file (cli/out_file.h) for *c, which must be all zero but for users and quota; exits 1 if
 * it cannot. */
void trace_chrome_open(struct trace_chrome *c, const char *path);

void trace_chrome_call(struct trace_chrome *c, const struct trace_call *call);

/* Call when the process ends or exec replaces its program. */
void trace_chrome_forget(struct trace_chrome *c, int pid);

/* Ends the array, closes the file and frees what *c holds.  On a write error warns and returns
 * false. */
bool trace_chrome_close(struct trace_chrome *c);

struct quota trace_streams_quota(void);

/* As it starts, but for users. */
struct trace_held trace_held_init(void);

/* Return true if the function allocates or frees memory, or says where. */
bool trace_held_by(const struct cuda_proto *proto);

/* Applies a call of such a function; returns its process, NULL if there is no room for it or if the
 * call is another one. */
struct mem_process *trace_held_call(struct trace_held *h, const struct trace_call *call);

/* Call when a process ends or exec replaces its program; -1: all. */
void trace_held_forget(struct trace_held *h, int pid);

void trace_held_free(struct trace_held *h);

#endif
