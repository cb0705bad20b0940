/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The processes that use CUDA, and whose series they count for. */
#ifndef CLIENTS_H
#define CLIENTS_H
#include <stdbool.h>
#include "base/hash.h"
#include "cudaexporter/identity.h"
#include "cudaexporter/owners.h"
#include "proc/proc.h"

struct device_env;
struct export_seen;

struct client_text {
	enum metric metric;
	char *labels;
};

/* One execution of a program in a process. */
struct client {
	struct client_key {
		unsigned long long program;	/* as in struct export_seen; 0: it has made no call yet */
		unsigned pid, unused;
	} key;
	struct identity is;
	struct proc_identity proc;
	unsigned user;		/* who is charged */
	unsigned long long made;	/* when it was found, ns */
	bool preexisting;		/* it used CUDA before tracing began */
	bool gone;		/* its process was, when it was last looked for */
	bool over;		/* it has ended; what it counted last is still to be read */
	struct owner *owner;
	struct client_text *texts;	/* labels that its series have */
	unsigned ntexts;
	struct device_env *env;	/* freed with it; NULL: not read yet … */
	bool no_env;		/* … and it cannot be */
	UT_hash_handle hh, hh_pid;
};

struct clients {		/* set ended and ctx, and initialize owners, first */
	struct owners owners;
	void (*ended)(void *ctx, int pid);	/* called when the program of a process has ended */
	void *ctx;
	struct left_out *left_out;	/* processes that a filter leaves out; HASH_COUNT() */
	struct client *all, *by_pid;	/* those that live are in by_pid */
	unsigned over;		/* clients that are */
};

void clients_free(struct clients *c);

/* Each returns the client that the process is now, made if need be: of a process that has mapped CUDA; of one
 * that made its first call, whose name and user the kernel told; of one that counted something: NULL if it is gone
 * and its name is still to be told. */
struct client *clients_mapped(struct clients *c, int pid);
struct client *clients_seen(struct clients *c, const struct export_seen *seen);
struct client *clients_counted(struct clients *c, int pid, unsigned long long program);

/* Returns the client that lives with this pid, or NULL. */
struct client *clients_find(const struct clients *c, int pid);

/* Call when it has ended: it is over, until clients_reap(). */
void clients_end(struct clients *c, struct client *client);

/* Ends those whose processes are gone without a word; thorough: looks at all. */
void clients_check(struct clients *c, bool thorough);

/* Call for a process that uses CUDA and is not wanted. */
void clients_leave_out(struct clients *c, int pid);

unsigned clients_left_out(const struct clients *c);	/* how many */

/* Frees those that are over: what they counted has been read. */
void clients_reap(struct clients *c);

#endif
