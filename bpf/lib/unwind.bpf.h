/* SPDX-License-Identifier: GPL-2.0 */
/* Unwinds the user's stack by rules, or sends a copy of it: see abi/stack_unwind.h. */
#ifndef LIB_UNWIND_BPF_H
#define LIB_UNWIND_BPF_H
#include "abi/bpf_names.h"
#include "lib/records.bpf.h"
#include "lib/task.bpf.h"
#include "lib/lost.bpf.h"
#include "abi/stack_unwind.h"

const volatile struct stack_config stack_config SEC(SECTION_STACK);

/* User space writes the rules. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, UNWIND_SETS);
	__type(key, __u32);
	__type(value, struct unwind_set);
} unwind_table SEC(".maps");

BPF_HASH(unwind_processes, __u32, struct unwind_process, 65536)

static __u64 unwind_copies;

/* Words of the user's stack from an address on. */
enum { UNWIND_PIECE = 64 };

struct unwind_piece {
	__u64 from, bytes;	/* a multiple of 8 */
	__u64 words[UNWIND_PIECE];
};

/* The frames of a record.  While the native ones are found, a piece of the stack is where the others will be. */
union stack_buffer {
	__u64 frames[STACK_FRAMES];
	struct {
		__u64 native[STACK_NATIVE + 1];
		struct unwind_piece piece;
	};
};
_Static_assert(sizeof(union stack_buffer) == STACK_FRAMES * 8, "a piece of the stack fits");

/* A frame: its known registers. */
struct unwind_frame {
	__u64 pc, sp, fp;	/* sp: UNWIND_LEAST if it is that or higher */
	__u32 owner;
};

/* A bit that stack pointers do not have. */
enum { UNWIND_LEAST = 1 };

/* The pages from that of sp on, of which present has a bit each. */
struct unwind_pages {
	__u64 sp, present;
	__u32 n;		/* in present */
	__u32 looked;		/* how many were examined */
	__u32 cut;		/* not 0: the stack goes on after them */
};

/* Pages that the program never touched are not in memory, such as those of a large buffer. */
#ifndef __bpf__
#include "agent/bpf/unwind_pages_user.h"
#else
/* include/linux/mm_types.h */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct vm_area_struct { unsigned long vm_end; };
#pragma clang attribute pop

/* Reads a word of the stack; false if it is not in memory.  A read costs as much as some hundred bytes, and the next words are
 * those of the next frames: they are read together, up to the end of the page, as the next one may not be in memory. */
static __always_inline bool unwind_word(struct unwind_piece *p, __u64 at, __u64 *word)
{
	__u64 size = UNWIND_PAGE - (at & (UNWIND_PAGE - 1)), i = at - p->from;

	if (i >= p->bytes || i & 7) {
		size = bounded(size < 8 ? 8 : size & ~7ull, sizeof(p->words));
		p->bytes = 0;
		if (bpf_probe_read_user(p->words, size, (void *)at))
			return false;
		p->from = at;
		p->bytes = size;
		i = 0;
	}
	*word = p->words[i / 8 & (UNWIND_PIECE - 1)];
	return true;
}

static long unwind_end_of(struct task_struct *task, struct vm_area_struct *vma, __u64 *end)
{
	*end = BPF_CORE_READ(vma, vm_end);
	return 0;
}

/* The end of the mapping with sp; 0 if unknown: the kernel lacks bpf_find_vma() (5.17), or another thread changes the
 * mappings. */
static __always_inline __u64 unwind_end(__u64 sp)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 end = 0, first;

	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_find_vma))
		bpf_find_vma(task, sp, unwind_end_of, &end, 0);
	/* the main thread's: arguments and environment come after it */
	first = BPF_CORE_READ(task, mm, start_stack);
	return first > sp && first < end ? first : end;
}

