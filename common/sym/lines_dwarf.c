/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "proc/helper.h"
#include "sym/lines_dwarf.h"

enum { MAX_INLINED = 64, MAX_STRING = 4096 };

/* .debug_aranges leads to the unit; not every compiler writes it. */
static bool unit_at(Dwarf *dwarf, Dwarf_Addr addr, Dwarf_Die *unit)
{
	Dwarf_CU *cu = NULL;
	uint8_t type;

	if (dwarf_addrdie(dwarf, addr, unit))
		return true;
	while (!dwarf_get_units(dwarf, cu, &cu, NULL, &type, unit, NULL))
		if (type != DW_UT_type && dwarf_haspc(unit, addr) > 0)
			return true;
	return false;
}

static unsigned size_of(const char *text)
{
	return text && *text ? strnlen(text, MAX_STRING - 1) + 1 : 0;
}

static void put_string(struct helper_job *job, const char *text, unsigned size)
{
	if (size) {
		helper_put(job, text, size - 1);
		helper_put(job, "", 1);
	}
}

/* dir: of the compilation; put before a relative name. */
static void put(struct helper_job *job, const char *function, const char *dir, const char *file, int line,
		bool inlined)
{
	char path[MAX_STRING];
	struct lines_entry e = { .line = line > 0 ? line : 0, .inlined = inlined, .function = size_of(function) };

	if (file && *file != '/' && dir && *dir == '/') {
		snprintf(path, sizeof(path), "%s/%s", dir, file);
		file = path;
	}
	e.file = size_of(file);
	helper_put(job, &e, sizeof(e));
	put_string(job, function, e.function);
	put_string(job, file, e.file);
}

static const char *dir_of(Dwarf_Die *unit)
{
	Dwarf_Attribute attr;

	return dwarf_attr(unit, DW_AT_comp_dir, &attr) ? dwarf_formstring(&attr) : NULL;
}

static const char *name_of(Dwarf_Die *function)
{
	Dwarf_Attribute attr;
	const char *name = NULL;

	if (dwarf_attr_integrate(function, DW_AT_linkage_name, &attr) ||
	    dwarf_attr_integrate(function, DW_AT_MIPS_linkage_name, &attr))
		name = dwarf_formstring(&attr);
	return name ?: dwarf_diename(function);
}

static int number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	return dwarf_attr(die, name, &attr) && !dwarf_formudata(&attr, &value) && value <= 0x7fffffff ? value : 0;
}

/* Where an inlined function is called. */
static void call_of(Dwarf_Die *unit, Dwarf_Die *inlined, const char **file, int *line)
{
	Dwarf_Files *files;
	size_t n;
	int at = number_of(inlined, DW_AT_call_file);

	*file = !dwarf_getsrcfiles(unit, &files, &n) && (size_t)at < n ? dwarf_filesrc(files, at, NULL, NULL) : NULL;
	*line = number_of(inlined, DW_AT_call_line);
}

/* Returns the scopes around addr, from the innermost outwards, as they are nested where they are inlined. */
static int scopes_at(Dwarf_Die *unit, Dwarf_Addr addr, Dwarf_Die **scopes)
{
	Dwarf_Die *found = NULL;
	int n = dwarf_getscopes(unit, addr, &found);

	*scopes = NULL;
	if (n > 0)
		n = dwarf_getscopes_die(&found[0], scopes);
	free(found);
	return n;
}

void lines_dwarf_read(Dwarf *dwarf, Dwarf_Addr addr, struct helper_job *job)
{
	const char *file = NULL, *dir;
	Dwarf_Die unit, *scopes;
	Dwarf_Line *at;
	bool function = false;
	int line = 0, n;

	if (!unit_at(dwarf, addr, &unit)) {
		put(job, NULL, NULL, NULL, 0, false);
		return;
	}
	dir = dir_of(&unit);
	at = dwarf_getsrc_die(&unit, addr);
	if (at) {
		file = dwarf_linesrc(at, NULL, NULL);
		dwarf_lineno(at, &line);
	}
	n = scopes_at(&unit, addr, &scopes);
	for (int i = 0, inlined = 0; i < n && !function && inlined < MAX_INLINED; i++) {
		int tag = dwarf_tag(&scopes[i]);

		function = tag == DW_TAG_subprogram;
		if (!function && tag != DW_TAG_inlined_subroutine)
			continue;
		put(job, name_of(&scopes[i]), dir, file, line, !function);
		if (!function)
			call_of(&unit, &scopes[i], &file, &line);
		inlined++;
	}
	free(scopes);
	if (!function)		/* hand-written assembly has lines, but no functions */
		put(job, NULL, dir, file, line, false);
}
