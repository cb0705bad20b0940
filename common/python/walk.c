/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/die.h"
#include "machine/thread.h"
#include "proc/helper_pool.h"
#include "proc/vm_read.h"
#include "python/walk.h"

enum {
	THREADS = 1024,			/* examined to find the thread */
	INTERPRETERS = 16,
	TRIES = 3,			/* if the list of threads changes meanwhile */
	STEPS = 2 * STACK_PYTHON,	/* frames read: those of the interpreter itself, too */
	LINES = 1 << 20,		/* bytes of line tables: later code objects have no lines */
	OWNED_BY_C = 3,			/* FRAME_OWNED_BY_CSTACK (3.12, 3.13), _BY_INTERPRETER, and on */
};

struct walking {
	const struct walk *w;
	const struct python_layout *at;	/* checked by layout_choose(): what is read below is in the buffers */
	struct walk_frames *to;
	unsigned long long next;	/* the frame to read next */
	unsigned threads;		/* that may still be examined */
	bool torn;			/* the list of threads was changing */
	size_t room;			/* for line tables */
	unsigned ncodes;
	unsigned long long codes[STEPS];	/* addresses; number i + 1 */
	unsigned char frame[PYTHON_FRAME_BYTES], code[PYTHON_CODE_BYTES];
};

static bool read_at(const struct walking *g, unsigned long long at, void *bytes, size_t size)
{
	return g->w->read(g->w->ctx, at, bytes, size);
}

/* Returns 0 if it cannot be read. */
static unsigned long long read_word(const struct walking *g, unsigned long long at)
{
	unsigned long long word;

	return read_at(g, at, &word, sizeof(word)) ? word : 0;
}

static unsigned long long word_of(const unsigned char *bytes, unsigned at)
{
	unsigned long long word;

	memcpy(&word, bytes + at, sizeof(word));
	return word;
}

static unsigned half_of(const unsigned char *bytes, unsigned at)
{
	unsigned half;

	memcpy(&half, bytes + at, sizeof(half));
	return half;
}

/* Code objects. */

/* Only compact strings, which all are except those of subclasses of str. */
static void read_text(const struct walking *g, unsigned long long at, struct python_text *text, char *to, size_t room)
{
	unsigned long long length = read_word(g, at + g->at->text_length);
	unsigned state = read_word(g, at + g->at->text_state) >> (g->at->text_kind & 31);
	unsigned long long data = at + (state & 16 ? g->at->text_ascii : g->at->text_compact);
	size_t bytes;

	*text = (struct python_text){ .at = at, .kind = state & 7 };
	if (!(state & 8) || !text->kind)
		return;
	bytes = (length <= room ? length : room + 1) * text->kind;
	text->cut = bytes > room;
	if (text->cut)
		bytes = room;
	if (read_at(g, data, to, bytes))
		text->bytes = bytes;
}

/* Returns the size of a line table; ~0 if it is unknown, or too large. */
static unsigned long long lines_size(const struct walking *g, unsigned long long lines)
{
	unsigned long long size;

	return read_at(g, lines + g->at->bytes_size, &size, sizeof(size)) && size <= g->room ? size : ~0ull;
}

/* A table that is left out has an unknown size in the record, so that it is not read later. */
static struct python_code_record *read_code(struct walking *g, unsigned long long code)
{
	unsigned long long lines = word_of(g->code, g->at->code_lines), size = lines_size(g, lines);
	size_t room = size == ~0ull ? 0 : size;
	struct python_code_record *r = xcalloc(1, sizeof(*r) + room);

	r->head = (struct record){ .pid = g->w->pid, .kind = RECORD_CODE };
	r->key = (struct python_code_key){
		.first_line = half_of(g->code, g->at->code_first), .pid = g->w->pid, .code = code,
	};
	r->value.number = g->ncodes;
	r->version = g->at->version;
	r->lines_at = lines + g->at->bytes_data;
	r->lines_size = size;
	if (read_at(g, r->lines_at, r->lines, room))
		r->lines_bytes = room;
	else
		r->lines_size = ~0ull;
	g->room -= room;
	read_text(g, word_of(g->code, g->at->code_name), &r->name, r->name_text, sizeof(r->name_text));
	read_text(g, word_of(g->code, g->at->code_file), &r->file, r->file_text, sizeof(r->file_text));
	return r;
}

