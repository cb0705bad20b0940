/* SPDX-License-Identifier: GPL-2.0 */
/* The calling thread's Python frames, read from the interpreter's structs.  User space finds the processes that run Python,
 * and the layout of their interpreter.
 *
 * The interpreter's current thread is the one with the GIL, which a call may have released.  So the thread's state is
 * searched in the interpreter's list, by pthread_self(), which the thread pointer gives: Linux's thread ids differ in a container. */
#ifndef LIB_PYTHON_BPF_H
#define LIB_PYTHON_BPF_H
#include "abi/bpf_names.h"
#include "lib/records.bpf.h"
#include "lib/shares.bpf.h"
#include "abi/python_frames.h"
#include "machine/thread.h"

/* ---- code objects: each gets a number.  The name of a new one is read and sent in the traced thread, as the process may
 * end immediately */

/* From 3.11 on frames follow each other in memory: several are read with one call.  A power of two. */
enum { PYTHON_STACK_BYTES = 1024 };

/* Words of a file name's object, and with those of a line table's, that are compared. */
enum { PYTHON_TEXT = 16, PYTHON_CONTENT = PYTHON_TEXT + 4 };

/* Code objects of a walk that are remembered: a thread's frames keep them, so that they stay what they are until its end. */
enum { PYTHON_SEEN = 16 };

struct python_seen {
	__u64 walk, code;
	__u32 number, unused;
};

/* A thread: its state in the only interpreter, and buffers for reading. */
struct python_thread {
	__u64 interp, state;
	__u64 newest;		/* interpreter */
	__u64 self, next;	/* the thread pointer; the frame to read next */
	__u32 n, left;
	bool torn;		/* the list of threads was changing */
	__u64 walk;		/* how many there were */
	__u64 last;		/* a frame of the walk that is not added yet, or 0 */
	struct python_seen seen[PYTHON_SEEN];
	__u32 known;		/* the number of a code object that was seen; 0: it is in code */
	__u64 file_walk, file, file_tag;	/* the file name read last */
	struct python_code_key key;
	__u64 name, lines;	/* addresses of two things in the code object */
	__u64 word;		/* read last */
	__u64 from, end;	/* addresses of the memory in stack */
	__u8 stack[PYTHON_STACK_BYTES + PYTHON_FRAME_BYTES];
	__u8 code[PYTHON_CODE_BYTES];
	__u64 content[PYTHON_CONTENT];
};

BPF_HASH(python_codes, struct python_code_key, struct python_code_value, PYTHON_CODES)

/* User space gives back the shares of elements that it deletes.  Global, because libbpf shares only sections with a global
 * variable with user space. */
struct python_shared python_shared SEC(SECTION_PYTHON);

/* Reads the field at an offset of a frame or code object.  User space has checked the offsets;
 * the verifier has not. */
#define python_word(bytes, at) (*(__u64 *)&(bytes)[(at) & (sizeof(bytes) - 8)])
#define python_half(bytes, at) (*(__u32 *)&(bytes)[(at) & (sizeof(bytes) - 4)])
#define python_byte(bytes, at) ((bytes)[(at) & (sizeof(bytes) - 1)])

/* A word of the program's memory, read into the thread's data, as the stack is small; 0 if it cannot be read. */
static __always_inline __u64 python_read(struct python_thread *t, __u64 at)
{
	if (bpf_probe_read_user(&t->word, sizeof(t->word), (void *)at))
		t->word = 0;
	return t->word;
}

/* Return true if the thread has this pthread_self(). */
static __always_inline bool python_is_self(const struct python_thread *t, __u64 id)
{
	return thread_has_id(t->self, id);
}

/* Reads a string: only compact ones, which all are except those of subclasses of str. */
static __always_inline void python_text(const struct python_process *p, struct python_thread *t, __u64 at,
					struct python_text *text, char *to, __u32 room)
{
	__u64 length = python_read(t, at + p->at.text_length), bytes;
	__u32 state = python_read(t, at + p->at.text_state) >> (p->at.text_kind & 31);
	__u64 data = at + (state & 16 ? p->at.text_ascii : p->at.text_compact);

