/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/die.h"
#include "base/escape.h"
#include "cli/out.h"
#include "cli/top_screen.h"
#include "cudaleak/leak_screen.h"
#include "view/columns.h"
#include "view/stack_view.h"

enum { WIDE = 100 };	/* terminal columns needed to show all columns */
enum { EXITS_MAX = 1 << 20 };	/* bytes */

static void title(void *ctx, FILE *f)
{
	const struct leak_screen *s = ctx;
	const double interval = leak_interval(s->view);
	long long growth = 0;
	unsigned long long bytes = 0;
	const struct mem_process *p;
	char text[32];

	for (p = s->memory->processes; p; p = p->hh.next) {
		const struct mem_sum *held = leak_sum(p, &s->options);

		bytes += held->bytes * s->options.sample;
		growth += (held->bytes - held->marks[s->options.mark].bytes) * s->options.sample;
	}
	fprintf(f, "%s%s held, ", leak_amount(s->view, bytes, text), s->view->handles ? " handles" : "");
	fprintf(f, "%s/s", leak_change(s->view, interval > 0 ? growth / interval : 0, text));
	if (s->preexisting)
		fprintf(f, ", unknown before %s", s->view->processes->since);
}

static int comm_width(const struct leak_screen *s)
{
	return s->narrow ? 10 : 15;
}

static bool has_memory(const struct leak_screen *s)
{
	return s->options.by == LEAK_BY_STACK || s->options.by == LEAK_BY_KIND;
}

static bool has_device(const struct leak_screen *s)
{
	return s->options.by == LEAK_BY_DEVICE || (s->options.by == LEAK_BY_STACK && s->view->devices.several);
}

static bool has_container(const struct leak_screen *s)
{
	return s->containers && (!s->narrow || s->options.by == LEAK_BY_PROCESS);
}

static void head(void *ctx, FILE *f)
{
	const struct leak_screen *s = ctx;

	fprintf(f, "%-7s %-*s", "PID", comm_width(s), "COMM");
	if (has_container(s))
		fprintf(f, " %-*s", CONTAINER_ID - 1, "CONTAINER");
	fprintf(f, " %10s %10s %11s", "HELD", "PEAK", "GROWTH/S");
	if (!s->view->handles)
		fprintf(f, " %8s", "COUNT");
	if (!s->narrow)
		fprintf(f, " %9s", "OLDEST");
	if (has_device(s))
		fprintf(f, " %s", s->narrow ? "DEV" : "DEVICE");
	if (has_memory(s))
		fprintf(f, " %-7s", s->view->handles ? "HANDLE" : "MEMORY");
	if (s->options.by == LEAK_BY_STACK)
		fputs(" STACK", f);
}

static void process(const struct leak_screen *s, FILE *f, const struct mem_process *p)
{
	const char *id;
	int padding;

	fprintf(f, "%-7d ", p->pid);
	padding = comm_width(s) - escape_text(f, p->comm);
	fprintf(f, "%*s", padding > 0 ? padding : 0, "");
	if (!has_container(s))
		return;
	id = process_container(s->view->processes, p->pid);
	fprintf(f, " %-*s", CONTAINER_ID - 1, id ? id : "-");
}

static void line(void *ctx, FILE *f, size_t i)
{
	const struct leak_screen *s = ctx;
	const struct leak_group *g = &s->groups[i];
	const double interval = leak_interval(s->view);
	char number[32];

	process(s, f, g->process);
	fprintf(f, " %10s ", leak_amount(s->view, g->bytes, number));
	fprintf(f, "%10s ", leak_amount(s->view, g->peak, number));
	fprintf(f, "%11s", leak_change(s->view, interval > 0 ? g->growth / interval : 0, number));
	if (!s->view->handles)
		fprintf(f, " %8llu", g->count);
	if (!s->narrow)
		fprintf(f, " %9s", out_ns(s->options.now > g->oldest ? s->options.now - g->oldest : 0));
	if (has_device(s))
		fprintf(f, " %*s", s->narrow ? 3 : 6, device_text(g->device, number));
	if (has_memory(s))
		fprintf(f, " %-7s", memory_name(g->memory));
	if (s->options.by == LEAK_BY_STACK)
		stack_view_callers(f, g->stack);
}

