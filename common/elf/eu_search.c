/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The search trees of elfutils' archives.  From 0.190 on libelf.a and libdw.a call these, which some
 * builds keep in a libeu.a that Debian 13 does not ship.  `make static` takes them from here if no
 * archive has them; the tools call none of them.  Names and struct are of elfutils' lib/eu-search.h:
 * behind the root is a lock, if elfutils is built with one.  A tool reads ELF files in one thread. */
#define _GNU_SOURCE
#include <search.h>
#include <stddef.h>

struct search_tree {
	void *root;
};

typedef int eu_compare(const void *, const void *);

void *eu_tsearch(const void *key, struct search_tree *tree, eu_compare *compare)
{
	return tsearch(key, &tree->root, compare);
}

void *eu_tfind(const void *key, struct search_tree *tree, eu_compare *compare)
{
	return tfind(key, &tree->root, compare);
}

void *eu_tdelete(const void *key, struct search_tree *tree, eu_compare *compare)
{
	return tdelete(key, &tree->root, compare);
}

void eu_tdestroy(struct search_tree *tree, void (*free_node)(void *))
{
	tdestroy(tree->root, free_node);
	tree->root = NULL;
}

void eu_search_tree_init(struct search_tree *tree)
{
	tree->root = NULL;
}

void eu_search_tree_fini(struct search_tree *tree, void (*free_node)(void *))
{
	eu_tdestroy(tree, free_node);
}
