/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Reads debug information by libdw, which trusts what it reads more than it should: in a helper alone (see
 * proc/helper_pool.h), which it may end.  Private to lines.c. */
#ifndef SYM_LINES_READ_H
#define SYM_LINES_READ_H

struct helper_job;

/* The files that stay open in the helper. */
struct lines_reader;

/* Call before the helper is started. */
struct lines_reader *lines_reader_new(void);

/* In the tool, for which nothing is open. */
void lines_reader_free(struct lines_reader *r);

struct lines_request {
	struct lines_reader *reader;
	unsigned long long offset;	/* in the file of job->fd */
	int pid;		/* that has it mapped */
	char key[];		/* of the module */
};

/* For each line in an answer; the strings follow, each with a '\0'. */
struct lines_entry {
	int line, inlined;
	unsigned function, file;	/* sizes of the strings; 0: unknown */
};

/* Answers a struct lines_request by entries, at least one if the file has debug information.  Takes at most 3
 * seconds of CPU time, and ends the process if that is not enough. */
void lines_read(struct helper_job *job);

#endif
