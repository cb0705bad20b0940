// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#define _GNU_SOURCE
#include "ptx/sites.h"
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 8, FILES = 65535 };

/* Reads a decimal number at *p, which is set behind it. */
static bool number(char **p, unsigned *n)
{
	char *s = *p;

	for (*n = 0; *s >= '0' && *s <= '9'; s++) {
		if (*n > (UINT_MAX - 9) / 10)
			return false;
		*n = *n * 10 + (unsigned)(*s - '0');
	}
	if (s == *p)
		return false;
	*p = s;
	return true;
}

static bool whole_number(char *p, unsigned *n)
{
	return number(&p, n) && !*p;
}

/* Splits a line at its tabs; returns how many parts there are, max + 1 if more. */
static int split(char *line, char **column, int max)
{
	int n = 0;

	for (char *p = line; p; n++) {
		if (n == max)
			return max + 1;
		column[n] = strsep(&p, "\t");
	}
	return n;
}

/* 1:20,2:7 */
static bool read_locs(struct site *site, char *p)
{
	while (site->num_locs < SITE_LOCS) {
		unsigned *file = &site->locs[site->num_locs].file, *line = &site->locs[site->num_locs].line;

		if (!number(&p, file) || *p++ != ':' || !number(&p, line))
			return false;
		if (*file || *line)
			site->num_locs++;
		if (!*p)
			return true;
		if (*p++ != ',')
			return false;
	}
	return false;
}

static const char *read_site(struct sites *sites, char *line)
{
	struct site *site = &sites->site[sites->num];
	char *column[COLUMNS];
	unsigned id;

	if (split(line, column, COLUMNS) != COLUMNS)
		return "a site without its eight columns";
	if (!whole_number(column[1], &id) || id != sites->num)
		return "a site out of order";
	if (!read_locs(site, column[2]))
		return "a site with a bad place";
	if (!whole_number(column[7], &site->bytes))
		return "a site with a bad size";
	site->kernel = column[3];
	site->kind = column[4];
	site->space = column[5];
	site->op = column[6];
	sites->num++;
	return NULL;
}

static const char *sites_read_file(struct sites *sites, char *line)
{
	char *column[3], *path;
	unsigned id;
	size_t n;

	if (split(line, column, 3) != 3 || !whole_number(column[1], &id) || id > FILES)
		return "a file with a bad number";
	path = column[2];
	n = strlen(path);
	if (n < 2 || *path != '"' || path[n - 1] != '"')
		return "a file without a path";
	path[n - 1] = 0;
	if (id >= sites->num_files) {
		unsigned num = id + 1 > sites->num_files * 2 ? id + 1 : sites->num_files * 2;
		const char **files = realloc(sites->files, num * sizeof(*files));

		if (!files)
			return "out of memory";
		memset(files + sites->num_files, 0, (num - sites->num_files) * sizeof(*files));
		sites->files = files;
		sites->num_files = num;
	}
	sites->files[id] = path + 1;
	return NULL;
}

static bool is_cudas_own(const char *path)
{
	const char *targets = strstr(path, "/targets/"), *cuda = strstr(path, "/cuda");

	return (targets && strstr(targets, "/include/")) || (cuda && strstr(cuda, "/include/")) ||
	       !strncmp(path, "/usr/include/", strlen("/usr/include/"));
}

/* Sets the innermost location outside CUDA's own headers, or else the innermost with a known file. */
static void find_source(const struct sites *sites, struct site *site)
{
	for (unsigned i = 0; i < site->num_locs; i++) {
		unsigned id = site->locs[i].file;
		const char *file = id < sites->num_files ? sites->files[id] : NULL;
		bool own = file && is_cudas_own(file);

		if (!file || (own && site->file))
			continue;
		site->file = file;
		site->line = site->locs[i].line;
		if (!own)
			break;
	}
}

static unsigned count_sites(const char *text)
{
	unsigned n = 0;

	for (const char *p = text; p; p = strchr(p, '\n')) {
		p += *p == '\n';
		n += *p == 'S';
	}
	return n;
}

const char *sites_read(struct sites *sites, const char *text, size_t size)
{
	const char *why = NULL;
	char *rest, *line;

	memset(sites, 0, sizeof(*sites));
	sites->text = strndup(text, size);	/* up to the 0 that ends the variable */
	if (!sites->text)
		return "out of memory";
	if (count_sites(sites->text) > SITES_MAX)
		return "more sites than a table has";
	sites->site = calloc(count_sites(sites->text) + 1u, sizeof(*sites->site));
	if (!sites->site)
		return "out of memory";
	for (rest = sites->text; !why && (line = strsep(&rest, "\n")); ) {
		if (*line == 'S')
			why = read_site(sites, line);
		else if (*line == 'F')
			why = sites_read_file(sites, line);
		else if (*line)
			why = "a line that is neither a site nor a file";
	}
	for (unsigned i = 0; !why && i < sites->num; i++)
		find_source(sites, &sites->site[i]);
	return why;
}

void sites_free(struct sites *sites)
{
	free(sites->site);
	free(sites->files);
	free(sites->text);
	memset(sites, 0, sizeof(*sites));
}
