/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the dynamic linker calls. */
#define _GNU_SOURCE
#include <link.h>
#include "inject/inject.h"

#define EXPORTED __attribute__((visibility("default")))

struct injected injected;
__thread struct inject_here inject_here;
__thread struct inject_now inject_now;

/* The interface has not changed in what is used here; without a tool, the linker drops the library. */
EXPORTED unsigned la_version(unsigned version)
{
	return environment(&injected) ? version : 0;
}

/* No object is audited: the linker has nothing to tell of what it binds. */
EXPORTED unsigned la_objopen(struct link_map *map, Lmid_t lmid, uintptr_t *cookie)
{
	(void)lmid;
	*cookie = (uintptr_t)map;
	changes_note(&injected, map->l_name);
	if (injected.connection != REFUSED)
		bind_object(&injected, map);
	return 0;
}

EXPORTED void la_activity(uintptr_t *cookie, unsigned flag)
{
	(void)cookie;
	if (flag == LA_ACT_CONSISTENT && injected.connection == CONNECTED)
		changes_tell_loaded(&injected);
}

EXPORTED unsigned la_objclose(uintptr_t *cookie)
{
	stubs_close(&injected, *cookie);
	injected.changes = true;
	return 0;
}