	*text = (struct python_text){ .at = at, .kind = state & 7 };
	if (!(state & 8) || !text->kind)
		return;
	bytes = (length <= room ? length : room + 1) * text->kind;
	text->cut = bytes > room;
	bytes = bounded(bytes, room);
	if (bpf_probe_read_user(to, bytes, (void *)data))
		return;
	text->bytes = bytes;
}

/* Not inlined: 512 bytes of stack are for all functions that call each other. */
static __noinline int python_fill(const struct python_process *p, struct python_thread *t,
					struct python_code_record *r, __u32 room)
{
	__u64 size = r->lines_size;

	r->head = (struct record){ .pid = t->key.pid, .kind = RECORD_CODE };
	r->key = t->key;
	r->version = p->at.version;
	r->lines_at = t->lines + p->at.bytes_data;
	r->lines_bytes = 0;
	python_text(p, t, t->name, &r->name, r->name_text, PYTHON_NAME);
	python_text(p, t, python_word(t->code, p->at.code_file), &r->file, r->file_text, PYTHON_FILE);
	if (size <= room && !bpf_probe_read_user(r->lines, bounded(size, room), (void *)r->lines_at))
		r->lines_bytes = size;
	return 0;
}

/* A new number; 0 if other threads always were faster.  (Before -mcpu=v3 no addition returns a value.) */
static __always_inline __u32 python_next_number(void)
{
	__u64 *last = &python_shared.last, old = *(volatile __u64 *)last, seen;

	for (int i = 0; i < 16; i++) {
		seen = __sync_val_compare_and_swap(last, old, old + 1);
		if (seen == old)
			return old + 1;
		old = seen;
	}
	return 0;
}

/* Numbers the code object, unless another thread was first.  The record is reserved already: it precedes any that needs it. */
static __always_inline bool python_number(struct python_thread *t, struct python_code_value *value)
{
	struct python_code_key key = t->key;	/* a key must be on the stack (before Linux 6.2) */

	value->share = share_take(&python_shared.codes, PYTHON_CODES);
	if (value->share >= SHARES_USERS)
		return false;
	value->number = python_next_number();
	if (value->number && !bpf_map_update_elem(&python_codes, &key, value, BPF_NOEXIST))
		return true;
	share_give_back(&python_shared.codes, value->share);
	return false;
}

/* room: a constant. */
static __always_inline void python_send(const struct python_process *p, struct python_thread *t, __u64 size,
					__u32 room)
{
	const __u64 bytes = sizeof(struct python_code_record) + room;
	struct python_code_record *r = records_refused(bytes) ? NULL : bpf_ringbuf_reserve(&events, bytes, 0);
	struct python_code_value value;

	if (!r) {
		lose(LOST_RECORD);
		return;
	}
	r->lines_size = size;
	python_fill(p, t, r, room);
	if (!python_number(t, &value)) {
		bpf_ringbuf_discard(r, BPF_RB_NO_WAKEUP);
		return;
	}
	r->value = value;
	bpf_ringbuf_submit(r, records_wakeup(bytes, !room));
}

/* Numbers and sends the code object t->key, which is in t->code. */
GLOBAL_SUBPROG int python_code_new(const struct python_process *p, struct python_thread *t)
{
	__u64 size;

	if (!p || !t)
		return 0;
	size = bpf_probe_read_user(&t->word, sizeof(t->word), (void *)(t->lines + p->at.bytes_size)) ?
	       ~0ull : t->word;
	if (size <= 256)
		python_send(p, t, size, 256);
	else if (size <= 2048)
		python_send(p, t, size, 2048);
	else if (size <= 16384)
		python_send(p, t, size, 16384);
	else if (size <= PYTHON_LINES)
		python_send(p, t, size, PYTHON_LINES);
	else
		python_send(p, t, size, 0);	/* the reader must be quick to read it */
	return 0;
}

