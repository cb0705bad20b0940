/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The output of --list: what is probed and where, and what is skipped and why. */
#ifndef PROBE_LIST_H
#define PROBE_LIST_H

struct elf_probe;
struct function;
struct probe_line;

/* Starts zeroed. */
struct probe_list {
	struct probe_line *lines;
	int n;
};

/* Adds a function of a file: probed, or skipped for a reason, which must outlive the list. */
void probe_list_probe(struct probe_list *list, const char *path, const struct function *fn,
		      const struct elf_probe *p, const char *skipped);

/* Adds a file that has nothing to probe, and why; the reason must outlive the list. */
void probe_list_file(struct probe_list *list, const char *path, const char *why);

/* Prints the list, in the order in which the files were found. */
void probe_list_print(const struct probe_list *list);

void probe_list_free(struct probe_list *list);

#endif
