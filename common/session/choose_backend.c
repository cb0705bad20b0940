/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include <unistd.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include "base/die.h"
#include "cli/opt.h"
#include "proc/pid_ns.h"
#include "session/inject.h"
#include "session/session.h"
#include "session/choose_backend.h"

/* libbpf looks for BTF in several places. */
static void check_types(struct failure *f)
{
	struct btf *btf = NULL;

	if (!access("/sys/kernel/btf/vmlinux", R_OK))
		return;
	btf = btf__load_vmlinux_btf();
	if (!btf)
		failure_set(f, EXIT_FAILURE, 0, "no kernel type information (BTF) in /sys/kernel/btf/vmlinux: the kernel was "
			    "built without CONFIG_DEBUG_INFO_BTF, or /sys is not mounted");
	btf__free(btf);
}

/* Probes report PIDs of the initial namespace. */
static void check_pid_ns(struct failure *f)
{
	if (!pid_ns_is_initial())
		failure_set(f, EXIT_FAILURE, 0, "running in a PID namespace (container): kernel PIDs cannot be resolved; run "
			    "on the host or with docker run --pid=host");
}

static enum attach_kind choose_kernel(const struct session *t, struct failure *f)
{
	enum attach_kind kind = attach_choose(t->attach, f);

	if (!f->text)
		check_pid_ns(f);
	if (!f->text)
		check_types(f);
	return f->text ? ATTACH_AUTO : kind;
}

static void inject(struct session *t, char *library)
{
	t->inject = xcalloc(1, sizeof(*t->inject));
	t->inject->session = t;
	t->helpers.by_name = true;
	t->inject->library = library;
	t->probes.attacher.kind = ATTACH_INJECT;
}

static void choose(struct session *t)
{
	struct failure f = { 0 };
	char *library = NULL, *why;

	if (t->attach == ATTACH_INJECT && !t->command)
		usage_error("--attach inject: it traces a command only, not running processes: use --command or -- CMD");
	if (t->attach != ATTACH_INJECT)
		t->probes.attacher.kind = choose_kernel(t, &f);
	if (t->probes.attacher.kind)
		return;
	if (t->attach == ATTACH_INJECT || (t->command && !t->attach))
		why = inject_refusal(t, &library);
	else
		failure_die(&f);
	if (why && t->attach == ATTACH_INJECT)
		die(0, "--attach inject: %s", why);
	if (why) {
		warning(0, "--attach inject is not possible either: %s", why);
		failure_die(&f);
	}
	if (f.text)
		note("using --attach inject: %s", f.text);
	free(f.text);
	inject(t, library);
}

void session_choose_backend(struct session *t)
{
	choose(t);
	if (t->verbose)
		note("attaching with %s", attach_name(t->probes.attacher.kind));
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL & ~LIBBPF_STRICT_AUTO_RLIMIT_MEMLOCK);
}
