/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <bpf/libbpf.h>
#include "base/die.h"
#include "probe/attach.h"
#include "probe/uretprobe.h"
#include "session/doctor_row.h"
#include "session/inject_library.h"

static const char untried[] = "cannot be tried without the privileges above";

enum verdict doctor_linux(struct doctor_row *r)
{
	struct utsname u;
	int err = attach_try(ATTACH_PERF);

	uname(&u);
	if (err == -EOPNOTSUPP || err == -ENOSYS) {
		r->text = xprintf("%s lacks BPF cookies for uprobes: Linux 5.15 or newer is required", u.release);
		return MISSING;
	}
	r->text = xprintf("Linux %s", u.release);
	return OK;
}

enum verdict check_types(struct doctor_row *r)
{
	bool there = !access("/sys/kernel/btf/vmlinux", R_OK);

	r->text = xstrdup(there ? "/sys/kernel/btf/vmlinux" : "no /sys/kernel/btf/vmlinux: mount /sys, or use "
			  "a kernel built with CONFIG_DEBUG_INFO_BTF");
	return there ? OK : MISSING;
}

/* Adds that the tool has the library for --attach inject, if so; frees text. */
static char *with_inject(char *text, bool *possible)
{
	char *why, *library = inject_library_find(&why);
	char *longer = xprintf("%s%s", text, library ? ", inject works for a command (-c)" : "");

	*possible = library;
	free(library);
	free(why);
	free(text);
	return longer;
}

enum verdict check_attach(struct doctor_row *r)
{
	char *text = xstrdup(""), *longer;
	bool inject;
	int n = 0;

	for (enum attach_kind k = ATTACH_SESSION; k <= ATTACH_PERF; k++) {
		int err = attach_try(k);

		longer = xprintf("%s%s%s %s", text, *text ? ", " : "", attach_name(k),
				 !err ? "works" : err == -EOPNOTSUPP ? "needs a newer kernel" :
				 err == -EPERM ? "is not permitted" : strerror(-err));
		free(text);
		text = longer;
		n += !err;
	}
	r->text = with_inject(text, &inject);
	return n ? OK : inject ? LIMITED : MISSING;
}

enum verdict check_buffer(struct doctor_row *r)
{
	int has = libbpf_probe_bpf_map_type(BPF_MAP_TYPE_RINGBUF, NULL);

	r->text = xstrdup(has == 1 ? "may be made" : attach_try(ATTACH_PERF) ? untried :
			  "not in this kernel: Linux 5.15 or newer is required");
	return has == 1 ? OK : MISSING;
}

enum verdict check_lockdown(struct doctor_row *r)
{
	bool may = attach_may_read();

	r->text = xstrdup(may ? "BPF programs may read memory" : attach_try(ATTACH_PERF) ?
			  untried :
			  "BPF programs may not read memory: boot with lockdown=integrity or none");
	return may ? OK : MISSING;
}

enum verdict check_returns(struct doctor_row *r)
{
	static const char *const texts[] = {
		[URETPROBE_SAFE] = "do not harm processes that have a seccomp filter",
		[URETPROBE_KILLS] = "kill processes that have a seccomp filter, as in containers: those are "
				    "left out; update the kernel (6.14 has the fix)",
		[URETPROBE_UNKNOWN] = untried,
	};
	enum uretprobe is = uretprobe_try();

	r->text = xstrdup(texts[is]);
	return is == URETPROBE_SAFE ? OK : LIMITED;
}

enum verdict check_stacks(struct doctor_row *r)
{
	bool may = libbpf_probe_bpf_map_type(BPF_MAP_TYPE_TASK_STORAGE, NULL) == 1 &&
		   libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_get_current_task_btf, NULL) == 1;

	r->text = xstrdup(may ? "of native code by unwind tables, and of Python" :
			  attach_try(ATTACH_PERF) ? untried :
			  "the kernel has no task storage for uprobes: Linux 5.15 or newer is required");
	return may ? OK : MISSING;
}
