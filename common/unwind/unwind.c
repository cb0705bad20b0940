/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "base/die.h"
#include "elf/cfi.h"
#include "unwind/unwind.h"
#include "unwind/unwind_table.h"

/* Copies whose frames are kept: the record that refers to one follows soon. */
enum { KEPT = 1024 };

struct kept {
	unsigned long long id, *frames;
	int n;
};

struct unwinder {
	struct unwind_table table;
	unwind_find_fn *find;
	void *ctx;
	struct kept kept[KEPT];
};

/* A stack being unwound. */
struct walk {
	struct unwinder *unwinder;
	const struct stack_copy *copy;
	const unsigned char *bytes;
	unsigned long long size;	/* of bytes */
	unsigned user;
	struct cfi_regs regs;
	unsigned long long frames[STACK_NATIVE + 1];
	int n;
	bool exact;			/* the frame was interrupted: its address is no return address */
};

struct unwinder *unwinder_new(const struct bpf_object *obj, unwind_find_fn *find, void *ctx)
{
	struct unwinder *u = xcalloc(1, sizeof(*u));

	u->find = find;
	u->ctx = ctx;
	if (!obj || unwind_table_open(&u->table, obj))
		return u;
	free(u);
	return NULL;
}

void unwinder_free(struct unwinder *u)
{
	if (!u)
		return;
	for (int i = 0; i < KEPT; i++)
		free(u->kept[i].frames);
	unwind_table_close(&u->table);
	free(u);
}

/* Where a return probe has replaced a return address, gives the program's own. */
static unsigned long long own_address(const struct stack_copy *c, unsigned long long at,
				      unsigned long long word)
{
	for (int i = 0; i < STACK_RETURNS; i++)
		if (c->returns[i].at == at)
			return c->returns[i].pc;
	return word;
}

/* Where in the copy an address of the stack is. */
static bool find_byte(const struct walk *w, unsigned long long at, unsigned long long *offset)
{
	unsigned long long from = w->copy->regs[UNWIND_RSP], present = w->copy->present;
	unsigned long long page = at / UNWIND_PAGE - from / UNWIND_PAGE;

	if (at < from || page >= UNWIND_PAGES || !(present >> page & 1))
		return false;
	present &= (1ull << page) - 1;
	*offset = __builtin_popcountll(present) * UNWIND_PAGE + at % UNWIND_PAGE - from % UNWIND_PAGE;
	return *offset < w->size;
}

static bool read_word(void *ctx, unsigned long long at, unsigned long long *word)
{
	unsigned long long from, last;
	struct walk *w = ctx;

	/* the page behind the word's first is perhaps another one in the copy */
	if (!find_byte(w, at, &from) || !find_byte(w, at + sizeof(*word) - 1, &last) ||
	    last - from != sizeof(*word) - 1)
		return false;
	memcpy(word, w->bytes + from, sizeof(*word));
	*word = own_address(w->copy, at, *word);
	return true;
}

static void begin(struct walk *w)
{
	static const int known[] = {
		UNWIND_RBX, UNWIND_RBP, UNWIND_RSP, UNWIND_R12, UNWIND_R12 + 1, UNWIND_R12 + 2,
		UNWIND_R12 + 3, UNWIND_RIP,
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		w->regs.r[known[i]] = w->copy->regs[known[i]];
		w->regs.known |= 1u << known[i];
	}
}

static void add_note(struct walk *w, enum frame_note what, unsigned long long value)
{
	w->frames[w->n++] = FRAME_NOTE_OF(what, value);
}

static void set_rule(const struct walk *w, unsigned long long pc, enum unwind_kind kind, unsigned cfa,
		     unsigned bp)
{
	if (!w->exact)
		unwind_table_set(&w->unwinder->table, w->copy->head.pid, w->user, pc,
				 unwind_rule(0, kind, cfa, bp));
}

/* What could not be read is behind what was looked at, or is not in memory, or is no part of the stack. */
static void note_unreadable(struct walk *w, unsigned long long bad)
{
	unsigned long long from = w->copy->regs[UNWIND_RSP];
	unsigned long long end = (from / UNWIND_PAGE + w->copy->looked) * UNWIND_PAGE;

	if (w->copy->cut && bad + 8 > end)
		add_note(w, NOTE_TOO_LARGE, (end - from + 1023) / 1024);
	else
		add_note(w, NOTE_UNREADABLE, bad);
}

/* Return true if a chain of frame pointers leads from here up the stack to a return address in a file. */
static bool leads_to_file(struct walk *w, unsigned long long bp)
{
	unsigned long long next, pc;

	for (int i = 0; i < STACK_NATIVE && !(bp & 7); i++, bp = next) {
		struct unwind_code code = { 0 };

		if (!read_word(w, bp, &next) || !read_word(w, bp + 8, &pc))
			return false;
		w->unwinder->find(w->unwinder->ctx, w->copy->head.pid, pc - 1, &code);
		if (code.in_file)
			return true;
		if (next <= bp)
			return false;
	}
	return false;
}

/* Code that was generated has no unwind information, but mostly a frame pointer.  Functions of files
 * without unwind information are assembly: their frame pointer may be that of a caller's caller. */