/* Returns the number of the code object at this address, which is in g->code. */
static unsigned number_of(struct walking *g, unsigned long long code)
{
	struct python_code_record *r;

	for (unsigned i = 0; i < g->ncodes; i++)
		if (g->codes[i] == code)
			return i + 1;
	g->codes[g->ncodes++] = code;
	r = read_code(g, code);
	g->w->code(g->w->ctx, r, sizeof(*r) + r->lines_bytes);
	free(r);
	return g->ncodes;
}

/* The frames of a thread state. */

static unsigned long long lost(enum python_loss why)
{
	return FRAME_NOTE_OF(NOTE_PYTHON_LOST, why);
}

/* Return false if there is no room. */
static bool walk_put(struct walking *g, unsigned long long frame)
{
	struct walk_frames *to = g->to;

	if (to->n >= STACK_PYTHON) {
		to->frame[STACK_PYTHON] = lost(PYTHON_TOO_DEEP);
		to->n = STACK_PYTHON + 1;
		return false;
	}
	to->frame[to->n++] = frame;
	return true;
}

/* From 3.14 on without a GIL, a thread has a copy of the instructions. */
static unsigned long long units_of(const struct walking *g, unsigned long long code)
{
	if (!g->at->code_tlbc)
		return code + g->at->code_units;
	return read_word(g, word_of(g->code, g->at->code_tlbc) + 8 + 8ull * half_of(g->frame, g->at->frame_tlbc));
}

/* Returns the number of the instruction that the frame runs, in code units. */
static unsigned unit_of(const struct walking *g, unsigned long long code)
{
	long long at;

	if (g->at->version < 0x030b) {
		at = (int)half_of(g->frame, g->at->frame_instr);
		if (g->at->version < 0x030a)
			at >>= 1;
	} else {
		at = word_of(g->frame, g->at->frame_instr) - units_of(g, code);
		at >>= 1;
	}
	return at >= 0 && at < FRAME_PYTHON_NOT_BEGUN ? at : FRAME_PYTHON_NOT_BEGUN;
}

/* Returns 0 if the frame at g->next is the interpreter's own; else the frame, or a note.  Sets g->next to its
 * caller. */
static unsigned long long take_frame(struct walking *g)
{
	unsigned long long code;
	bool entry;

	if (!read_at(g, g->next, g->frame, g->w->process.frame_size))
		return lost(PYTHON_UNREADABLE);
	g->next = word_of(g->frame, g->at->frame_back);
	if (g->at->version >= 0x030c && g->frame[g->at->frame_owner] >= OWNED_BY_C)
		return 0;
	code = word_of(g->frame, g->at->frame_code) & ~7ull;	/* the low bits are a tag (3.14) */
	if (!read_at(g, code, g->code, g->w->process.code_size))
		return lost(PYTHON_UNREADABLE);
	entry = g->at->version < 0x030b || (g->at->version == 0x030b && g->frame[g->at->frame_entry]);
	return FRAME_PYTHON_OF(number_of(g, code), unit_of(g, code), entry);
}

static unsigned long long first_frame(const struct walking *g, unsigned long long state)
{
	unsigned long long frame = read_word(g, state + g->at->thread_frame);

	if (g->at->version == 0x030b || g->at->version == 0x030c)
		frame = read_word(g, frame + g->at->cframe_frame);
	return frame;
}

/* A frame is added after the next one is read: from 3.12 on a frame of the interpreter follows the outermost
 * one of a C function. */
static void walk_state(struct walking *g, unsigned long long state)
{
	unsigned long long last = 0, frame;

	g->next = first_frame(g, state);
	for (int i = 0; i < STEPS && g->next; i++) {
		frame = take_frame(g);
		if (!frame) {
			last |= last ? FRAME_PYTHON_ENTRY : 0;
			continue;
		}
		if (last && !walk_put(g, last))
			return;
		last = frame;
		if (!(frame & FRAME_PYTHON))
			g->next = 0;
	}
	if (last & FRAME_PYTHON && !g->next)
		last |= FRAME_PYTHON_ENTRY;
	if (last && walk_put(g, last) && g->next)
		walk_put(g, lost(PYTHON_TOO_DEEP));
}

