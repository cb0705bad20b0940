/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Attaches the probes of a session with its back end (session/backend.h), and detaches them at the end. */
#ifndef SESSION_SESSION_ATTACH_H
#define SESSION_SESSION_ATTACH_H

struct probe_source;
struct session;

/* Chooses what is probed: every function of these classes (a mask of 1 << CUDA_...), or of another table if source is not
 * NULL. */
void session_choose_functions(struct session *t, const struct probe_source *source, unsigned classes);

/* For a back end's attach(): probes the file of --lib, and those that the processes of -p have mapped. */
void session_attach_named(struct session *t);

/* Makes t->probes.watch, which reports nothing yet. */
void session_watch_new(struct session *t);

/* Probes the functions in the files mapped now and in those mapped later; prints a start message to standard error; starts
 * the command.  With --list and no command, prints the list of probes and exits.  Exits with status 3 if a process given
 * with -p has no CUDA functions. */
void session_attach(struct session *t);

/* Detaches every probe, in up to ms milliseconds; the kernel may go on with that.  Sends the command
 * sig, unless 0, and waits for it: with sig for less than half a second.  Returns the status to exit
 * with. */
int session_finish(struct session *t, int sig, long ms);

#endif
