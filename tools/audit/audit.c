/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the dynamic linker calls. */
#define _GNU_SOURCE
#include <link.h>
#include "audit/audit.h"

#define EXPORTED __attribute__((visibility("default")))

struct audit audit;
__thread struct audit_here audit_here;
__thread struct audit_now audit_now;

/* The interface has not changed in what is used here; without a tool, the linker drops the library. */
EXPORTED unsigned la_version(unsigned version)
{
	return environment(&audit) ? version : 0;
}

/* No object is audited: the linker has nothing to tell of what it binds. */
EXPORTED unsigned la_objopen(struct link_map *map, Lmid_t lmid, uintptr_t *cookie)
{
	(void)lmid;
	*cookie = (uintptr_t)map;
	changes_note(&audit, map->l_name);
	if (audit.connection != REFUSED)
		bind_object(&audit, map);
	return 0;
}

EXPORTED void la_activity(uintptr_t *cookie, unsigned flag)
{
	(void)cookie;
	if (flag == LA_ACT_CONSISTENT && audit.connection == CONNECTED)
		changes_tell_loaded(&audit);
}

EXPORTED unsigned la_objclose(uintptr_t *cookie)
{
	stubs_close(&audit, *cookie);
	audit.changes = true;
	return 0;
}