/* 1 or 0.  Without a branch, in assembly: the verifier would walk each combination of pages. */
static __always_inline __u64 unwind_readable(__u64 at)
{
	char byte;
	__u64 err = bpf_probe_read_user(&byte, 1, (void *)at);

	asm volatile("%[err] s>>= 63\n"
		     "%[err] += 1" : [err] "+r"(err));
	return err & 1;
}

/* Finds at most most pages that are present, up to end. */
static __always_inline void unwind_pages_to(struct unwind_pages *p, __u32 most, __u64 end)
{
	__u64 at = p->sp & ~(UNWIND_PAGE - 1ull), present = 1, is;
	__u32 n = 1, i;

	for (i = 1; i < UNWIND_PAGES; i++) {
		at += UNWIND_PAGE;
		if (at >= end)
			break;
		is = unwind_readable(at);
		if (n + is > most)
			break;
		n += is;
		present |= is << i;
	}
	p->cut = at + (i == UNWIND_PAGES ? UNWIND_PAGE : 0) < end;
	p->n = n;
	p->looked = i;
	p->present = present;
}

/* For a stack of unknown end: up to the first page that is not present. */
static __always_inline void unwind_pages_until_gap(struct unwind_pages *p, __u32 most)
{
	__u64 at = p->sp & ~(UNWIND_PAGE - 1ull);
	__u32 n = 1;
	char byte;

	for (int i = 0; i < UNWIND_PAGES_COPIED; i++) {
		at += UNWIND_PAGE;
		if (bpf_probe_read_user(&byte, 1, (void *)at))
			break;
		n++;
	}
	p->cut = n > most;
	p->n = p->cut ? most : n;
	p->looked = p->n;
	p->present = (1ull << (p->n & 63)) - 1;
}

/* Fills in p for p->sp: at most most pages that are present, 1 to UNWIND_PAGES_COPIED.  That of sp counts as present. */
GLOBAL_SUBPROG int unwind_look(struct unwind_pages *p, __u32 most)
{
	__u64 end;

	if (!p)
		return 0;
	end = unwind_end(p->sp);
	if (end)
		unwind_pages_to(p, most, end);
	else
		unwind_pages_until_gap(p, most);
	return 0;
}
#endif

static __always_inline __u64 unwind_rule_of(__u32 owner, __u64 pc)
{
	__u32 place = unwind_place(owner, pc);
	struct unwind_set *set = bpf_map_lookup_elem(&unwind_table, &place);

	for (int i = 0; set && i < UNWIND_WAYS; i++) {
		volatile struct unwind_slot *slot = &set->slots[i];
		__u64 rule;

		if (slot->pc != pc)
			continue;
		ordered();
		rule = slot->rule;
		ordered();
		/* user space clears the rule before it changes the address */
		if (rule >> 32 == owner && slot->pc == pc)
			return rule;
	}
	return UNWIND_NONE;
}

/* Reads the return address, and the frame pointer if it was saved. */
static __always_inline bool unwind_read(struct unwind_frame *f, struct unwind_piece *p, __u64 cfa, __u32 words)
{
	if (words && !unwind_word(p, cfa - words * 8ull, &f->fp))
		return false;
	if (!unwind_word(p, cfa - UNWIND_RA_WORDS(words) * 8ull, &f->pc))
		return false;
	f->pc = CODE_ADDRESS(f->pc);
	return true;
}

/* Where a frame pointer does not give the caller's stack pointer, the caller has its frame pointer at its frame record. */
static __always_inline __u64 unwind_cfa_of(const struct unwind_frame *f, __u64 rule, __u32 kind)
{
	if (!UNWIND_POINTER_SP && f->sp & UNWIND_LEAST && kind == UNWIND_BY_SP)
		return f->fp + unwind_fp(rule) * 8;
	return (kind == UNWIND_BY_SP ? f->sp : f->fp) + unwind_cfa(rule) * 8;
}

/* Goes to the caller's frame.  Returns 0, or the end of the walk as an enum unwind_kind: UNWIND_BY_SP and UNWIND_BY_FP if the
 * stack cannot be read. */
