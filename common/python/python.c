/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include <linux/bpf.h>
#include <bpf/libbpf.h>
#include "abi/bpf_names.h"
#include "base/clock.h"
#include "base/die.h"
#include "bpf/map_backend.h"
#include "proc/helper_pool.h"
#include "proc/user.h"
#include "proc/vm_read.h"
#include "python/code.h"
#include "python/interpreter.h"
#include "python/python.h"
#include "python/walk.h"

/* The limit on what programs can make the tool keep, as in the map. */
enum { MAX_PROCESSES = 16384 };

static const unsigned long long AGAIN_NS = 100 * 1000000ull;

/* A process with an interpreter, or with code that was reported. */
struct process {
	UT_hash_handle hh;
	int pid;
	unsigned user;
	struct interpreter interpreter;	/* its runtime is 0: none is known */
	unsigned long long bias;
	bool walked;		/* is is known, also to the BPF programs */
	unsigned long long tried;	/* to report them; when, ns */
	struct python_process is;
	struct code_list codes;
};

struct python {
	struct helper_pool *helpers;
	const struct bpf_map *map;	/* python_processes, or NULL */
	struct process *processes;
	struct codes codes;
	struct code_list walk;	/* of the last python_frames() */
	struct quota processes_quota;
	unsigned waiting;	/* processes not walked yet */
};

static const struct bpf_map *find_map(const struct bpf_object *obj, const char *name)
{
	const struct bpf_map *map = bpf_object__find_map_by_name(obj, name);

	return bmap_exists(map) ? map : NULL;
}

static struct shares *shares_of(const struct bpf_object *obj)
{
	struct bpf_map *map = bpf_object__find_map_by_name(obj, SECTION_PYTHON);
	size_t size = 0;
	struct python_shared *shared = map ? (struct python_shared *)bpf_map__initial_value(map, &size) : NULL;

	if (!shared || size < sizeof(*shared))
		die(0, "cannot read .data.python of the probes: libbpf does not share it");
	return &shared->codes;
}

struct python *python_new(struct helper_pool *helpers, const struct bpf_object *obj)
{
	struct python *p;

	if (obj && !find_map(obj, MAP_PYTHON_PROCESSES))
		return NULL;
	p = xcalloc(1, sizeof(*p));
	p->helpers = helpers;
	p->map = obj ? find_map(obj, MAP_PYTHON_PROCESSES) : NULL;
	codes_init(&p->codes, helpers, obj ? find_map(obj, MAP_PYTHON_CODES) : NULL, obj ? shares_of(obj) : NULL);
	p->processes_quota = (struct quota){
		.limit = MAX_PROCESSES, .what = "processes that run Python",
		.loss = "the Python frames of further ones are not shown",
	};
	return p;
}

static void stop_walking(struct python *p, struct process *at)
{
	if (at->interpreter.runtime && !at->walked)
		p->waiting--;
	if (at->walked && p->map)
		bmap_delete(p->map, &at->pid);
	at->walked = false;
	at->interpreter.runtime = 0;
}

static void forget(struct python *p, struct process *at)
{
	stop_walking(p, at);
	codes_drop(&p->codes, &at->codes);
	HASH_DEL(p->processes, at);
	quota_give(&p->processes_quota, at->user, 1);
	free(at);
}

void python_free(struct python *p)
{
	struct process *at, *next;

	if (!p)
		return;
	HASH_ITER(hh, p->processes, at, next)
		forget(p, at);
	codes_drop(&p->codes, &p->walk);
	codes_free(&p->codes);
	quota_free(&p->processes_quota);
	free(p);
}

static struct process *python_process_find(const struct python *p, int pid)
{
	struct process *at;

	HASH_FIND_INT(p->processes, &pid, at);
	return at;
}

/* Returns NULL if its user's processes are too many. */
static struct process *find_or_add(struct python *p, int pid)
{
	struct process *at = python_process_find(p, pid);
	unsigned user;

	if (at)
		return at;
	user = proc_user(pid);
	if (!quota_take(&p->processes_quota, user, pid, 1))
		return NULL;
	at = xcalloc(1, sizeof(*at));
	at->pid = pid;
	at->user = user;
	HASH_ADD_INT(p->processes, pid, at);
	return at;
}

void python_forget(struct python *p, int pid)
{
	struct process *at = p ? python_process_find(p, pid) : NULL;

	if (at)
		forget(p, at);
}

/* Reads what the interpreter says of itself; false if that fails but may succeed later. */
static bool describe(struct python *p, const struct process *at, struct python_process *value)
{
	const struct interpreter *it = &at->interpreter;
	unsigned long long where[1 + PYTHON_DEBUG_WORDS], words[1 + PYTHON_DEBUG_WORDS];
	unsigned version = it->version;

	if (it->is_old) {
		*value = (struct python_process){ .loss = PYTHON_UNSUPPORTED_OF(version) };
		return true;
	}
	where[0] = at->bias + it->version_at;
	for (int i = 0; i < PYTHON_DEBUG_WORDS; i++)
		where[1 + i] = at->bias + it->runtime + i * sizeof(*words);
	if (vm_read_words(p->helpers, at->pid, where, 1 + PYTHON_DEBUG_WORDS, words))
		return false;
	if (it->version_at)
		version = words[0] >> 16;
	*value = (struct python_process){ .runtime = at->bias + it->runtime };
	if (!layout_choose(value, version, words + 1))
		*value = (struct python_process){ .loss = PYTHON_UNSUPPORTED_OF(version ?: 3) };
	return true;
}

