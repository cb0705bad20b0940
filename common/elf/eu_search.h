/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The search trees of elfutils' archives.  From 0.190 on libelf.a and libdw.a call these, which some
 * builds keep in a libeu.a that Debian 13 does not ship.  `make static` takes them from here if no
 * archive has them; the tools call none of them.  Names and struct are of elfutils' lib/eu-search.h:
 * behind the root is a lock, if elfutils is built with one.  A tool reads ELF files in one thread. */
#ifndef EU_SEARCH_H
#define EU_SEARCH_H

struct search_tree {
	void *root;
};

typedef int eu_compare(const void *, const void *);

/* As tsearch(3), tfind and tdelete. */
void *eu_tsearch(const void *key, struct search_tree *tree, eu_compare *compare);
void *eu_tfind(const void *key, struct search_tree *tree, eu_compare *compare);
void *eu_tdelete(const void *key, struct search_tree *tree, eu_compare *compare);

/* Frees all nodes, and what they hold with free_node. */
void eu_tdestroy(struct search_tree *tree, void (*free_node)(void *));

/* An empty tree, and its end. */
void eu_search_tree_init(struct search_tree *tree);
void eu_search_tree_fini(struct search_tree *tree, void (*free_node)(void *));

#endif
