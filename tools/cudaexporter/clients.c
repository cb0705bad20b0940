/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "abi/cudaexporter.h"
#include "base/clock.h"
#include "cudaexporter/clients.h"
#include "proc/users.h"

enum { LEFT_OUT = 65536, LOOKS = 1024 };

/* How long the record of a program's first call may be on the way. */
static const unsigned long long TOLD_NS = 2 * 1000000000ull;

struct left_out { int pid; UT_hash_handle hh; };

static struct owner *join(struct clients *c, const struct client *client)
{
	return owners_join(&c->owners, client->key.pid, client->user, &client->is);
}

static void enter(struct clients *c, struct client *client)
{
	client->owner = join(c, client);
	HASH_ADD(hh, c->all, key, sizeof(client->key), client);
	HASH_ADD(hh_pid, c->by_pid, key.pid, sizeof(client->key.pid), client);
}

/* As /proc describes it. */
static struct client *client_new(int pid, unsigned long long program)
{
	struct client *client = xcalloc(1, sizeof(*client));

	client->key.pid = pid;
	client->key.program = program;
	identity_read(pid, &client->is);
	client->proc = proc_identity(pid);
	client->user = proc_user(pid);
	client->made = clock_ns();
	return client;
}

struct client *clients_find(const struct clients *c, int pid)
{
	struct client *client;

	HASH_FIND(hh_pid, c->by_pid, &pid, sizeof(pid), client);
	return client;
}

void clients_end(struct clients *c, struct client *client)
{
	if (client->over)
		return;
	client->over = true;
	c->over++;
	HASH_DELETE(hh_pid, c->by_pid, client);
	owners_end(client->owner);
	c->ended(c->ctx, client->key.pid);
}

/* Return true if the process is another one by now, or runs another program. */
static bool has_changed(const struct client *client)
{
	struct proc_identity now = proc_identity(client->key.pid);

	return now.started && (now.started != client->proc.started ||
			       (now.stack && now.stack != client->proc.stack));
}

struct client *clients_mapped(struct clients *c, int pid)
{
	struct client *client = clients_find(c, pid);

	if (client && has_changed(client)) {
		clients_end(c, client);
		client = NULL;
	}
	if (!client) {
		client = client_new(pid, 0);
		enter(c, client);
	}
	return client;
}

/* A series of theirs must not be taken for one of labels that are at the same place later. */
static void free_texts(struct clients *c, struct client *client)
{
	for (unsigned i = 0; i < client->ntexts; i++) {
		series_remove(c->owners.table, client->owner, client->texts[i].metric,
			      (struct metric_labels){ 0, (unsigned long long)client->texts[i].labels });
		free(client->texts[i].labels);
	}
	free(client->texts);
	client->texts = NULL;
	client->ntexts = 0;
}

/* It has counted nothing under its former name, if it had one. */
static void rename_client(struct clients *c, struct client *client, const char comm[16])
{
	if (client->owner == c->owners.other)
		return;
	free_texts(c, client);
	owners_take_back(&c->owners, client->owner);
	memcpy(client->is.comm, comm, sizeof(client->is.comm) - 1);
	client->owner = join(c, client);
}

/* A process that has made its first call is known by it from now on. */
static struct client *adopt(struct clients *c, struct client *client, unsigned long long program)
{
	HASH_DELETE(hh, c->all, client);
	client->key.program = program;
	HASH_ADD(hh, c->all, key, sizeof(client->key), client);
	return client;
}

struct client *clients_seen(struct clients *c, const struct export_seen *seen)
{
	struct client *client = clients_find(c, seen->head.pid);
	unsigned long long program = seen->program;
	const char *comm = seen->comm;