/* Of a file's name: its length and beginning. */
static __always_inline __u64 python_file_tag(const struct python_process *p, struct python_thread *t, __u64 file)
{
	__u64 tag = 0, at = file + p->at.text_length, first, end;
	__u32 state;

	if (t->file == file && t->file_walk == t->walk)
		return t->file_tag;
	__builtin_memset(t->content, 0, PYTHON_TEXT * 8);
	if (bpf_probe_read_user(t->content, PYTHON_TEXT * 8, (void *)at))
		bpf_probe_read_user(t->content, 7 * 8, (void *)at);	/* it may end with its page */
	state = t->content[2] >> (p->at.text_kind & 31);
	first = (state & 16 ? p->at.text_ascii : p->at.text_compact) - p->at.text_length;
	end = first + t->content[0] * (state & 7);
	/* only constant data: no hashes, nor the bytes after the string */
	for (__u32 i = 1; i < PYTHON_TEXT; i++)
		if (i * 8 < first || i * 8 >= end)
			t->content[i] = 0;
	for (int i = 0; i < PYTHON_TEXT; i++)
		tag = (tag ^ t->content[i]) * 0x9e3779b97f4a7c15;
	t->file = file;
	t->file_walk = t->walk;
	t->file_tag = tag;
	return tag;
}

/* Distinguishes a code object from a later one at the same address: exec() in a loop gets the same addresses again and again,
 * for its strings, too.  From 3.12 on each has its own version; before, its source is compared: the lengths and beginnings of
 * the file's name and the line table. */
static __always_inline __u64 python_tag(const struct python_process *p, struct python_thread *t)
{
	__u64 tag = t->name * 0x9e3779b97f4a7c15 + t->lines * 0xc2b2ae3d27d4eb4f, *lines = t->content + PYTHON_TEXT;

	if (p->at.version >= 0x030c)
		return tag + python_half(t->code, p->at.code_version);
	tag ^= python_file_tag(p, t, python_word(t->code, p->at.code_file));
	__builtin_memset(lines, 0, (PYTHON_CONTENT - PYTHON_TEXT) * 8);
	bpf_probe_read_user(lines, 4 * 8, (void *)(t->lines + p->at.bytes_size));
	lines[1] = 0;
	if (lines[0] < 8)
		lines[3] = 0;
	for (int i = 0; i < PYTHON_CONTENT - PYTHON_TEXT; i++)
		tag = (tag ^ lines[i]) * 0x9e3779b97f4a7c15;
	return tag;
}

static __always_inline struct python_seen *python_seen(struct python_thread *t, __u64 code)
{
	return &t->seen[(code >> 4 ^ code >> 8) & (PYTHON_SEEN - 1)];
}

/* The number of the code object at this address, which is in t->code; 0 if it could not be sent. */
static __always_inline __u32 python_code(const struct python_process *p, struct python_thread *t, __u64 code)
{
	struct python_code_key key = {
		.first_line = python_half(t->code, p->at.code_first), .pid = thread_pid(), .code = code,
	};
	struct python_code_value *value;

	t->name = python_word(t->code, p->at.code_name);
	t->lines = python_word(t->code, p->at.code_lines);
	key.tag = python_tag(p, t);
	value = bpf_map_lookup_elem(&python_codes, &key);
	if (!value) {
		t->key = key;
		python_code_new(p, t);
		value = bpf_map_lookup_elem(&python_codes, &key);
	}
	if (!value)
		return 0;
	*python_seen(t, key.code) = (struct python_seen){ .walk = t->walk, .code = key.code, .number = value->number };
	return value->number;
}

/* Reads the code object into t->code; false if it cannot be read.  One that the walk has seen is not read: nested modules of
 * PyTorch have the same few functions between theirs.  With copies of instructions t->code is needed. */
static __always_inline bool python_code_read(const struct python_process *p, struct python_thread *t, __u64 code)
{
	const struct python_seen *seen = python_seen(t, code);
	__u64 size = p->code_size;

	t->known = seen->code == code && seen->walk == t->walk && !p->at.code_tlbc ? seen->number : 0;
	return t->known || (size <= sizeof(t->code) &&
			    !bpf_probe_read_user(t->code, bounded(size, sizeof(t->code)), (void *)code));
}

