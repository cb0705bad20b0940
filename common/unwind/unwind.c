/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "base/die.h"
#include "elf/cfi.h"
#include "elf/elf_go.h"
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
	bool innermost;			/* the frame has called none */
	bool least;			/* the frame's stack pointer is that or higher */
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

/* Returns the program's own return address where a return probe has replaced it, at a function's entry with this stack
 * pointer; 0: none has. */
static unsigned long long own_address(const struct stack_copy *c, unsigned long long at)
{
	for (int i = 0; i < STACK_RETURNS; i++)
		if (c->returns[i].at == at)
			return c->returns[i].pc;
	return 0;
}

/* Call once pc and stack pointer are the caller's.  The kernel's trampoline is the start of a page. */
static void replace_trampoline(struct walk *w)
{
	unsigned long long *pc = &w->regs.r[UNWIND_PC];

	if (*pc && !(*pc & 0xfff))
		*pc = own_address(w->copy, w->regs.r[UNWIND_SP] - UNWIND_PUSHED) ?: *pc;
}

/* Where in the copy an address of the stack is. */
static bool find_byte(const struct walk *w, unsigned long long at, unsigned long long *offset)
{
	unsigned long long from = w->copy->regs[UNWIND_SP], present = w->copy->present;
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
	return true;
}

static void begin(struct walk *w)
{
	memcpy(w->regs.r, w->copy->regs, sizeof(w->regs.r));
	w->regs.known = UNWIND_KNOWN;
	w->innermost = true;
}

static void add_note(struct walk *w, enum frame_note what, unsigned long long value)
{
	w->frames[w->n++] = FRAME_NOTE_OF(what, value);
}

static void set_rule(const struct walk *w, unsigned long long pc, enum unwind_kind kind, unsigned cfa,
		     unsigned fp)
{
	if (!w->exact)
		unwind_table_set(&w->unwinder->table, w->copy->head.pid, w->user, pc,
				 unwind_rule(0, kind, cfa, fp));
}

/* Reason for a failed read: behind the copied part, not in memory, or no part of the stack. */
static void note_unreadable(struct walk *w, unsigned long long bad)
{
	unsigned long long from = w->copy->regs[UNWIND_SP];
	unsigned long long end = (from / UNWIND_PAGE + w->copy->looked) * UNWIND_PAGE;

	if (w->copy->cut && bad + 8 > end)
		add_note(w, NOTE_TOO_LARGE, (end - from + 1023) / 1024);
	else
		add_note(w, NOTE_UNREADABLE, bad);
}

/* Return true if a chain of frame pointers leads from here up the stack to a return address in a file. */
static bool leads_to_file(struct walk *w, unsigned long long fp)
{
	unsigned long long next, pc;

	for (int i = 0; i < STACK_NATIVE && !(fp & 7); i++, fp = next) {
		struct unwind_code code = { 0 };

		if (!read_word(w, fp, &next) || !read_word(w, fp + 8, &pc))
			return false;
		w->unwinder->find(w->unwinder->ctx, w->copy->head.pid, CODE_ADDRESS(pc) - 1, &code);
		if (code.in_file)
			return true;
		if (next <= fp)
			return false;
	}
	return false;
}

/* Code that was generated has no unwind information, but mostly a frame pointer.  Functions of files
 * without unwind information are assembly: their frame pointer may be that of a caller's caller. */
static bool by_pointer(struct walk *w, const struct unwind_code *of)
{
	unsigned long long sp = w->regs.r[UNWIND_SP], fp = w->regs.r[UNWIND_FP], next, pc;

	if (of->in_file || !(w->regs.known >> UNWIND_FP & 1) || fp < sp || !leads_to_file(w, fp) ||
	    !read_word(w, fp, &next) || !read_word(w, fp + 8, &pc))
		return false;
	w->regs = (struct cfi_regs){ .known = 1ull << UNWIND_FP | 1ull << UNWIND_SP | 1ull << UNWIND_PC };
	w->regs.r[UNWIND_FP] = next;
	w->regs.r[UNWIND_SP] = fp + 16;		/* at least */
	w->regs.r[UNWIND_PC] = CODE_ADDRESS(pc);
	w->least = !UNWIND_POINTER_SP;
	replace_trampoline(w);
	return true;
}