GLOBAL_SUBPROG int unwind_step(struct unwind_frame *f, union stack_buffer *b)
{
	__u64 rule, cfa;
	__u32 kind;

	if (!f || !b)
		return UNWIND_COPY;
	rule = unwind_rule_of(f->owner, f->pc);
	kind = rule & 15;
	if (kind == UNWIND_NONE)
		return UNWIND_COPY;
	if (kind != UNWIND_BY_SP && kind != UNWIND_BY_FP && kind != UNWIND_POINTER)
		return kind;
	cfa = unwind_cfa_of(f, rule, kind);
	if (cfa <= f->sp)
		return kind == UNWIND_POINTER ? UNWIND_NO_RULES : UNWIND_BAD_RULES;
	if (!unwind_read(f, &b->piece, cfa, unwind_fp(rule)))
		return kind == UNWIND_POINTER ? UNWIND_NO_RULES : UNWIND_BY_SP;
	f->pc = return_address(cfa - UNWIND_PUSHED, f->pc);
	f->sp = !UNWIND_POINTER_SP && kind == UNWIND_POINTER ? cfa | UNWIND_LEAST : cfa;
	return f->pc ? 0 : UNWIND_END;
}

/* The registers where the traced function was called, or will return to; entry as in stack_take(). */
static __always_inline void unwind_begin(struct unwind_start *s, const machine_regs *regs, __u64 entry)
{
	unwind_start_here(s, regs);
	s->sp = entry ? entry + UNWIND_PUSHED : s->sp;
	s->pc = entry ? return_address(entry, ENTRY_RETURN_ADDRESS(regs, entry, read_u64)) : s->pc;
}

/* The lowest bit that is set in mask, which is not 0.  Compilers may make a table of __builtin_ctzll(). */
GLOBAL_SUBPROG int unwind_lowest(__u64 mask)
{
	int n = 0;

	for (int half = 32; half; half /= 2)
		if (!(mask & ((1ull << half) - 1))) {
			mask >>= half;
			n += half;
		}
	return n;
}

/* Copies the present pages one after the other; returns which ones it got. */
static __always_inline __u64 unwind_copy_pages(char *to, const struct unwind_pages *p, const __u32 pages)
{
	const __u64 first = UNWIND_PAGE - (p->sp & (UNWIND_PAGE - 1));
	__u64 rest = p->present & ~1ull, copied = 1;
	__u32 page;

	if (bpf_probe_read_user(to, first, (void *)p->sp))
		return 0;
	for (__u32 i = 1; i < pages && rest; i++) {
		page = unwind_lowest(rest);
		if (bpf_probe_read_user(to + first + (i - 1) * UNWIND_PAGE, UNWIND_PAGE,
					(void *)(p->sp + first + (page - 1ull) * UNWIND_PAGE)))
			break;
		copied |= rest & -rest;
		rest &= rest - 1;
	}
	return copied;
}

static __always_inline __u64 unwind_send(const struct unwind_start *s, const struct unwind_pages *p, const __u32 pages)
{
	const __u64 size = sizeof(struct stack_copy) + pages * UNWIND_PAGE;
	struct stack_copy *c;
	__u64 id;

	/* the rest is for records */
	if (records_tight || bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) + size > records_bytes / 4)
		return 0;
	c = bpf_ringbuf_reserve(&events, size, 0);
	if (!c)
		return 0;
	id = __sync_fetch_and_add(&unwind_copies, 1) + 1;
	__builtin_memset(c, 0, sizeof(*c));
	c->head.pid = thread_pid();
	c->head.kind = RECORD_STACK;
	c->id = id;
	unwind_registers(c, s);
	returns_list(c, returns_first());
	c->looked = p->looked;
	c->cut = p->cut;
	c->present = unwind_copy_pages((char *)(c + 1), p, pages);
	bpf_ringbuf_submit(c, records_wakeup(size, true));
	return id;
}

