/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/die.h"
#include "cli/row.h"
#include "session/doctor.h"
#include "session/doctor_row.h"

static enum verdict check_bpftrace(struct doctor_row *r)
{
	char *path = xstrdup(getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin"), *rest = path, *dir;

	while (!r->text && (dir = strsep(&rest, ":"))) {
		char *file = xprintf("%s/bpftrace", *dir ? dir : ".");

		if (!access(file, X_OK))
			r->text = file;
		else
			free(file);
	}
	free(path);
	if (r->text)
		return OK;
	r->text = xstrdup("not found: only cudabt needs it (package bpftrace)");
	return LIMITED;
}

OUT_WORD(row_type, "check");

static const struct field fields[] = {
	{ "type", NULL, 0, &row_type, 0 },	/* what this machine can do, with --check */
	{ "check", "CHECK", -14, OUT_STR, offsetof(struct doctor_row, check) },	/* what was checked */
	{ "verdict", "VERDICT", -8, OUT_STR, offsetof(struct doctor_row, verdict) },	/* ok, limited or missing */
	{ "text", "WHAT", -4, OUT_STR, offsetof(struct doctor_row, text) },	/* what was found, or what to do */
	{ 0 }
};

static const struct { const char *name; enum verdict (*fn)(struct doctor_row *r); } checks[] = {
	{ "kernel", doctor_linux }, { "BTF", check_types }, { "privileges", check_privileges },
	{ "processes", doctor_processes }, { "attaching", check_attach }, { "ring buffer", check_buffer },
	{ "lockdown", check_lockdown }, { "return probes", check_returns }, { "stacks", check_stacks },
	{ "cgroups", check_cgroups },
	{ "CUDA", check_cuda }, { "bpftrace", check_bpftrace },
};

int check_machine(struct helper_pool *l, const struct filter_options *filter)
{
	static const char *const verdicts[] = { "ok", "limited", "missing" };
	enum verdict worst = OK;
	struct doctor_row row = { .helpers = l, .filter = filter };
	char *why = filter_read(filter, &row.selected);

	row.no_filter = why;
	out_head(fields);
	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++) {
		enum verdict v;

		row.check = checks[i].name;
		row.text = NULL;
		v = checks[i].fn(&row);
		row.verdict = verdicts[v];
		out_row(fields, &row);
		worst = v > worst ? v : worst;
		free(row.text);
	}
	free(why);
	return worst == MISSING ? EXIT_FAILURE : EXIT_SUCCESS;
}
