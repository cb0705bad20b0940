/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "abi/stack_unwind.h"
#include "base/die.h"
#include "elf/elf_go.h"
#include "proc/vm_read.h"
#include "sym/goroutine.h"

enum { STACK_BYTES = 64 << 10 };

struct reading {
	struct helper_pool *helpers;
	int pid;
	unsigned long long sp, fp, end;
	char *stack;		/* from sp on */
	size_t size;
};

static bool words(const struct reading *r, const unsigned long long *at, size_t n, unsigned long long *to)
{
	return !vm_read_words(r->helpers, r->pid, at, n, to);
}

static bool find_goroutine(struct reading *r, unsigned long long g)
{
	unsigned long long m, two[2], of[2], fields[4];

	if (!words(r, (unsigned long long []){ g + GO_M }, 1, &m) || !m ||
	    !words(r, (unsigned long long []){ m, m + GO_CURG, m + GO_CURG - GO_SHIFT }, 3, fields) || fields[0] != g)
		return false;
	memcpy(two, fields + 1, sizeof(two));
	if (!words(r, (unsigned long long []){ two[0] + GO_M, two[1] + GO_M }, 2, of))
		return false;
	for (int i = 0; i < 2; i++) {
		if (!two[i] || two[i] == g || of[i] != m)
			continue;
		if (!words(r, (unsigned long long []){ two[i], two[i] + GO_STACK_END, two[i] + GO_SCHED_SP,
						       two[i] + GO_SCHED_BP - i * GO_SHIFT }, 4, fields))
			return false;
		r->end = fields[1];
		r->sp = fields[2];
		r->fp = fields[3];
		return r->sp >= fields[0] && r->sp < r->end && !(r->sp & 7);
	}
	return false;
}

static bool word_at(const struct reading *r, unsigned long long at, unsigned long long *word)
{
	if (at < r->sp || at - r->sp + sizeof(*word) > r->size)
		return false;
	memcpy(word, r->stack + (at - r->sp), sizeof(*word));
	return true;
}

static int end_with(unsigned long long *frames, int n, enum frame_note what, unsigned long long value)
{
	frames[n] = FRAME_NOTE_OF(what, value);
	return n + 1;
}

static int walk(struct reading *r, unsigned long long *frames)
{
	unsigned long long pc, next, least = r->sp - 8;
	int n = 0;

	if (r->fp > r->sp && word_at(r, r->sp, &pc))
		frames[n++] = pc & FRAME_VALUE_MASK;
	for (; r->fp; least = r->fp + 16, r->fp = next) {
		if (n == STACK_NATIVE)
			return end_with(frames, n, NOTE_TOO_DEEP, STACK_NATIVE);
		if (r->fp < least || r->fp & 7 || r->fp + 16 > r->end)
			return end_with(frames, n, NOTE_GO_LOST, GO_CALLED_BACK);
		if (!word_at(r, r->fp, &next) || !word_at(r, r->fp + 8, &pc))
			return end_with(frames, n, NOTE_GO_LOST, GO_UNREADABLE);
		if (!pc)
			break;
		frames[n++] = CODE_ADDRESS(pc) & FRAME_VALUE_MASK;
	}
	return n;
}

int goroutine_frames(struct helper_pool *l, int pid, const struct elf_go *go, unsigned long long self,
		     unsigned long long *frames)
{
	struct reading r = { .helpers = l, .pid = pid };
	unsigned long long g = 0;
	int n;

	*frames = FRAME_NOTE_OF(NOTE_GO_LOST, go->has_place ? GO_UNREADABLE : GO_NO_PLACE);
	if (!go->has_place || !words(&r, (unsigned long long []){ self + go->place }, 1, &g))
		return 1;
	if (!g)
		return 0;
	if (!find_goroutine(&r, g))
		return 1;
	r.size = r.end - r.sp < STACK_BYTES ? r.end - r.sp : STACK_BYTES;
	r.stack = xcalloc(1, r.size);
	r.size = vm_read_some(l, pid, r.sp, r.stack, r.size);
	n = walk(&r, frames);
	free(r.stack);
	return n ?: 1;
}