	if (client && client->key.program == program)
		return client;
	if (client && !client->key.program && !has_changed(client)) {
		if (*comm && strncmp(client->is.comm, comm, sizeof(client->is.comm) - 1))
			rename_client(c, client, comm);
		return adopt(c, client, program);
	}
	if (client)
		clients_end(c, client);
	client = client_new(seen->head.pid, program);
	if (*comm)	/* by now it may run another program */
		memcpy(client->is.comm, comm, sizeof(client->is.comm) - 1);
	if (client->is.uid == USER_UNKNOWN)
		client->is.uid = seen->uid;
	if (client->user == USER_UNKNOWN)
		client->user = seen->user;
	enter(c, client);
	return client;
}

static struct client *counted_now(struct clients *c, struct client *before, struct client *now)
{
	if (!*now->is.comm && clock_ns() - now->key.program < TOLD_NS) {
		free(now);	/* it is gone; its name is in the record that is still to come */
		return NULL;
	}
	if (before)
		clients_end(c, before);
	enter(c, now);
	return now;
}

struct client *clients_counted(struct clients *c, int pid, unsigned long long program)
{
	const struct client_key key = { program, pid, 0 };
	struct client *client = clients_find(c, pid), *known;

	HASH_FIND(hh, c->all, &key, sizeof(key), known);
	if (known)
		return known;
	if (client && !client->key.program && *client->is.comm && !has_changed(client))
		return adopt(c, client, program);
	if (client && client->key.program && program > client->key.program)
		return NULL;	/* a newer one: its record is still to come */
	known = client_new(pid, program);
	if (!client || !client->key.program)
		return counted_now(c, client, known);
	known->over = true;	/* another program is there by now: of this one nothing is known */
	known->is = (struct identity){ .uid = USER_UNKNOWN };
	c->over++;
	known->owner = join(c, known);
	HASH_ADD(hh, c->all, key, sizeof(known->key), known);
	owners_end(known->owner);
	return known;
}

/* Of a process that made no call nobody tells the end.  Its first call may still be on the way: what ended is
 * found at one look, and taken for it at the next. */
static bool is_gone(struct client *client)
{
	bool before = client->gone;

	if (has_changed(client))
		return true;
	client->gone = kill(client->key.pid, 0) && errno == ESRCH;
	return before && client->gone;
}

static void check_left_out(struct clients *c)
{
	struct left_out *l, *next;

	HASH_ITER(hh, c->left_out, l, next) {
		if (!kill(l->pid, 0) || errno != ESRCH)
			continue;
		HASH_DEL(c->left_out, l);
		free(l);
	}
}

void clients_check(struct clients *c, bool thorough)
{
	struct client *client, *next;
	int left = LOOKS;

	HASH_ITER(hh_pid, c->by_pid, client, next)
		if ((thorough || (!client->key.program && left-- > 0)) && is_gone(client))
			clients_end(c, client);
	if (thorough)
		check_left_out(c);
}

void clients_leave_out(struct clients *c, int pid)
{
	struct left_out *l;

	HASH_FIND_INT(c->left_out, &pid, l);
	if (l || HASH_COUNT(c->left_out) >= LEFT_OUT)
		return;
	l = xcalloc(1, sizeof(*l));
	l->pid = pid;
	HASH_ADD_INT(c->left_out, pid, l);
}

unsigned clients_left_out(const struct clients *c)
{
	return HASH_COUNT(c->left_out);
}

void clients_reap(struct clients *c)
{
	struct client *client, *next;

	if (!c->over)
		return;
	HASH_ITER(hh, c->all, client, next) {
		if (!client->over)
			continue;
		HASH_DELETE(hh, c->all, client);
		free_texts(c, client);
		owners_leave(client->owner);
		free(client->env);
		free(client);
	}
	c->over = 0;
}

void clients_free(struct clients *c)
{
	struct client *client, *next;
	struct left_out *l, *next_left;

	HASH_ITER(hh_pid, c->by_pid, client, next)
		clients_end(c, client);
	clients_reap(c);
	HASH_ITER(hh, c->left_out, l, next_left) {
		HASH_DEL(c->left_out, l);
		free(l);
	}
}