/* Goes on where there are no rules; returns false at the end. */
static bool step_without(struct walk *w, const struct unwind_code *code, unsigned long long pc)
{
	if (by_pointer(w, code)) {
		set_rule(w, pc, UNWIND_POINTER, 2, 2);
		w->exact = w->innermost = false;
		return true;
	}
	if (code->is_go) {	/* the BPF programs read the goroutine's frames: see stack.c */
		set_rule(w, pc, UNWIND_GO, 0, 0);
		add_note(w, NOTE_GO_LOST, GO_NOT_YET);
		return false;
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
	else if (r.cfa < 0 || r.cfa % 8 || r.cfa / 8 >= (int)UNWIND_WORDS || r.fp_slot >= UNWIND_WORDS)
		set_rule(w, pc, UNWIND_COPY, 0, 0);
	else
		set_rule(w, pc, r.fp ? UNWIND_BY_FP : UNWIND_BY_SP, r.cfa / 8, r.fp_slot);
}

/* Sets the stack pointer of a function that called generated code: its frame pointer, which the generated code has saved, is
 * at its frame record, whose distance from the CFA is known.  Of other functions it is unknown. */
static void find_sp(struct walk *w, const struct unwind_code *code)
{
	struct cfi_simple r;

	if (w->least && cfi_simple(code->cfi, code->offset, &r) && !r.end)
		w->regs.r[UNWIND_SP] = w->regs.r[UNWIND_FP] + 8ull * r.fp_slot - r.cfa;
	else if (w->least && !cfi_signal_frame(code->cfi))
		w->regs.known &= ~(1ull << UNWIND_SP);
	w->least = false;
}

/* Return true if the frame that was left, at this stack pointer, is inside the one that it led to.  A function that calls none
 * may need no stack where calls push nothing. */
static bool goes_up(const struct walk *w, unsigned long long sp)
{
	return w->regs.r[UNWIND_SP] > sp || (w->regs.r[UNWIND_SP] == sp && !UNWIND_PUSHED && (w->exact || w->innermost));
}

static bool step(struct walk *w)
{
	const struct cfi_memory memory = { read_word, w };
	unsigned long long pc = w->regs.r[UNWIND_PC], sp = w->regs.r[UNWIND_SP], bad;
	struct unwind_code code = { 0 };
	enum cfi_step result;
	bool up;

	w->unwinder->find(w->unwinder->ctx, w->copy->head.pid, w->exact ? pc : pc - 1, &code);
	if (!code.cfi)
		return step_without(w, &code, pc);
	learn(w, &code, pc);
	find_sp(w, &code);
	result = cfi_step(code.cfi, code.offset, &w->regs, &memory, &bad);
	up = result == CFI_CALLER && goes_up(w, sp);
	if (result == CFI_UNREADABLE)
		note_unreadable(w, bad);
	else if (result == CFI_BAD || (result == CFI_CALLER && !up))
		add_note(w, NOTE_BAD_RULES, pc);
	w->exact = cfi_signal_frame(code.cfi);
	w->innermost = false;
	if (up)
		replace_trampoline(w);
	return up && w->regs.r[UNWIND_PC];
}

/* Return true if the frame is the traced function's, or inside it. */
static bool is_inside(const struct walk *w)
{
	unsigned long long sp = w->regs.r[UNWIND_SP], from = w->copy->from;

	return sp < from + UNWIND_PUSHED || (sp == from && (w->exact || w->innermost));
}

/* Keeps the frame, unless it is left out. */
static void keep(struct walk *w)
{
	if (w->copy->from && is_inside(w))
		return;
	w->frames[w->n++] = (w->regs.r[UNWIND_PC] & FRAME_VALUE_MASK) | (w->exact ? FRAME_EXACT : 0);
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
	unsigned long long from = w->copy->from, pc = 0;

	if (!from || (UNWIND_PUSHED != 0 && !read_word(w, from, &pc)))
		return false;
	pc = own_address(w->copy, from) ?: pc;
	if (!pc)
		return false;
	begin(w);
	w->regs.r[UNWIND_SP] = from + UNWIND_PUSHED;
	w->regs.r[UNWIND_PC] = pc;
	w->exact = w->innermost = w->least = false;
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

void unwinder_changed(struct unwinder *u, int pid)
{
	if (u)
		unwind_table_drop(&u->table, pid);
}

void unwinder_go(struct unwinder *u, int pid, unsigned user, const struct elf_go *go)
{
	if (u)
		unwind_table_go(&u->table, pid, user, go->has_place ? GO_FRAMES : GO_NO_PLACE, go->place);
}

const char *unwinder_go_loss(unsigned long long value)
{
	static const char *const says[GO_LOSSES] = {
		[GO_NOT_YET] = "the program was not known yet",
		[GO_NO_PLACE] = "the program is stripped and has thread-local variables of C",
		[GO_UNREADABLE] = "the goroutine is unreadable",
		[GO_CALLED_BACK] = "the callers of C that called Go",
	};

	return value < GO_LOSSES && says[value] ? says[value] : "unknown";
}
