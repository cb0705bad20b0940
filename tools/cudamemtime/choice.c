/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "base/die.h"
#include "cli/opt.h"
#include "cudamemtime/choice.h"
#include "ptx/instrument.h"

struct word {
	const char *word;
	unsigned bit;
};

static const struct word spaces[] = {
	{ "global", PTX_GLOBAL }, { "shared", PTX_SHARED }, { "local", PTX_LOCAL }, { "const", PTX_CONST },
	{ "generic", PTX_GENERIC }, { "readonly", PTX_READONLY }, { "tex", PTX_TEX }, { "wait", PTX_WAIT },
	{ "all", ~0u }, { NULL, 0 },
};

static const struct word ops[] = {
	{ "load", PTX_LOAD }, { "atomic", PTX_ATOMIC }, { "store", PTX_STORE }, { "reduce", PTX_REDUCE },
	{ "wait", PTX_WAITS }, { "all", ~0u }, { NULL, 0 },
};

enum { SPACES_DEFAULT = PTX_GLOBAL | PTX_GENERIC | PTX_READONLY | PTX_TEX };

/* A dependence orders these for sure. */
enum { OPS_DEFAULT = PTX_LOAD | PTX_ATOMIC };

static unsigned read_words(const char *option, const char *list, const struct word *words)
{
	char *text = xstrdup(list), *rest = text;
	unsigned bits = 0;

	for (char *s; (s = value_word(&rest)); ) {
		const struct word *w = words;

		while (w->word && strcmp(w->word, s))
			w++;
		if (!w->word)
			usage_error("--%s: unknown word '%s'", option, s);
		bits |= w->bit;
	}
	if (!bits)
		usage_error("--%s: a word is required", option);
	free(text);
	return bits;
}

unsigned choice_spaces(const char *list)
{
	return list ? read_words("spaces", list, spaces) : SPACES_DEFAULT;
}

unsigned choice_ops(const char *list)
{
	return list ? read_words("op", list, ops) : OPS_DEFAULT;
}

const char *choice_space_word(int i)
{
	return spaces[i].word;
}

const char *choice_op_word(int i)
{
	return ops[i].word;
}
