/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <fnmatch.h>
#include <string.h>
#include "api/match.h"
#include "api/cuda_protos.h"
#include "base/die.h"
#include "cli/opt.h"
#include "cudatrace/trace_select.h"

/* Called all the time, by libraries more than by programs, and without side effects. */
static const char *const chatter[] = {
	"__cuda*", "cudaGetDevice", "cudaGetDeviceFlags", "cudaDeviceGetAttribute",
	"cuDeviceGetAttribute", "cuDeviceGet", "cuCtxGet*", "cuCtxPushCurrent*", "cuCtxPopCurrent*",
	"cuCtxSetCurrent", "cuDevicePrimaryCtxGetState", "cudaPointerGetAttributes",
	"cuPointerGetAttribute*", "cudaFuncGetAttributes", "cuFuncGetAttribute",
	"cudaStreamIsCapturing*", "cuStreamIsCapturing*", "cudaStreamGetCaptureInfo*",
	"cuStreamGetCaptureInfo*", "cudaThreadExchangeStreamCaptureMode",
	"cuThreadExchangeStreamCaptureMode", "cudaGetDriverEntryPoint*", "cuGetProcAddress*",
	"cudaGetExportTable", "cuGetExportTable", "cudaDriverGetVersion", "cudaRuntimeGetVersion",
	"cuDriverGetVersion",
};

static bool by_default(const struct cuda_proto *p)
{
	if (p->group == CUDA_GROUP_internal || p->group == CUDA_GROUP_error ||
	    p->group == CUDA_GROUP_occupancy)
		return false;
	for (size_t i = 0; i < sizeof(chatter) / sizeof(*chatter); i++)
		if (!fnmatch(chatter[i], p->name, 0))
			return false;
	return true;
}

static const char *const groups[] = {
#define X(name) #name,
	CUDA_GROUPS(X)
#undef X
};

const char *trace_select_word(int i)
{
	static const char *const sets[] = { "all", "default" };

	if (i < CUDA_GROUP_MAX)
		return groups[i];
	i -= CUDA_GROUP_MAX;
	if (i < 2)
		return sets[i];
	i -= 2;
	return i < cuda_protos_n ? cuda_protos[i].name : NULL;
}

static int group_of(const char *word)
{
	int i = 0;

	while (i < CUDA_GROUP_MAX && strcmp(groups[i], word))
		i++;
	return i < CUDA_GROUP_MAX ? i : -1;
}

static bool matches(const char *word, const struct cuda_proto *p, int group)
{
	if (!strcmp(word, "all"))
		return true;
	if (!strcmp(word, "default"))
		return by_default(p);
	return group >= 0 ? p->group == group : match_name(p->name, word, strlen(word));
}

static bool is_set(const char *word)
{
	return !strcmp(word, "all") || !strcmp(word, "default") || group_of(word) >= 0;
}

/* Adds or removes what the word stands for; returns false if it stands for nothing. */
static bool apply(unsigned char *selected, const char *word, bool in)
{
	int group = group_of(word);
	bool found = false;

	for (int i = 0; i < cuda_protos_n; i++) {
		if (!matches(word, &cuda_protos[i], group))
			continue;
		found = true;
		selected[i] = in ? TRACE_WANTED : is_set(word) || cuda_protos[i].lib != CUDA_RT ?
			      TRACE_UNASKED : TRACE_UNWANTED;
	}
	return found;
}

static _Noreturn void unknown(const char *word)
{
	struct match_near near = { .name = word, .len = strlen(word) };
	char text[MATCH_NEAR_TEXT];

	for (int i = 0; i < cuda_protos_n; i++)
		match_near_try(&near, cuda_protos[i].name, match_plain_length(cuda_protos[i].name));
	for (int i = 0; i < CUDA_GROUP_MAX; i++)
		match_near_try(&near, groups[i], strlen(groups[i]));
	usage_error("--trace: unknown function or group '%s'%s", word,
		match_near_text(&near, text, sizeof(text)));
}

unsigned char *trace_select(const char *expression)
{
	unsigned char *selected = xcalloc(cuda_protos_n, sizeof(*selected));
	char *copy, *rest, *word;
	bool out;

	copy = rest = xstrdup(expression ? expression : "default");
	if (!strncmp(rest, "trace=", 6))
		rest += 6;
	out = *rest == '!';
	if (out)
		apply(selected, "default", true);
	while ((word = strsep(&rest, ","))) {
		bool no = *word == '!';

		if (!apply(selected, word + no, !no && !out))
			unknown(word + no);
	}
	free(copy);
	return selected;
}
