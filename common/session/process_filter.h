/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The options that select whose calls are recorded; the BPF programs leave out the others. */
#ifndef SESSION_PROCESS_FILTER_H
#define SESSION_PROCESS_FILTER_H
#include <stdbool.h>
#include "abi/call_filter.h"	/* the skeletons of the programs have one */

struct bpf_object;

struct filter_options {
	const char *comm, *user, *cgroup, *container;	/* NULL: any */
};

#define OPT_FILTER(f)									\
	OPT_STR(0, "comm", "NAME", &(f)->comm, "only processes of this name"),		\
	OPT_STR(0, "uid", "USER", &(f)->user, "only processes of this user, by name or UID"),	\
	OPT_STR(0, "cgroup", "PATH", &(f)->cgroup, "only processes in this cgroup and below: path or id"), \
	OPT_STR(0, "container", "ID", &(f)->container, "only processes in this container")

/* Sets *filter from the options.  Returns NULL, or why there is no such cgroup, which the caller frees.
 * Exits 2 if the options cannot be combined, or if there is no such user. */
char *filter_read(const struct filter_options *options, struct filter *filter);

/* Call between open and load: also sets the filter of the programs, if they have one.  Exits with the reason if
 * there is no such cgroup. */
void filter_prepare(const struct filter_options *options, struct bpf_object *obj, struct filter *filter);

/* Return true if any process is left out. */
bool filter_is_set(const struct filter *filter);

/* Return true if the process is selected, as it is now. */
bool filter_wants(const struct filter *filter, int pid);

/* Returns the options that select, as on the command line: "--comm train --uid 1000".  The caller frees it. */
char *filter_text(const struct filter_options *options);

#endif
