/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/die.h"
#include "base/hash.h"
#include "model/stack_below.h"
#include "sym/stack.h"

static const double most = .8;
enum { MOST_PARTS = 4096 };	/* texts take 2 KB each */

/* A part whose frames so far are those of the others that are left. */
struct way {
	char *text, *end;	/* its lines; behind the one to be looked at */
	const char *frame;	/* that one */
	unsigned long long value;
};

struct below_sum {
	const char *frame;
	unsigned long long value;
	UT_hash_handle hh;
};

static bool is_own(const char *frame)
{
	static const char *const installed[] = { "/site-packages/", "/dist-packages/", "/lib/python", "(/usr/lib", "(/lib" };

	for (size_t i = 0; i < sizeof(installed) / sizeof(*installed); i++)
		if (strstr(frame, installed[i]))
			return false;
	return *frame != '[';
}

static char *text_of(const struct stack *stack, size_t *len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, len);

	if (!f)
		die(ENOMEM, "call stacks");
	if (stack)
		stack_lines(f, stack, "");
	if (fclose(f))
		die(ENOMEM, "call stacks");
	return text;
}

/* Goes one frame inwards; returns false if there is none. */
static bool step(struct way *w)
{
	if (w->end == w->text)
		return false;
	*--w->end = '\0';
	while (w->end > w->text && w->end[-1] != '\n')
		w->end--;
	w->frame = w->end;
	return true;
}

/* Returns the frame that most of the ways have next, and keeps these. */
static struct below_sum next_frame(struct way *ways, size_t *n)
{
	struct below_sum *sums = xcalloc(*n, sizeof(*sums)), *all = NULL, *sum, largest = { 0 };
	size_t kept = 0;

	for (size_t i = 0; i < *n; i++) {
		if (!step(&ways[i]))
			continue;
		HASH_FIND_STR(all, ways[i].frame, sum);
		if (!sum) {
			sum = &sums[i];
			sum->frame = ways[i].frame;
			HASH_ADD_KEYPTR(hh, all, sum->frame, strlen(sum->frame), sum);
		}
		sum->value += ways[i].value;
		if (sum->value > largest.value)
			largest = *sum;
		ways[kept++] = ways[i];
	}
	*n = 0;
	for (size_t i = 0; largest.frame && i < kept; i++)	/* none, if all that are left took no time */
		if (!strcmp(ways[i].frame, largest.frame))
			ways[(*n)++] = ways[i];
	HASH_CLEAR(hh, all);
	free(sums);
	return largest;
}

struct stack_below stack_below(const struct stack_part *parts, size_t n)
{
	const size_t used = n < MOST_PARTS ? n : MOST_PARTS;
	struct way *ways = xcalloc(used + 1, sizeof(*ways));
	char **texts = xcalloc(used + 1, sizeof(*texts));
	struct stack_below found = { 0 };
	unsigned long long total = 0;
	struct below_sum next;
	bool outermost = true;
	size_t len, left = used;

	for (size_t i = 0; i < n; i++)
		total += parts[i].value;
	for (size_t i = 0; i < used; i++) {
		texts[i] = ways[i].text = text_of(parts[i].stack, &len);
		ways[i].end = ways[i].text + len;
		ways[i].value = parts[i].value;
	}
	while (left && (next = next_frame(ways, &left)).value && next.value >= most * total) {
		if (!is_own(next.frame))
			continue;
		if (!outermost) {
			free(found.frame);
			found = (struct stack_below){ xstrdup(next.frame), (double)next.value / total };
		}
		outermost = false;
	}
	for (size_t i = 0; i < used; i++)
		free(texts[i]);
	free(texts);
	free(ways);
	return found;
}
