/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "cudaexporter/owners.h"

/* How long the counters of a process stay that has ended: for so many pages, one of which may be where they
 * begin at 0, and this long at least and at most. */
enum { PAGES = 3 };
static const unsigned long long STAYS_NS = 300 * 1000000000ull, LEAST_NS = 30 * 1000000000ull;

void owners_init(struct owners *w)
{
	w->quota = (struct quota){
		.limit = 2 * w->most, .what = "processes", .loss = "further ones are counted as \"other\"",
	};
}

static struct owner *owner_new(struct owners *w, char *labels, unsigned user, int pid)
{
	struct owner *o = xcalloc(1, sizeof(*o));

	o->labels = labels;
	o->user = user;
	o->pid = pid;
	HASH_ADD_KEYPTR(hh, w->all, o->labels, strlen(o->labels), o);
	return o;
}

static void owner_free(struct owners *w, struct owner *o)
{
	series_drop_owner(w->table, o);
	HASH_DEL(w->all, o);
	if (o == w->other)
		w->other = NULL;
	if (!o->other)
		quota_give(&w->quota, o->user, 1);
	free(o->labels);
	free(o);
}

static struct owner *other_owner(struct owners *w, unsigned user, int pid)
{
	char *labels = labels_other(&w->labels);

	if (w->other) {
		free(labels);
		return w->other;
	}
	HASH_FIND(hh, w->all, labels, strlen(labels), w->other);
	if (w->other) {		/* a process has this name */
		free(labels);
		return w->other;
	}
	w->other = owner_new(w, labels, user, pid);
	w->other->other = true;
	return w->other;
}

/* Frees the sum of the user that ended first, at least five minutes ago. */
static void evict(struct owners *w, unsigned user)
{
	struct owner *o, *first = NULL;

	for (o = w->all; o; o = o->hh.next)
		if (o->ended && !o->clients && !o->other && o->user == user && clock_ns() - o->ended > STAYS_NS &&
		    (!first || o->ended < first->ended))
			first = o;
	if (first)
		owner_free(w, first);
}

static bool take_room(struct owners *w, unsigned user, int pid)
{
	if (!quota_fits(&w->quota, user, 1))
		evict(w, user);
	return quota_take(&w->quota, user, pid, 1);
}

/* Sums of many processes need no limit on them, but one on the sums. */
struct owner *owners_join(struct owners *w, int pid, unsigned user, const struct identity *id)
{
	char *labels = labels_text(&w->labels, pid, id);
	struct owner *o;

	HASH_FIND(hh, w->all, labels, strlen(labels), o);
	if (o) {
		free(labels);
	} else if (take_room(w, user, pid)) {
		o = owner_new(w, labels, user, pid);
	} else {
		free(labels);
		w->dropped++;
		o = other_owner(w, user, pid);
	}
	o->processes++;
	o->clients++;
	o->ended = 0;
	return o;
}

void owners_end(struct owner *o)
{
	if (--o->processes)
		return;
	o->ended = clock_ns();
	memset(o->pages, 0, sizeof(o->pages));
}

void owners_leave(struct owner *o)
{
	o->clients--;
}

void owners_take_back(struct owners *w, struct owner *o)
{
	owners_end(o);
	owners_leave(o);
	if (!o->clients && !o->other && (!w->labels.sums || LIST_EMPTY(&o->series)))
		owner_free(w, o);
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

void owners_paged(struct owners *w, unsigned reader, unsigned active)
{
	struct owner *o, *next;

	HASH_ITER(hh, w->all, o, next) {
		if (o->ended && reader < SCRAPERS && o->pages[reader] < PAGES)
			o->pages[reader]++;
		if (!o->other && !o->clients && !w->labels.sums && is_done(o, active))
			owner_free(w, o);
	}
}

void owners_free(struct owners *w)
{
	struct owner *o, *next;

	HASH_ITER(hh, w->all, o, next)
		owner_free(w, o);
	quota_free(&w->quota);
}