/* ---- the frames of a thread state */

enum {
	PYTHON_NEAR = 32,		/* turns of a loop in a function of its own: the verifier follows each */
	PYTHON_STEPS = 6 * PYTHON_NEAR,	/* frames read: twice STACK_PYTHON, as those of the interpreter itself are among them */
	PYTHON_SHIM = 1,		/* not a frame: the interpreter's own */
	PYTHON_OWNED_BY_C = 3,		/* FRAME_OWNED_BY_CSTACK (3.12, 3.13), _BY_INTERPRETER, and on */
};

/* Part of a stack; the last one is for a note. */
struct python_frames { __u64 frame[STACK_PYTHON + 1]; };

typedef __u8 python_bytes[PYTHON_FRAME_BYTES];

/* Returns the bytes of the frame at t->next; NULL if it cannot be read.  Its callers' frames come before it, and are read with
 * it, within the page. */
static __always_inline const python_bytes *python_frame_bytes(const struct python_process *p,
							      struct python_thread *t)
{
	__u64 at = t->next, end = at + p->frame_size, from = at, size;

	if (at < t->from || end > t->end || end < at) {
		if (p->at.version >= 0x030b)
			from = end - PYTHON_STACK_BYTES < (at & ~0xfffull) ? at & ~0xfffull : end - PYTHON_STACK_BYTES;
		size = end - from;
		t->from = from;
		t->end = 0;
		if (size > sizeof(t->stack) ||
		    bpf_probe_read_user(t->stack, bounded(size, sizeof(t->stack)), (void *)from))
			return NULL;
		t->end = end;
	}
	return (const python_bytes *)&t->stack[(at - t->from) & (PYTHON_STACK_BYTES - 8)];
}

/* Adds a frame; false if there is no room. */
static __always_inline bool python_put(struct python_thread *t, struct python_frames *to, __u64 frame)
{
	__u64 n = t->n;

	if (n >= STACK_PYTHON) {
		to->frame[STACK_PYTHON] = FRAME_NOTE_OF(NOTE_PYTHON_LOST, PYTHON_TOO_DEEP);
		t->n = STACK_PYTHON + 1;
		return false;
	}
	to->frame[bounded(n, STACK_PYTHON - 1)] = frame;
	t->n = n + 1;
	return true;
}

static __always_inline __u64 python_note(__u32 why)
{
	return FRAME_NOTE_OF(NOTE_PYTHON_LOST, why);
}

/* From 3.14 on without a GIL, a thread has a copy of the instructions. */
static __always_inline __u64 python_copied_units(const struct python_process *p, struct python_thread *t,
						 const python_bytes *frame)
{
	__u64 copies = python_word(t->code, p->at.code_tlbc & ~7);
	__u32 i = python_half(*frame, p->at.frame_tlbc);

	return python_read(t, copies + 8 + 8ull * i);
}

/* The number of the instruction that a frame runs, in code units. */
static __always_inline __u32 python_unit(const struct python_process *p, struct python_thread *t,
					 const python_bytes *frame, __u64 code)
{
	__s64 at;

	if (p->at.version < 0x030b) {
		at = (__s32)python_half(*frame, p->at.frame_instr);
		if (p->at.version < 0x030a)
			at >>= 1;
	} else {
		at = python_word(*frame, p->at.frame_instr);
		at -= p->at.code_tlbc ? python_copied_units(p, t, frame) : code + p->at.code_units;
		at >>= 1;
	}
	return at >= 0 && at < FRAME_PYTHON_NOT_BEGUN ? at : FRAME_PYTHON_NOT_BEGUN;
}

/* Reads the frame at t->next, and sets that to the one that called it.  Returns the frame, a note, or
 * PYTHON_SHIM. */
