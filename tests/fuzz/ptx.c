/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Fuzzes PTX: its reader, the probes that are put into it, the table of sites.  The first byte says what the input is:
 * a module (with options in the second), a probe, a table. */
#include <string.h>
#include "ptx/instrument.h"
#include "ptx/probe.h"
#include "ptx/ptx.h"
#include "ptx/sites.h"
#include "memtime_hist.ptx.h"
#include "memtime_stage.ptx.h"
#include "fuzz.h"

/* All texts together are the input, and no part lies outside of it. */
static void read_statements(const char *text, size_t size)
{
	struct ptx_reader reader = { text, text + size, 0 };
	const char *at = text;
	struct ptx_stmt stmt;
	struct ptx_insn insn;
	bool more;

	do {
		more = ptx_next(&reader, &stmt);
		CHECK(stmt.text.s == at && stmt.body.s >= at);
		at += stmt.text.n;
		CHECK(stmt.body.s + stmt.body.n == at && at <= text + size);
		CHECK(stmt.depth >= 0 && reader.depth >= 0 && (!more || stmt.text.n));
		if (stmt.kind != PTX_INSN || !ptx_insn_parse(stmt.body, &insn))
			continue;
		CHECK(insn.n >= 0 && insn.n <= PTX_OPERANDS && insn.op.n);
		for (int i = 0; i < insn.n; i++)
			CHECK(insn.arg[i].s >= stmt.body.s && insn.arg[i].s + insn.arg[i].n <= at);
	} while (more);
	CHECK(at == text + size);
}

static void check_sites(const char *text, size_t size, unsigned want)
{
	struct sites sites;
	const char *why = sites_read(&sites, text, size);

	CHECK(!why && sites.num == want);
	for (unsigned i = 0; i < sites.num; i++)
		CHECK(sites.site[i].num_locs <= SITE_LOCS && *sites.site[i].kind && *sites.site[i].op);
	sites_free(&sites);
}

static void any_module(const char *text, size_t size, unsigned options)
{
	struct instrument in = { .scheme = (enum ptx_scheme)(options & 3), .spaces = 255, .ops = 31, .groups = 2, .limit = 4,
				 .call_above = options & 4 ? 1 : 0, .max_sites = options & 8 ? 3 : 0 };
	struct instrumented out, again;
	struct gpu_probe probe;
	const char *probe_text = options & 16 ? memtime_stage_ptx : memtime_hist_ptx;

	read_statements(text, size);
	CHECK(!gpu_probe_read(&probe, probe_text, strlen(probe_text)));
	in.probe = &probe;
	if (instrument_list(&out, text, size, &in) == INSTRUMENT_DONE)
		check_sites(out.text, out.size, out.sites);
	free(out.text);
	if (instrument(&out, text, size, &in) == INSTRUMENT_DONE) {
		CHECK(out.sites && out.text[out.size] == 0);
		/* what comes out can be read, and the same comes out again */
		read_statements(out.text, out.size);
		CHECK(instrument(&again, text, size, &in) == INSTRUMENT_DONE);
		CHECK(again.size == out.size && !memcmp(again.text, out.text, out.size));
		free(again.text);
	}
	free(out.text);
}

static void any_probe(const char *text, size_t size)
{
	static const char module[] =
		".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {\n.reg .b32 %r<2>;\n"
		".reg .b64 %rd<2>;\nld.param.u64 %rd1, [p];\nld.global.u32 %r1, [%rd1];\nst.global.u32 [%rd1+4], %r1;\nret;\n}\n";
	struct gpu_probe probe;
	struct instrument in = { .probe = &probe, .spaces = 255, .ops = 31, .groups = 2, .limit = 4 };
	struct instrumented out;

	if (gpu_probe_read(&probe, text, size))
		return;
	for (in.call_above = 0; in.call_above < 2; in.call_above++) {
		enum instrument_result result = instrument(&out, module, sizeof(module) - 1, &in);

		CHECK(result == INSTRUMENT_DONE || result == INSTRUMENT_NO_SITES);
		free(out.text);
	}
}

static void any_table(const char *text, size_t size)
{
	struct sites sites;

	sites_read(&sites, text, size);
	for (unsigned i = 0; i < sites.num; i++)
		CHECK(sites.site[i].num_locs <= SITE_LOCS);
	sites_free(&sites);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	unsigned kind = (unsigned)take(&in, 1), options = (unsigned)take(&in, 1);
	char *text = malloc(in.left ? in.left : 1);	/* its end is where reading is noticed */

	memcpy(text, in.at, in.left);
	if (kind == 'P')
		any_probe(text, in.left);
	else if (kind == 'T')
		any_table(text, in.left);
	else
		any_module(text, in.left, options);
	free(text);
	return 0;
}
