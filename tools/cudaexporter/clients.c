/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "abi/cudaexporter.h"
#include "base/clock.h"
#include "cudaexporter/clients.h"
#include "proc/user.h"

/* How long the counters of a process stay that has ended: for so many pages, one of which may be where they
 * begin at 0, but no longer than this. */
enum { PAGES = 3, LEFT_OUT = 65536, LOOKS = 1024 };
static const unsigned long long STAYS_NS = 300 * 1000000000ull, LEAST_NS = 30 * 1000000000ull;

/* How long the record of a program's first call may be on the way. */
static const unsigned long long TOLD_NS = 2 * 1000000000ull;

struct left_out { int pid; UT_hash_handle hh; };

void clients_init(struct clients *c)
{
	c->quota = (struct quota){
		.limit = 2 * c->most, .what = "processes", .loss = "further ones are counted as \"other\"",
	};
}

static struct owner *owner_new(struct clients *c, char *labels, const struct client *client)
{
	struct owner *o = xcalloc(1, sizeof(*o));

	o->labels = labels;
	o->user = client->user;
	o->pid = client->key.pid;
	HASH_ADD_KEYPTR(hh, c->owners, o->labels, strlen(o->labels), o);
	return o;
}

static void owner_free(struct clients *c, struct owner *o)
{
	series_drop_owner(c->table, o);
	HASH_DEL(c->owners, o);
	if (o == c->other)
		c->other = NULL;
	if (!o->other)
		quota_give(&c->quota, o->user, 1);
	free(o->labels);
	free(o);
}

static struct owner *other_owner(struct clients *c, const struct client *client)
{
	char *labels = labels_other(&c->labels);

	if (c->other) {
		free(labels);
		return c->other;
	}
	HASH_FIND(hh, c->owners, labels, strlen(labels), c->other);
	if (c->other) {		/* a process has this name */
		free(labels);
		return c->other;
	}
	c->other = owner_new(c, labels, client);
	c->other->other = true;
	return c->other;
}

/* Frees the sum of the user that ended first, at least five minutes ago.  Return false if there is none. */
static bool evict(struct clients *c, unsigned user)
{
	struct owner *o, *first = NULL;

	for (o = c->owners; o; o = o->hh.next)
		if (o->ended && !o->clients && !o->other && o->user == user && clock_ns() - o->ended > STAYS_NS &&
		    (!first || o->ended < first->ended))
			first = o;
	if (first)
		owner_free(c, first);
	return first;
}

static bool take_room(struct clients *c, const struct client *client)
{
	if (!quota_fits(&c->quota, client->user, 1))
		evict(c, client->user);
	return quota_take(&c->quota, client->user, client->key.pid, 1);
}

/* Sums of many processes need no limit on them, but one on the sums. */
static struct owner *owner_of(struct clients *c, struct client *client)
{
	char *labels = labels_text(&c->labels, client->key.pid, &client->is);
	struct owner *o;

	HASH_FIND(hh, c->owners, labels, strlen(labels), o);
	if (o) {
		free(labels);
	} else if (take_room(c, client)) {
		o = owner_new(c, labels, client);
	} else {
		free(labels);
		c->dropped++;
		o = other_owner(c, client);
	}
	o->processes++;
	o->clients++;
	o->ended = 0;
	return o;
}