GLOBAL_SUBPROG __u64 python_frame(const struct python_process *p, struct python_thread *t)
{
	const python_bytes *frame;
	__u32 unit, number;
	__u64 code;
	bool entry;

	if (!p || !t)
		return 0;
	frame = python_frame_bytes(p, t);
	if (!frame)
		return python_note(PYTHON_UNREADABLE);
	t->next = python_word(*frame, p->at.frame_back);
	if (p->at.version >= 0x030c && python_byte(*frame, p->at.frame_owner) >= PYTHON_OWNED_BY_C)
		return PYTHON_SHIM;
	/* the low bits are a tag (3.14) */
	code = python_word(*frame, p->at.frame_code) & ~7ull;
	if (!python_code_read(p, t, code))
		return python_note(PYTHON_UNREADABLE);
	entry = p->at.version < 0x030b ||
		(p->at.version == 0x030b && python_byte(*frame, p->at.frame_entry));
	unit = python_unit(p, t, frame, code);
	number = t->known ?: python_code(p, t, code);
	return FRAME_PYTHON_OF(number, unit, entry);
}

/* Adds the next frames of a thread state: state at first, then 0; ends: these are the last ones.  A frame is added after the next
 * one is read: from 3.12 on a frame of the interpreter follows the outermost one of a C function. */
GLOBAL_SUBPROG int python_walk_near(const struct python_process *p, struct python_thread *t, struct python_frames *to, __u64 state,
				   bool ends)
{
	__u64 frame;

	if (!p || !t || !to)
		return 0;
	if (state) {
		t->end = t->last = 0;
		t->walk++;
		t->next = python_read(t, state + p->at.thread_frame);
		if (p->at.version == 0x030b || p->at.version == 0x030c)
			t->next = python_read(t, t->next + p->at.cframe_frame);
	}
	for (int i = 0; i < PYTHON_NEAR && t->next; i++) {
		frame = python_frame(p, t);
		if (frame == PYTHON_SHIM) {
			if (t->last)
				t->last |= FRAME_PYTHON_ENTRY;
			continue;
		}
		if (t->last && !python_put(t, to, t->last))
			frame = 0;
		t->last = frame;
		if (!(frame & FRAME_PYTHON))
			t->next = 0;
	}
	if (!ends)
		return 0;
	if (t->last & FRAME_PYTHON && !t->next)
		t->last |= FRAME_PYTHON_ENTRY;
	if (t->last && python_put(t, to, t->last) && t->next)
		python_put(t, to, python_note(PYTHON_TOO_DEEP));
	return 0;
}

/* Adds the frames of a thread state. */
static __always_inline void python_walk(const struct python_process *p, struct python_thread *t,
					struct python_frames *to, __u64 state)
{
	for (int i = 0; i < PYTHON_STEPS / PYTHON_NEAR; i++)
		python_walk_near(p, t, to, i ? 0 : state, i == PYTHON_STEPS / PYTHON_NEAR - 1);
}

/* ---- the thread's states */

enum {
	PYTHON_THREADS = 1024,		/* examined to find the calling one */
	PYTHON_INTERPRETERS = 16,
	PYTHON_TRIES = 3,
};

/* The processes that run Python, by process id.  Unused with --attach inject: a process gets its element from the tool. */
BPF_HASH(python_processes, __u32, struct python_process, 16384)

BPF_TASK_STORAGE(python_threads, struct python_thread)

/* The calling thread's state among the next ones, from t->next on; 0 if it is not there. */
GLOBAL_SUBPROG __u64 python_state_near(const struct python_process *p, struct python_thread *t)
{
	__u64 state;

	if (!p || !t)
		return 0;
	for (int i = 0; i < PYTHON_NEAR; i++) {
		state = t->next;
		t->next = 0;
		if (!state || !t->left)
			break;
		t->left--;
		/* another thread may have freed it meanwhile */
		if (bpf_probe_read_user(&t->word, sizeof(t->word), (void *)(state + p->at.thread_id))) {
			t->torn = true;
			break;
		}
		if (python_is_self(t, t->word))
			return state;
		t->next = python_read(t, state + p->at.thread_next);
	}
	return 0;
}

/* The calling thread's state in an interpreter; 0 if it has none.  t->left: the number of states that may
 * still be examined. */
