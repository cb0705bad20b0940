/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Fuzzes a cudabt program. */
#include "cudabt/bt_translate.h"
#include "api/cuda_protos.h"
#include "fuzz.h"

/* Returns every nth function, as those of a file that the traced program has mapped. */
static int *some_functions(int nth, int *n)
{
	int *ids = malloc(cuda_protos_n * sizeof(*ids));

	*n = 0;
	for (int id = 0; id < cuda_protos_n; id += nth)
		ids[(*n)++] = id;
	return ids;
}

static void check_error(const struct bt_script *s)
{
	CHECK(s->error.at >= s->text && s->error.at <= s->text + s->len);
	CHECK(*s->error.what && strlen(s->error.what) < sizeof(s->error.what));
}

static void check_script(const struct bt_script *s)
{
	CHECK(strlen(s->out) == s->out_len && s->nprobes >= 0);
	CHECK(!s->notes || s->notes[strlen(s->notes) - 1] == '\n');
	CHECK(!s->nprobes || strstr(s->out, "probe:/lib/libcud"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct bt_file files[] = { { .path = "/lib/libcuda.so.1" }, { .path = "/lib/libcudart.so" } };
	struct bt_script s = { .files = files, .nfiles = take(&in, 1) % 3 };
	int *ids[] = { some_functions(1, &files[0].n), some_functions(7, &files[1].n) };

	files[0].ids = ids[0];
	files[1].ids = ids[1];
	if (take(&in, 1) & 1) {
		s.condition = "$cudabt_traced";
		s.statements = "$cudabt_traced = pid == 1;";
	}
	s.text = (const char *)in.at;
	s.len = in.left;
	if (!bt_analyze(&s)) {
		check_error(&s);
	} else {
		CHECK(!s.out && !s.error.at);
		if (bt_translate(&s))
			check_script(&s);
		else
			check_error(&s);
	}
	bt_script_free(&s);
	free(ids[0]);
	free(ids[1]);
	return 0;
}
