/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "base/clock.h"
#include "cudaexporter/kernel_counts.h"
#include "model/launches.h"
#include "sym/syms.h"

/* How long finding out what kernels are called may keep a page waiting: their launches are those of "other"
 * until the next one. */
static const unsigned long long NAMING_NS = 100 * 1000000ull;

void kernel_counts_open(struct kernel_counts *k, struct syms *syms, const struct bpf_map *counts,
			const struct bpf_map *quick, struct shares *shares)
{
	if (!k->naming.most)
		return;
	k->naming.quota = (struct quota){
		.limit = 16 << 20, .what = "names of kernels",
		.loss = "launches of further ones are counted as \"other\"",
	};
	k->naming.texts.quota = &k->naming.quota;
	k->naming.other = kernel_text_get(&k->naming.texts, "other", 0, 0);
	k->launches = launches_new(syms, counts, quick, shares, false);
}

static void drop_program(struct kernel_counts *k, struct kernel_program *p)
{
	kernel_program_clear(&k->naming, p);
	HASH_DEL(k->programs, p);
	free(p);
}

void kernel_counts_free(struct kernel_counts *k)
{
	struct kernel_program *p, *next;

	HASH_ITER(hh, k->programs, p, next)
		drop_program(k, p);
	kernel_texts_free(&k->naming.texts);
	kernel_map_free(&k->naming.map);
	quota_free(&k->naming.quota);
	budget_free(&k->naming.time);
	if (k->launches)
		launches_free(k->launches);
}

static void scan(void *ctx, int pid)
{
	launches_scan(ctx, pid);
}

void kernel_counts_scan(struct kernel_counts *k)
{
	if (k->launches)
		syms_each(k->launches->syms, scan, k->launches);
}

bool kernel_counts_record(struct kernel_counts *k, const void *data, size_t size)
{
	const struct record *r = data;
	bool ours = r->kind >= LAUNCH_FIRST && r->kind < LAUNCH_WHAT_MAX;

	if (k->launches && (ours || r->kind == RECORD_FORK))
		launches_record(k->launches, data, size);
	return ours;
}

void kernel_counts_ended(void *ctx, const struct process_event *event)
{
	const struct kernel_counts *k = ctx;

	if (k->launches)
		launches_ended(k->launches, event);
}

void kernel_counts_tick(struct kernel_counts *k)
{
	if (k->launches)
		launches_tick(k->launches);
}

static struct kernel_program *program_of(struct kernel_counts *k, const struct program *program)
{
	struct kernel_program *p;

	HASH_FIND(hh, k->programs, &program->id, sizeof(program->id), p);
	if (p)
		return p;
	p = xcalloc(1, sizeof(*p));
	p->id = program->id;
	p->pid = program->pid;
	p->user = program->user;
	HASH_ADD(hh, k->programs, id, sizeof(p->id), p);
	return p;
}

static void add_rows(struct kernel_counts *k)
{
	size_t n;
	struct launch_row *rows = launches_rows(k->launches, LAUNCHES_BY_FULL, &n);

	for (size_t i = 0; i < n; i++)
		if (rows[i].last.launches)
			kernel_program_count(&k->naming, program_of(k, rows[i].program), rows[i].kernel,
					     rows[i].last.launches);
	free(rows);
}

/* Until a page shows them, launches can still get a name.  Returns false if its process is still to be told of. */
static bool show(struct kernel_counts *k, struct kernel_program *p, struct clients *clients,
		 struct series_table *table, bool only_over)
{
	const struct client *client = clients_counted(clients, p->pid, p->id);

	if (client && (!only_over || client->over))
		kernel_program_show(&k->naming, p, table, client->owner);
	return client;
}

void kernel_counts_read(struct kernel_counts *k, struct clients *clients, struct series_table *table,
			bool only_over)
{
	struct kernel_program *p, *next;

	if (!k->launches)
		return;
	launches_count(k->launches);
	k->naming.until = clock_ns() + NAMING_NS;
	add_rows(k);
	HASH_ITER(hh, k->programs, p, next) {
		bool gone = !programs_find(k->launches->programs, p->id);

		if (p->changed && !show(k, p, clients, table, only_over && !gone))
			continue;
		if (gone)
			drop_program(k, p);
	}
	kernel_texts_drop(&k->naming.texts, table);
}