/* The thread's states. */

/* Returns the thread's state in an interpreter; 0 if it has none. */
static unsigned long long state_in(struct walking *g, unsigned long long interp)
{
	unsigned long long state = read_word(g, interp + g->at->threads), self;

	for (; state && g->threads; g->threads--) {
		if (!read_at(g, state + g->at->thread_id, &self, sizeof(self))) {	/* freed meanwhile */
			g->torn = true;
			break;
		}
		if (thread_has_id(g->w->self, self))
			return state;
		state = read_word(g, state + g->at->thread_next);
	}
	return 0;
}

/* The newest interpreter first: a sub-interpreter runs in a thread that runs another one, which made it. */
static void search(struct walking *g)
{
	unsigned long long interp = read_word(g, g->w->process.runtime + g->at->interpreters), state;

	g->threads = THREADS;
	g->torn = false;
	for (int i = 0; i < INTERPRETERS && interp && g->to->n <= STACK_PYTHON; i++) {
		state = state_in(g, interp);
		if (state)
			walk_state(g, state);
		interp = read_word(g, interp + g->at->interp_next);
	}
	if ((interp || !g->threads) && !g->to->n)
		walk_put(g, lost(PYTHON_TOO_MANY));
}

void walk_thread(const struct walk *w, struct walk_frames *to)
{
	struct walking g = { .w = w, .at = &w->process.at, .to = to, .room = LINES };

	to->n = 0;
	for (int i = 0; i < TRIES && !to->n; i++) {
		search(&g);
		if (!g.torn)
			break;
	}
	if (!to->n)
		walk_put(&g, lost(g.torn ? PYTHON_UNREADABLE : PYTHON_NO_FRAMES));
}

/* By a helper: it answers with the records, each followed by bytes up to a multiple of 8, and the frames. */

static size_t padded(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

struct job {
	struct helper_job *job;
	int pid;
};

static bool read_memory(void *ctx, unsigned long long at, void *bytes, size_t size)
{
	const struct job *j = ctx;

	return vm_get(j->pid, at, bytes, size);
}

static void put_code(void *ctx, const struct python_code_record *r, size_t size)
{
	static const char none[8];
	const struct job *j = ctx;

	helper_put(j->job, r, size);
	helper_put(j->job, none, padded(size) - size);
}

static void walk_here(struct helper_job *job)
{
	struct walk w = *(const struct walk *)job->in;
	struct job j = { job, w.pid };
	struct walk_frames frames = { 0 };

	w.read = read_memory;
	w.code = put_code;
	w.ctx = &j;
	walk_thread(&w, &frames);
	helper_put(job, &frames, sizeof(frames));
}

/* Return false if there are no frames in the answer. */
static bool take_answer(const struct walk *w, const struct helper_answer *a, struct walk_frames *to)
{
	size_t left = a->size, size;
	const char *at = a->bytes;

	if (left < sizeof(*to))
		return false;
	left -= sizeof(*to);
	for (; left >= sizeof(struct python_code_record); at += size, left -= size) {
		const struct python_code_record *r = (const void *)at;

		size = padded(sizeof(*r) + r->lines_bytes);
		if (size > left)
			return false;
		w->code(w->ctx, r, sizeof(*r) + r->lines_bytes);
	}
	memcpy(to, at, sizeof(*to));
	return !left && to->n && to->n <= STACK_PYTHON + 1;
}

int walk_process(struct helper_pool *helpers, const struct walk *w, struct walk_frames *to)
{
	struct walk request;
	struct helper_answer a;
	int err;

	memset(&request, 0, sizeof(request));	/* padding, too: equal requests are compared by their bytes */
	request.process = w->process;
	request.self = w->self;
	request.pid = w->pid;
	err = helper_call(helpers, &(struct helper_request){
			w->pid, "memory", walk_here, &request, sizeof(request), .fd = -1 }, &a);
	if (err)
		return err;
	if (!take_answer(w, &a, to))
		err = -EPIPE;
	helper_drop(&a);
	return err;
}