static void enter(struct clients *c, struct client *client)
{
	client->owner = owner_of(c, client);
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

static void leave_owner(struct owner *o)
{
	if (--o->processes)
		return;
	o->ended = clock_ns();
	memset(o->pages, 0, sizeof(o->pages));
}

void clients_end(struct clients *c, struct client *client)
{
	if (client->over)
		return;
	client->over = true;
	c->over++;
	HASH_DELETE(hh_pid, c->by_pid, client);
	leave_owner(client->owner);
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

static void free_texts(struct clients *c, struct client *client);

/* It has counted nothing under its former name, if it had one. */
static void rename_client(struct clients *c, struct client *client, const char comm[16])
{
	struct owner *was = client->owner;

	if (was == c->other)
		return;
	free_texts(c, client);
	leave_owner(was);
	if (!was->processes && (!c->labels.sums || LIST_EMPTY(&was->series)))
		owner_free(c, was);
	memcpy(client->is.comm, comm, sizeof(client->is.comm) - 1);
	client->owner = owner_of(c, client);
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
	known->owner = owner_of(c, known);
	HASH_ADD(hh, c->all, key, sizeof(known->key), known);
	leave_owner(known->owner);
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

static struct metric_labels labels_of(const struct client_text *text)
{
	return (struct metric_labels){ 0, (unsigned long long)text->labels };
}

static struct client_text *add_text(struct client *client, enum metric m, char *labels)
{
	struct client_text *text;

	for (unsigned i = 0; i < client->ntexts; i++) {
		text = &client->texts[i];
		if (text->metric == m && !strcmp(text->labels, labels)) {
			free(labels);
			return text;
		}
	}
	client->texts = xrealloc(client->texts, client->ntexts + 1, sizeof(*client->texts));
	text = &client->texts[client->ntexts++];
	*text = (struct client_text){ m, labels };
	return text;
}

void clients_show(struct clients *c, struct client *client, enum metric m, char *labels)
{
	series_max(c->table, client->owner, m, labels_of(add_text(client, m, labels)), 1);
}

bool clients_shown(struct clients *c, struct client *client, enum metric m)
{
	bool any = false;

	for (unsigned i = 0; i < client->ntexts; i++)
		if (client->texts[i].metric == m) {
			series_max(c->table, client->owner, m, labels_of(&client->texts[i]), 1);
			any = true;
		}
	return any;
}

/* A series of theirs must not be taken for one of labels that are at the same place later. */
static void free_texts(struct clients *c, struct client *client)
{
	for (unsigned i = 0; i < client->ntexts; i++) {
		series_remove(c->table, client->owner, client->texts[i].metric, labels_of(&client->texts[i]));
		free(client->texts[i].labels);
	}
	free(client->texts);
	client->texts = NULL;
	client->ntexts = 0;
}

void clients_reap(struct clients *c)
{
	struct client *client, *next;

	if (!c->over)
		return;
	HASH_ITER(hh, c->all, client, next) {
		if (!client->over)
			continue;
		client->owner->clients--;
		HASH_DELETE(hh, c->all, client);
		free_texts(c, client);
		free(client->env);
		free(client);
	}
	c->over = 0;
}

static bool is_done(const struct owner *o, unsigned active)
{
	if (!o->ended)
		return false;
	if (clock_ns() - o->ended > STAYS_NS)
		return true;
	if (clock_ns() - o->ended < LEAST_NS)
		return false;
	for (int i = 0; i < SCRAPERS; i++)
		if (active & 1 << i && o->pages[i] < PAGES)
			return false;
	return active;
}

void clients_paged(struct clients *c, unsigned reader, unsigned active)
{
	struct owner *o, *next;

	if (c->over)	/* the page is without what they counted last */
		return;
	HASH_ITER(hh, c->owners, o, next) {
		if (o->ended && reader < SCRAPERS && o->pages[reader] < PAGES)
			o->pages[reader]++;
		if (!o->other && !o->clients && !c->labels.sums && is_done(o, active))
			owner_free(c, o);
	}
}

void clients_free(struct clients *c)
{
	struct client *client, *next;
	struct owner *o, *next_owner;
	struct left_out *l, *next_left;

	HASH_ITER(hh_pid, c->by_pid, client, next)
		clients_end(c, client);
	clients_reap(c);
	HASH_ITER(hh, c->left_out, l, next_left) {
		HASH_DEL(c->left_out, l);
		free(l);
	}
	HASH_ITER(hh, c->owners, o, next_owner)
		owner_free(c, o);
	quota_free(&c->quota);
}
