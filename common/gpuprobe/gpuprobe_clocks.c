/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "base/util.h"
#include "gpuprobe/gpuprobe_clocks.h"

/* The room for pairs that each SM gets. */
enum { FEWEST = 16 };

static int compare(const void *a, const void *b)
{
	const struct gpuprobe_pair *x = a, *y = b;

	return x->cycles != y->cycles ? (x->cycles > y->cycles) - (x->cycles < y->cycles) :
					(x->ns > y->ns) - (x->ns < y->ns);
}

/* Sorts, and removes pairs that are too close to their predecessor, or go back; the last pair stays. */
static void tidy(struct gpuprobe_clock *c)
{
	unsigned n = 0;

	if (!c->n)
		return;
	qsort(c->pair, c->n, sizeof(*c->pair), compare);
	for (unsigned i = 1; i < c->n; i++) {
		const struct gpuprobe_pair p = c->pair[i];

		if (p.cycles <= c->pair[n].cycles || p.ns <= c->pair[n].ns)
			continue;
		if (n && c->pair[n].ns - c->pair[n - 1].ns < GPU_PAIR_NS)
			c->pair[n] = p;
		else
			c->pair[++n] = p;
	}
	c->n = n + 1;
}

static void halve(struct gpuprobe_clock *c)
{
	unsigned n = 0;

	for (unsigned i = 0; i < c->n; i += 2)
		c->pair[n++] = c->pair[i];
	c->pair[n++] = c->pair[c->n - 1];
	c->n = n;
}

static struct gpuprobe_clock *get(struct gpuprobe_clocks *c, const struct gpuprobe_sm *sm)
{
	struct gpuprobe_clock *clock = NULL;

	HASH_FIND(hh, c->clock, sm, sizeof(*sm), clock);
	if (clock || HASH_COUNT(c->clock) == GPU_SMS)
		return clock;
	clock = xcalloc(1, sizeof(*clock));
	clock->sm = *sm;
	HASH_ADD(hh, c->clock, sm, sizeof(clock->sm), clock);
	return clock;
}

/* Returns true if an SM gets no more room for pairs. */
static bool is_full(const struct gpuprobe_clocks *c, const struct gpuprobe_clock *clock)
{
	return clock->room == 2 * GPU_PAIRS || (clock->room >= FEWEST && c->room + clock->room > GPU_PAIRS_ALL);
}

void gpuprobe_clocks_add(struct gpuprobe_clocks *c, const struct gpuprobe_sm *sm, unsigned long long cycles,
		    unsigned long long ns)
{
	struct gpuprobe_clock *clock = get(c, sm);
	unsigned more;

	if (!clock)
		return;
	if (clock->n == clock->room && is_full(c, clock)) {
		tidy(clock);
		while (clock->n > clock->room / 2 + 1)
			halve(clock);
	}
	if (clock->n == clock->room) {
		more = clock->room ? clock->room : FEWEST;
		clock->room += more;
		c->room += more;
		clock->pair = xrealloc(clock->pair, clock->room, sizeof(*clock->pair));
	}
	clock->pair[clock->n++] = (struct gpuprobe_pair){ cycles, ns };
}

void gpuprobe_clocks_sort(struct gpuprobe_clocks *c)
{
	struct gpuprobe_clock *clock, *next;

	HASH_ITER(hh, c->clock, clock, next)
		tidy(clock);
}

const struct gpuprobe_clock *gpuprobe_clocks_find(const struct gpuprobe_clocks *c, const struct gpuprobe_sm *sm)
{
	struct gpuprobe_clock *clock;

	HASH_FIND(hh, c->clock, sm, sizeof(*sm), clock);
	return clock;
}

/* Returns the index of the last pair that is not later; 0 if all are. */
static unsigned before(const struct gpuprobe_clock *clock, unsigned long long cycles)
{
	unsigned low = 0, high = clock->n;

	while (high - low > 1) {
		unsigned middle = low + (high - low) / 2;

		if (clock->pair[middle].cycles <= cycles)
			low = middle;
		else
			high = middle;
	}
	return low;
}

unsigned long long gpuprobe_clock_ns(const struct gpuprobe_clock *clock, unsigned long long cycles, uint32_t khz)
{
	const struct gpuprobe_pair *p, *q;
	double rate, ns;
	unsigned i;

	if (!clock || !clock->n || (clock->n == 1 && !khz))
		return NO_VALUE;
	i = before(clock, cycles);
	if (i && i == clock->n - 1)	/* beyond the last pair the last line continues */
		i--;
	p = &clock->pair[i];
	q = clock->n > 1 ? p + 1 : p;
	rate = q > p ? (double)(q->ns - p->ns) / (q->cycles - p->cycles) : 1e6 / khz;
	/* a difference has few digits, the clocks have more than a double */
	ns = (double)(long long)(cycles - p->cycles) * rate;
	if (ns < -(double)p->ns || ns > (double)(NO_VALUE / 2))	/* implausible */
		return NO_VALUE;
	return ns < 0 ? p->ns - (unsigned long long)-ns : p->ns + (unsigned long long)ns;
}

void gpuprobe_clocks_free(struct gpuprobe_clocks *c)
{
	struct gpuprobe_clock *clock, *next;

	HASH_ITER(hh, c->clock, clock, next) {
		HASH_DELETE(hh, c->clock, clock);
		free(clock->pair);
		free(clock);
	}
}