/* Sends a copy of the stack.  Returns its number, or 0 if there is no room. */
GLOBAL_SUBPROG __u64 unwind_copy(const struct unwind_start *s)
{
	struct unwind_pages p = {};

	if (!s)
		return 0;
	p.sp = s->sp;
	unwind_look(&p, stack_config.copy / UNWIND_PAGE);
	if (p.n <= 1)
		return unwind_send(s, &p, 1);
	if (p.n <= 2)
		return unwind_send(s, &p, 2);
	if (p.n <= 3)
		return unwind_send(s, &p, 3);
	if (p.n <= 4)
		return unwind_send(s, &p, 4);
	if (p.n <= 6)
		return unwind_send(s, &p, 6);
	if (p.n <= 8)
		return unwind_send(s, &p, 8);
	if (p.n <= 12)
		return unwind_send(s, &p, 12);
	return unwind_send(s, &p, UNWIND_PAGES_COPIED);
}

struct unwind_go {
	__u64 sp, fp, end;	/* of the goroutine's stack */
};

static __always_inline bool go_read(const struct unwind_process *p, struct unwind_go *go)
{
	__u64 g = read_u64(thread_self() + p->place), m = g ? read_u64(g + GO_M) : 0, current, shift = 0;

	if (!m || read_u64(m) != g)
		return false;
	current = read_u64(m + GO_CURG);
	if (!current || read_u64(current + GO_M) != m) {
		shift = GO_SHIFT;
		current = read_u64(m + GO_CURG - shift);
	}
	if (!current || current == g || read_u64(current + GO_M) != m)
		return false;
	go->sp = read_u64(current + GO_SCHED_SP);
	go->fp = read_u64(current + GO_SCHED_BP - shift);
	go->end = read_u64(current + GO_STACK_END);
	return go->sp >= read_u64(current) && go->sp < go->end && !(go->sp & 7);
}

/* Goes to the next frame; returns its address, 0 at the end. */
GLOBAL_SUBPROG __u64 go_next(struct unwind_go *go)
{
	__u64 frame[2];

	if (!go || !go->fp)
		return 0;
	if (go->fp + 8 < go->sp || go->fp & 7 || go->fp + 16 > go->end)
		return FRAME_NOTE_OF(NOTE_GO_LOST, GO_CALLED_BACK);
	if (bpf_probe_read_user(frame, sizeof(frame), (void *)go->fp))
		return FRAME_NOTE_OF(NOTE_GO_LOST, GO_UNREADABLE);
	go->sp = go->fp + 16;
	go->fp = frame[0];
	return CODE_ADDRESS(frame[1]) & FRAME_VALUE_MASK;
}

/* Returns the first frame, or a note; 0: the thread has no goroutine. */
static __always_inline __u64 go_first(const struct unwind_process *p, struct unwind_go *go)
{
	__u64 pc = p->go != GO_FRAMES ? FRAME_NOTE_OF(NOTE_GO_LOST, p->go) : 0;

	if (pc || !read_u64(thread_self() + p->place))
		return pc;
	if (!go_read(p, go))
		return FRAME_NOTE_OF(NOTE_GO_LOST, GO_UNREADABLE);
	/* where asmcgocall() saves no frame pointer, before Go 1.21, it is its caller's */
	return go->fp > go->sp ? read_u64(go->sp) & FRAME_VALUE_MASK : go_next(go);
}

/* Adds the frames of the goroutine that called C to n others, by frame pointers, or a note.  Returns how many there are then. */
GLOBAL_SUBPROG int unwind_goroutine(const struct unwind_process *p, union stack_buffer *to, __u32 n)
{
	struct unwind_go go = {};
	__u64 pc;

	if (!p || !to)
		return n;
	pc = go_first(p, &go);
	for (__u32 i = 0; i < STACK_NATIVE; i++, n++) {
		if (n >= STACK_NATIVE)
			break;
		if (!pc)
			return n;
		to->frames[bounded(n, STACK_NATIVE - 1)] = pc;
		if (pc & FRAME_NOTE)
			return n + 1;
		pc = go_next(&go);
	}
	to->frames[STACK_NATIVE] = FRAME_NOTE_OF(NOTE_TOO_DEEP, STACK_NATIVE);
	return STACK_NATIVE + 1;
}

