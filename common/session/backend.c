/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <bpf/libbpf.h>
#include "base/die.h"
#include "base/failure.h"
#include "session/backend.h"
#include "session/session.h"

#define KERNEL(word, attach_kind) {								\
	.name = word, .kind = attach_kind, .kernel = true, .suits = kernel_suits, .refuse = kernel_refuse,	\
	.load = kernel_load, .attach = kernel_attach,			\
	.serve = kernel_serve, .tick = session_tick, .signal = kernel_signal, .detach = kernel_detach }

#define INJECT(which, ...) {									\
	.name = "inject", .kind = ATTACH_INJECT, .suits = which##_suits, .refuse = which##_refuse, \
	.load = inject_load, .open = inject_open, .attach = inject_attach, .begin = inject_begin, \
	.serve = inject_serve, .tick = session_tick, .signal = inject_signal, .detach = inject_detach, \
	__VA_ARGS__ }

/* In the order in which they are tried: by what a call costs, and then by what they see. */
static const struct backend backends[] = {
	{ .name = "gpuprobe", .reads_late = true, .suits = gpu_suits, .refuse = gpu_refuse,
	  .begin = gpu_begin, .serve = gpu_serve, .signal = gpu_signal,
	  .drain = gpu_drain, .detach = gpu_detach },
	INJECT(resident),
	KERNEL("session", ATTACH_SESSION),
	KERNEL("multi", ATTACH_MULTI),
	KERNEL("perf", ATTACH_PERF),
	INJECT(inject, .falls_back = true),
};

static void die_if_wanted(const struct backend *b, const struct session *t, struct failure *f)
{
	char *text = f->text;

	if (!t->attach)
		return;
	f->text = xprintf("--attach %s: %s", b->name, text);
	free(text);
	failure_die(f);
}

void session_choose_backend(struct session *t)
{
	const size_t n = sizeof(backends) / sizeof(*backends);
	struct failure why = { 0 };	/* the last one was refused */

	libbpf_set_strict_mode(LIBBPF_STRICT_ALL & ~LIBBPF_STRICT_AUTO_RLIMIT_MEMLOCK);
	for (const struct backend *b = backends; b < backends + n && !t->backend; b++) {
		struct failure f = { 0 };

		if (!b->suits(b, t))
			continue;
		b->refuse(b, t, &f);
		if (!f.text) {
			t->backend = b;
			t->probes.attacher.kind = b->kind;
			if (b->falls_back && why.text)
				note("using --attach %s: %s", b->name, why.text);
			continue;
		}
		die_if_wanted(b, t, &f);
		if (b->falls_back && why.text) {	/* what was wanted first is what is to be mended */
			warning(0, "not using --attach %s either: %s", b->name, f.text);
			free(f.text);
			continue;
		}
		if (t->verbose)
			note("not using --attach %s: %s", b->name, f.text);
		free(why.text);
		why = f;
	}
	if (!t->backend)
		failure_die(&why);
	free(why.text);
	if (t->verbose)
		note("attaching with %s", t->backend->name);
}