GLOBAL_SUBPROG __u64 python_state(const struct python_process *p, struct python_thread *t, __u64 interp)
{
	__u64 state = 0;

	if (!p || !t)
		return 0;
	t->next = python_read(t, interp + p->at.threads);
	for (int i = 0; i < PYTHON_THREADS / PYTHON_NEAR && t->next && !state; i++)
		state = python_state_near(p, t);
	return state;
}

/* Looks for the thread in each interpreter, the newest first: a sub-interpreter runs in a thread
 * that runs another one, which made it. */
static __always_inline void python_search(const struct python_process *p, struct python_thread *t,
					  struct python_frames *to)
{
	__u64 interp = t->newest, state, next;

	t->left = PYTHON_THREADS;
	t->interp = 0;
	t->torn = false;
	for (__u32 i = 0; i < PYTHON_INTERPRETERS; i++) {
		if (!interp || t->n > STACK_PYTHON)
			break;
		state = python_state(p, t, interp);
		next = python_read(t, interp + p->at.interp_next);
		if (state && !i && !next) {
			t->interp = interp;
			t->state = state;
		}
		if (state)
			python_walk(p, t, to, state);
		interp = next;
	}
	if ((interp || !t->left) && !t->n)
		python_put(t, to, python_note(PYTHON_TOO_MANY));
}

/* With one interpreter, the thread's state is cached; one without frames may have been freed. */
static __always_inline void python_find(const struct python_process *p, struct python_thread *t,
					struct python_frames *to)
{
	t->newest = python_read(t, p->runtime + p->at.interpreters);
	t->self = thread_self();
	if (t->newest && t->newest == t->interp && python_is_self(t, python_read(t, t->state + p->at.thread_id))) {
		python_walk(p, t, to, t->state);
		if (t->n)
			return;
	}
	for (int i = 0; i < PYTHON_TRIES; i++) {
		python_search(p, t, to);
		if (t->n || !t->torn)
			return;
	}
	python_put(t, to, python_note(PYTHON_UNREADABLE));
}

/* A forked process has its parent's interpreter, before user space has found it.  NULL if it does not run Python. */
static __noinline const struct python_process *python_here(void)
{
	__u32 pid = thread_pid();
	const struct python_process *p;

	if (PROCESS_PYTHON)
		return process_python();
	p = bpf_map_lookup_elem(&python_processes, &pid);
	if (p)
		return p;
	pid = process_copied();
	return pid ? bpf_map_lookup_elem(&python_processes, &pid) : NULL;
}

/* Returns how many it has set: at most STACK_PYTHON, and a note.  None if user space has not found Python in the process.
 * flags: of bpf_task_storage_get(); 0 where nothing may be allocated. */
GLOBAL_SUBPROG __u32 python_all(struct python_frames *to, __u64 flags)
{
	const struct python_process *p = python_here();
	struct python_thread *t;

	if (!p || !to)
		return 0;
	if (p->loss) {
		to->frame[0] = python_note(p->loss);
		return 1;
	}
	t = bpf_task_storage_get(&python_threads, bpf_get_current_task_btf(), NULL, flags);
	if (!t) {
		to->frame[0] = python_note(flags ? PYTHON_NO_MEMORY : PYTHON_NOT_YET);
		return 1;
	}
	t->n = 0;
	python_find(p, t, to);
	if (!t->n)
		python_put(t, to, python_note(PYTHON_NO_FRAMES));
	return t->n;
}

/* Reads the thread's Python frames into a stack, after n native ones, at most STACK_NATIVE and a note.  Returns the total. */
static __always_inline __u32 python_take(__u64 *frames, __u32 n, __u64 flags)
{
	__u64 at = bounded(n, STACK_NATIVE + 1);
	__u64 got = bounded(python_all((struct python_frames *)(frames + at), flags), STACK_PYTHON + 1);

	if (at || got)
		return at + got;
	frames[0] = python_note(PYTHON_NOT_YET);	/* user space drops it where there is no Python */
	return 1;
}

#endif