/* Returns the groups of all processes. */
static struct leak_group *all_groups(const struct leak_screen *s, size_t *n)
{
	struct leak_group *all = NULL;
	const struct mem_process *p;

	*n = 0;
	for (p = s->memory->processes; p; p = p->hh.next) {
		size_t more;
		struct leak_group *g = leak_groups(p, &s->options, &more);

		if (more) {
			all = xrealloc(all, *n + more, sizeof(*all));
			memcpy(all + *n, g, more * sizeof(*g));
		}
		*n += more;
		free(g);
	}
	leak_sort(all, *n, &s->options);
	return all;
}

static void draw(void *ctx)
{
	struct leak_screen *s = ctx;
	size_t n;

	s->options.now = s->view->options.now = clock_ns();
	s->narrow = screen_columns() < WIDE;
	for (const struct mem_process *p = s->memory->processes; p; p = p->hh.next) {
		leak_view_devices(s->view, p);
		s->containers |= !!process_container(s->view->processes, p->pid);
	}
	s->groups = all_groups(s, &n);
	top_view_draw(&s->top, s->rows && (size_t)s->rows < n ? (size_t)s->rows : n);
	free(s->groups);
	s->groups = NULL;
}

static void press(void *ctx, int key)
{
	int sort = top_view_index("bmgcad", key);	/* in the order of LEAK_SORT_WORDS */
	struct leak_screen *s = ctx;

	if (sort >= 0)
		s->options.sort = sort;
	s->options.reverse ^= key == 'r';
	if (key == 'v')
		s->options.by = (s->options.by + 1) % LEAK_BY_MAX;
	if (s->options.by == LEAK_BY_DEVICE && !s->view->devices.several)
		s->options.by = LEAK_BY_PROCESS;
	if (s->view->totals && s->options.by == LEAK_BY_STACK)
		s->options.by = LEAK_BY_KIND;
}

void leak_screen_init(struct leak_screen *s)
{
	static const char *const help[] = {
		"  b  sort by bytes held                   r  reverse the order",
		"  m  by maximum (peak)                    v  next of call stacks, kinds, devices,",
		"  g  by growth                               processes",
		"  c  by count",
		"  a  by age of the oldest",
		"  d  by device",
		NULL
	};

	s->options = s->view->options;
	s->options.by = s->view->totals ? LEAK_BY_KIND : LEAK_BY_STACK;
	s->top.help = help;
	s->top.ctx = s;
	s->top.draw = draw;
	s->top.key = press;
	s->top.title = title;
	s->top.head = head;
	s->top.line = line;
}

/* Growth is since the update before the last one, so that it remains when a key is pressed: the
 * marks alternate. */
void leak_screen_update(struct leak_screen *s)
{
	if (s->top.paused)
		return;
	s->options.mark = s->view->options.mark = s->next;
	s->next = s->next == MEM_LAST ? MEM_FIRST : MEM_LAST;
	draw(s);
	leak_view_mark(s->view, s->memory, s->next);
}

void leak_screen_exit(struct leak_screen *s, const struct mem_process *p)
{
	FILE *out = stdout;

	if (!s->exits)
		s->exits = top_view_line(&s->exits_text, &s->exits_size);
	if (ftell(s->exits) > EXITS_MAX) {
		s->exits_dropped++;
		return;
	}
	stdout = s->exits;
	leak_view_process(s->view, p, "exit");
	stdout = out;
}

void leak_screen_end(struct leak_screen *s)
{
	if (!s->exits)
		return;
	fclose(s->exits);
	fwrite(s->exits_text, 1, s->exits_size, stdout);
	free(s->exits_text);
	s->exits = NULL;
	if (s->exits_dropped)
		warning(0, "dropped the reports of %zu more processes that exited", s->exits_dropped);
}
