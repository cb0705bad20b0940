/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers for Python's code objects.  What a new one is called is read and sent in the traced thread,
 * as the process may end at once. */
#ifndef PYTHON_CODE_BPF_H
#define PYTHON_CODE_BPF_H
#include "lib/records.bpf.h"
#include "lib/shares.bpf.h"
#include "abi/python.h"

/* Frames follow each other in memory from 3.11 on: several are read at once, as the copying costs less
 * than its start.  A power of two. */
enum { PYTHON_STACK_BYTES = 1024 };

/* Words of a file name's object, and with those of a line table's, that are compared. */
enum { PYTHON_TEXT = 16, PYTHON_CONTENT = PYTHON_TEXT + 4 };

/* What is kept of a thread: its state in the only interpreter, and what is being read. */
struct python_thread {
	__u64 interp, state;
	__u64 self, next;	/* pthread_self(); the frame to read next */
	__u32 n, left;
	bool torn;		/* the list of threads was being changed */
	struct python_code_key key;
	__u64 name, lines;	/* addresses of two things in the code object */
	__u64 word;		/* read last */
	__u64 from, end;	/* what memory is in stack */
	__u8 stack[PYTHON_STACK_BYTES + PYTHON_FRAME_BYTES];
	__u8 code[PYTHON_CODE_BYTES];
	__u64 content[PYTHON_CONTENT];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, PYTHON_CODES);
	__type(key, struct python_code_key);
	__type(value, struct python_code_value);
} python_codes SEC(".maps");

/* User space gives back what it deletes.  Not static: libbpf shares with user space only sections in which
 * something is global, and newer ones do not even give access to the others (1.7). */
struct python_shared python_shared SEC(".data.python");

/* What is at an offset of a frame or code object that was read.  User space has checked the offsets;
 * the verifier has not. */
#define python_word(bytes, at) (*(__u64 *)&(bytes)[(at) & (sizeof(bytes) - 8)])
#define python_half(bytes, at) (*(__u32 *)&(bytes)[(at) & (sizeof(bytes) - 4)])
#define python_byte(bytes, at) ((bytes)[(at) & (sizeof(bytes) - 1)])

/* A word of the program's memory, by way of the thread's data, as the stack is small; 0 if it cannot be
 * read. */
static __always_inline __u64 python_read(struct python_thread *t, __u64 at)
{
	if (bpf_probe_read_user(&t->word, sizeof(t->word), (void *)at))
		t->word = 0;
	return t->word;
}

/* Reads a string: only compact ones, which all are but those of subclasses of str. */
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

/* A number not given before; 0 if other threads always were faster.  (Before -mcpu=v3 there is no addition
 * that returns a value.) */
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

/* Numbers the code object, unless another thread was first: the record comes before any that needs
 * it, as its place in the ring buffer is taken already. */
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

/* Numbers and sends the code object t->key, which is in t->code.  Not static: the verifier looks at it
 * once. */
__noinline int python_code_new(const struct python_process *p, struct python_thread *t)
{
	__u64 size;

	if (!p || !t)	/* never: but the verifier does not know */
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

/* Tells a code object from a later one for which the same memory was allocated: exec() in a loop gets
 * the same addresses again and again, for its strings, too.  From 3.12 on each has its own version;
 * before, compares what tells where it was compiled from: how long the file's name and the line table are,
 * and how they begin. */
static __always_inline __u64 python_tag(const struct python_process *p, struct python_thread *t)
{
	__u64 file = python_word(t->code, p->at.code_file), tag, at, first, end;
	__u32 state;

	tag = t->name * 0x9e3779b97f4a7c15 + t->lines * 0xc2b2ae3d27d4eb4f;
	if (p->at.version >= 0x030c)
		return tag + python_half(t->code, p->at.code_version);
	__builtin_memset(t->content, 0, sizeof(t->content));
	at = file + p->at.text_length;	/* may end with its page */
	if (bpf_probe_read_user(t->content, PYTHON_TEXT * 8, (void *)at))
		bpf_probe_read_user(t->content, 7 * 8, (void *)at);
	bpf_probe_read_user(t->content + PYTHON_TEXT, 4 * 8, (void *)(t->lines + p->at.bytes_size));
	state = t->content[2] >> (p->at.text_kind & 31);
	first = (state & 16 ? p->at.text_ascii : p->at.text_compact) - p->at.text_length;
	end = first + t->content[0] * (state & 7);
	/* only what does not change: no hashes, nor what follows */
	for (__u32 i = 1; i < PYTHON_TEXT; i++)
		if (i * 8 < first || i * 8 >= end)
			t->content[i] = 0;
	t->content[PYTHON_TEXT + 1] = 0;
	if (t->content[PYTHON_TEXT] < 8)
		t->content[PYTHON_TEXT + 3] = 0;
	for (int i = 0; i < PYTHON_CONTENT; i++)
		tag = (tag ^ t->content[i]) * 0x9e3779b97f4a7c15;
	return tag;
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
	return value ? value->number : 0;
}

#endif