static bool by_pointer(struct walk *w, const struct unwind_code *of)
{
	unsigned long long sp = w->regs.r[UNWIND_RSP], bp = w->regs.r[UNWIND_RBP], next, pc;

	if (of->in_file || !(w->regs.known & 1u << UNWIND_RBP) || bp < sp || !leads_to_file(w, bp) ||
	    !read_word(w, bp, &next) || !read_word(w, bp + 8, &pc))
		return false;
	w->regs = (struct cfi_regs){ .known = 1u << UNWIND_RBP | 1u << UNWIND_RSP | 1u << UNWIND_RIP };
	w->regs.r[UNWIND_RBP] = next;
	w->regs.r[UNWIND_RSP] = bp + 16;
	w->regs.r[UNWIND_RIP] = pc;
	return true;
}

/* Goes on where there are no rules; returns false at the end. */
static bool step_without(struct walk *w, const struct unwind_code *code, unsigned long long pc)
{
	if (by_pointer(w, code)) {
		set_rule(w, pc, UNWIND_POINTER, 2, 2);
		w->exact = false;
		return true;
	}
	if (code->sure)
		set_rule(w, pc, UNWIND_NO_RULES, 0, 0);
	add_note(w, NOTE_NO_RULES, pc);
	return false;
}

static void learn(const struct walk *w, const struct unwind_code *code, unsigned long long pc)
{
	struct cfi_simple r;

	if (!cfi_simple(code->cfi, code->offset, &r))
		set_rule(w, pc, UNWIND_COPY, 0, 0);
	else if (r.end)
		set_rule(w, pc, UNWIND_END, 0, 0);
	else if (r.cfa < 0 || r.cfa % 8 || r.cfa / 8 >= (int)UNWIND_WORDS || r.rbp_slot >= UNWIND_WORDS)
		set_rule(w, pc, UNWIND_COPY, 0, 0);
	else
		set_rule(w, pc, r.rbp ? UNWIND_BP : UNWIND_SP, r.cfa / 8, r.rbp_slot);
}

static bool step(struct walk *w)
{
	const struct cfi_memory memory = { read_word, w };
	unsigned long long pc = w->regs.r[UNWIND_RIP], sp = w->regs.r[UNWIND_RSP], bad;
	struct unwind_code code = { 0 };
	enum cfi_step result;

	w->unwinder->find(w->unwinder->ctx, w->copy->head.pid, w->exact ? pc : pc - 1, &code);
	if (!code.cfi)
		return step_without(w, &code, pc);
	learn(w, &code, pc);
	result = cfi_step(code.cfi, code.offset, &w->regs, &memory, &bad);
	if (result == CFI_UNREADABLE)
		note_unreadable(w, bad);
	else if (result == CFI_BAD || (result == CFI_CALLER && w->regs.r[UNWIND_RSP] <= sp))
		add_note(w, NOTE_BAD_RULES, pc);
	w->exact = cfi_signal_frame(code.cfi);
	return result == CFI_CALLER && w->regs.r[UNWIND_RSP] > sp && w->regs.r[UNWIND_RIP];
}

/* Keeps the frame, unless it is left out. */
static void keep(struct walk *w)
{
	if (w->regs.r[UNWIND_RSP] <= w->copy->from)
		return;
	w->frames[w->n++] = (w->regs.r[UNWIND_RIP] & FRAME_VALUE_MASK) | (w->exact ? FRAME_EXACT : 0);
}

static void walk(struct walk *w)
{
	int inner = 0;

	do {
		if (w->n == STACK_NATIVE || inner++ == 2 * STACK_NATIVE) {
			add_note(w, NOTE_TOO_DEEP, STACK_NATIVE);
			return;
		}
		keep(w);
	} while (step(w));
}

/* Goes on in the caller of the traced function, whose other registers may have changed since. */
static bool skip_inner(struct walk *w)
{
	unsigned long long from = w->copy->from, pc;

	if (!from || !read_word(w, from, &pc))
		return false;
	begin(w);
	w->regs.r[UNWIND_RSP] = from + 8;
	w->regs.r[UNWIND_RIP] = pc;
	w->exact = false;
	w->n = 0;
	return true;
}

static void unwind(struct walk *w)
{
	begin(w);
	walk(w);
	if (w->n && w->frames[0] & FRAME_NOTE && skip_inner(w))
		walk(w);
}

void unwinder_copy(struct unwinder *u, const struct stack_copy *copy, size_t size, unsigned user)
{
	struct walk w = {
		.unwinder = u, .copy = copy, .bytes = (const unsigned char *)(copy + 1),
		.size = size - sizeof(*copy), .user = user,
	};
	struct kept *k = u ? &u->kept[copy->id % KEPT] : NULL;

	if (!u)
		return;
	unwind(&w);
	free(k->frames);
	k->id = copy->id;
	k->n = w.n;
	k->frames = xcalloc(w.n, sizeof(*k->frames));
	memcpy(k->frames, w.frames, w.n * sizeof(*k->frames));
}

const unsigned long long *unwinder_frames(const struct unwinder *u, unsigned long long id, int *n)
{
	const struct kept *k = u ? &u->kept[id % KEPT] : NULL;

	if (!k || k->id != id)
		return NULL;
	*n = k->n;
	return k->frames;
}

void unwinder_forget(struct unwinder *u, int pid)
{
	if (u)
		unwind_table_forget(&u->table, pid);
}