static void walk(struct python *p, struct process *at)
{
	if (at->tried && clock_ns() - at->tried < AGAIN_NS)
		return;
	at->tried = clock_ns();
	if (!describe(p, at, &at->is) || (p->map && bmap_update(p->map, &at->pid, &at->is, BPF_ANY)))
		return;
	at->walked = true;
	p->waiting--;
}

void python_mapping(struct python *p, int pid, const struct python_file *f, unsigned long long start,
		    unsigned long long offset)
{
	const struct interpreter *it;
	unsigned long long bias;
	struct process *at;

	if (!p)
		return;
	at = python_process_find(p, pid);
	if (at && at->interpreter.runtime && !interpreter_is_usual(f->path))
		return;
	it = interpreter_get(f->known, p->helpers, pid, f->key, f->fd);
	if (!it || !interpreter_bias(it, start, offset, &bias))
		return;
	at = find_or_add(p, pid);
	if (!at || (at->interpreter.runtime == it->runtime && at->bias == bias))
		return;
	stop_walking(p, at);
	at->interpreter = *it;
	at->bias = bias;
	at->tried = 0;
	p->waiting++;
	walk(p, at);
}

bool python_runs(const struct python *p, int pid)
{
	const struct process *at = p ? python_process_find(p, pid) : NULL;

	return at && at->interpreter.runtime;
}

void python_tick(struct python *p)
{
	if (!p || !p->waiting)
		return;
	for (struct process *at = p->processes; at; at = at->hh.next)
		if (at->interpreter.runtime && !at->walked)
			walk(p, at);
}

struct adding {
	struct python *python;
	unsigned user;
};

static void add_code(void *ctx, const struct python_code_record *r, size_t size)
{
	const struct adding *a = ctx;

	codes_add(&a->python->codes, &a->python->walk, a->user, r, size);
}

static void note_only(struct walk_frames *to, unsigned why)
{
	*to = (struct walk_frames){ .n = 1, .frame = { FRAME_NOTE_OF(NOTE_PYTHON_LOST, why) } };
}

/* The code of the walk before goes: its numbers are given again. */
bool python_frames(struct python *p, int pid, unsigned long long self, struct walk_frames *to)
{
	struct process *at = p ? python_process_find(p, pid) : NULL;
	struct adding adding = { p, at ? at->user : 0 };
	struct walk w = { .self = self, .pid = pid, .code = add_code, .ctx = &adding };

	if (!at || !at->interpreter.runtime)
		return false;
	if (!at->walked)
		walk(p, at);
	w.process = at->is;
	codes_drop(&p->codes, &p->walk);
	if (!at->walked)
		note_only(to, PYTHON_NOT_YET);
	else if (at->is.loss)
		note_only(to, at->is.loss);
	else if (walk_process(p->helpers, &w, to))
		note_only(to, PYTHON_UNREADABLE);
	return true;
}

void python_record(struct python *p, const void *data, size_t size)
{
	const struct python_code_record *r = data;
	struct process *at;

	if (!p || size < sizeof(*r))
		return;
	at = find_or_add(p, r->key.pid);
	if (at)
		codes_add(&p->codes, &at->codes, at->user, r, size);
}

const struct python_code *python_code(struct python *p, int pid, unsigned long long frame)
{
	const struct code *c = p ? codes_find(&p->codes, pid, frame) : NULL;

	return c && c->name ? &c->name->code : NULL;
}

int python_line(struct python *p, int pid, unsigned long long frame)
{
	const struct code *c = p ? codes_find(&p->codes, pid, frame) : NULL;
	unsigned unit = frame_python_unit(frame);

	if (!c)
		return 0;
	if (unit == FRAME_PYTHON_NOT_BEGUN)
		return c->key.first_line;
	return line_table_find(c->lines, c->nlines, unit);
}

/* That code is static: its file has the name of the function, and it has no lines. */
bool python_hides(const struct python_code *code, int line)
{
	return code && !line && !strcmp(code->name, "__init__") && !strcmp(code->file, code->name);
}

static void unsupported(unsigned version, char *text, size_t size)
{
	if (version >= PYTHON_FIRST && version <= PYTHON_LAST)
		snprintf(text, size, "this build of Python %u.%u is not supported", version >> 8, version & 0xff);
	else if (version > 0xff)
		snprintf(text, size, "Python %u.%u is not supported", version >> 8, version & 0xff);
	else
		snprintf(text, size, "Python %s is not supported", version == 2 ? "2" : "3.7 or older");
}

void python_loss(unsigned long long value, char *text, size_t size)
{
	static const char *const says[PYTHON_LOSSES] = {
		[PYTHON_TOO_DEEP] = "too many Python frames",
		[PYTHON_UNREADABLE] = "a Python frame cannot be read",
		[PYTHON_TOO_MANY] = "too many Python threads",
		[PYTHON_NO_MEMORY] = "no memory for the thread's Python frames",
		[PYTHON_NOT_YET] = "the interpreter was not known yet",
	};

	if ((value & 0xff) == PYTHON_UNSUPPORTED)
		unsupported(value >> 8 & 0xffff, text, size);
	else
		snprintf(text, size, "%s", value && value < PYTHON_LOSSES ? says[value] : "unknown");
}

/* Compilers append ".cold", ".constprop.0" and the like to parts of it. */
bool python_is_eval(const char *function)
{
	static const char name[] = "_PyEval_EvalFrameDefault";

	return !strncmp(function, name, sizeof(name) - 1) &&
	       (!function[sizeof(name) - 1] || function[sizeof(name) - 1] == '.');
}