static __always_inline __u64 unwind_note(int end, const struct unwind_frame *f)
{
	switch (end) {
	case UNWIND_NO_RULES: return FRAME_NOTE_OF(NOTE_NO_RULES, f->pc);
	case UNWIND_BAD_RULES: return FRAME_NOTE_OF(NOTE_BAD_RULES, f->pc);
	case UNWIND_COPY: return FRAME_NOTE_OF(NOTE_LOST, 0);
	case UNWIND_GO: return FRAME_NOTE_OF(NOTE_GO_LOST, GO_UNREADABLE);
	default: return FRAME_NOTE_OF(NOTE_UNREADABLE, f->sp);
	}
}

/* Adds the note of the end of a walk behind n frames.  A function of its own: the verifier follows the walk from each of its
 * ends. */
GLOBAL_SUBPROG int unwind_ended(union stack_buffer *to, const struct unwind_frame *f, __u32 n, int end)
{
	if (!to || !f)
		return 0;
	to->frames[bounded(n, STACK_NATIVE)] = end ? unwind_note(end, f) : FRAME_NOTE_OF(NOTE_TOO_DEEP, STACK_NATIVE);
	return n + 1;
}

/* The end of a walk that found n frames: copies the stack, or follows the goroutine that called C. */
GLOBAL_SUBPROG int unwind_beyond(const struct unwind_start *s, union stack_buffer *to, __u32 n, bool go)
{
	const struct unwind_frame none = { 0 };
	__u32 pid = thread_pid(), all;
	struct unwind_process *p;
	__u64 copy;

	if (!s || !to)
		return 0;
	p = bpf_map_lookup_elem(&unwind_processes, &pid);
	if (go) {
		all = unwind_goroutine(p, to, n);
		if (all > n)
			return all;
	} else if ((copy = unwind_copy(s))) {
		to->frames[0] = FRAME_NOTE_OF(NOTE_COPIED, copy);
		return p && p->go ? unwind_goroutine(p, to, 1) : 1;
	}
	return unwind_ended(to, &none, n, go ? UNWIND_GO : UNWIND_COPY);
}

enum { UNWOUND_GO = 1 << 16, UNWOUND_COPY = 1 << 17 };	/* flags beside the number of frames: unwind_beyond() is to go on */

GLOBAL_SUBPROG int unwind_walk(const struct unwind_start *s, union stack_buffer *to)
{
	struct unwind_process *p;
	struct unwind_frame f;
	int end = UNWIND_COPY;
	__u32 n = 0, pid;

	if (!s || !to)
		return 0;
	pid = thread_pid();
	p = bpf_map_lookup_elem(&unwind_processes, &pid);
	f = (struct unwind_frame){ .pc = s->pc, .sp = s->sp, .fp = s->fp };
	f.owner = p ? p->owner : 0;
	to->piece.bytes = 0;
	while (n < STACK_NATIVE) {
		to->frames[n] = f.pc & FRAME_VALUE_MASK;
		n++;
		end = unwind_step(&f, to);
		if (end)
			break;
	}
	if (end == UNWIND_END)
		return n;
	if (end == UNWIND_COPY || end == UNWIND_GO)
		return n | (end == UNWIND_GO ? UNWOUND_GO : UNWOUND_COPY);
	return unwind_ended(to, &f, n, end);
}

/* Walks the stack; returns the number of frames, at most STACK_NATIVE + 1.  In two calls, for the 512 bytes of stack that Linux 6.1
 * allows a chain of calls. */
static __always_inline int unwind(const struct unwind_start *s, union stack_buffer *to)
{
	int n = unwind_walk(s, to);

	return n < UNWOUND_GO ? n : unwind_beyond(s, to, n & (UNWOUND_GO - 1), n & UNWOUND_GO);
}

#endif
