/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/die.h"
#include "base/escape.h"
#include "cli/opt.h"
#include "cudaexporter/label_sets.h"
#include "proc/proc.h"
#include "proc/user.h"

static const char *const names[LABEL_MAX] = {
	[LABEL_PID] = "pid", [LABEL_COMM] = "comm", [LABEL_EXE] = "exe", [LABEL_UID] = "uid",
	[LABEL_CONTAINER] = "container_id", [LABEL_POD] = "pod_uid", [LABEL_JOB] = "slurm_job",
};

static const char *const by_words[LABEL_MAX] = {
	[LABEL_COMM] = "comm", [LABEL_UID] = "uid", [LABEL_CONTAINER] = "container", [LABEL_POD] = "pod",
	[LABEL_JOB] = "job",
};

/* Returns the index of the word in words, or LABEL_MAX. */
static int label_sets_find(const char *const words[LABEL_MAX], const char *word, size_t len)
{
	int i = 0;

	while (i < LABEL_MAX && !(words[i] && strlen(words[i]) == len && !memcmp(words[i], word, len)))
		i++;
	return i;
}

static unsigned parse_list(const char *list)
{
	unsigned mask = 0;

	for (const char *word = list; ; word++) {
		size_t len = strcspn(word, ",");
		int label = label_sets_find(names, word, len);

		if (label == LABEL_MAX)
			usage_error("--labels: unknown label '%.*s': use %s", (int)len, word, LABEL_WORDS);
		if (mask & 1u << label)
			usage_error("--labels: '%s' is given twice", names[label]);
		mask |= 1u << label;
		word += len;
		if (!*word)
			return mask;
	}
}

void labels_parse(struct labels *l, const char *list, const char *by)
{
	if (list && by)
		usage_error("--labels and --by are mutually exclusive");
	l->mask = 1 << LABEL_PID | 1 << LABEL_COMM;
	if (list)
		l->mask = parse_list(list);
	if (by)
		l->mask = 1u << label_sets_find(by_words, by, strlen(by));
	if (l->mask == 1u << LABEL_MAX)
		usage_error("--by: unknown word '%s': use %s", by, LABEL_BY_WORDS);
	l->sums = !(l->mask & 1 << LABEL_PID);
}

void label_value(FILE *f, const char *value)
{
	bool keep;
	int len;

	for (; *value; value += len) {
		len = escape_next(value, &keep);
		if (*value == '\n') {
			fputs("\\n", f);
		} else if (!keep) {
			for (int i = 0; i < len; i++)
				fprintf(f, "\\\\x%02x", (unsigned char)value[i]);
		} else {
			if (*value == '"' || *value == '\\')
				putc_unlocked('\\', f);
			fwrite_unlocked(value, 1, len, f);
		}
	}
}

/* Returns a label's value: a text of the process, or a number written to number. */
static const char *value_of(enum label label, int pid, const struct identity *id, char number[16])
{
	switch (label) {
	case LABEL_PID:
		snprintf(number, 16, "%d", pid);
		return number;
	case LABEL_UID:
		snprintf(number, 16, "%u", id->uid);
		return id->uid == USER_UNKNOWN ? "" : number;
	case LABEL_COMM: return id->comm;
	case LABEL_EXE: return id->exe;
	case LABEL_CONTAINER: return id->in.container;
	case LABEL_POD: return id->in.pod;
	default: return id->in.job;
	}
}

char *labels_text(const struct labels *l, int pid, const struct identity *id)
{
	const char *comma = "";
	char number[16], *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		die(0, "out of memory");
	for (int i = 0; i < LABEL_MAX; i++) {
		if (!(l->mask & 1u << i))
			continue;
		fprintf(f, "%s%s=\"", comma, names[i]);
		label_value(f, id ? value_of(i, pid, id, number) : "other");
		putc_unlocked('"', f);
		comma = ",";
	}
	if (fclose(f))
		die(0, "out of memory");
	return text;
}

char *label_text(const char *name, const char *value)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		die(0, "out of memory");
	fprintf(f, "%s=\"", name);
	label_value(f, value);
	fputc('"', f);
	if (fclose(f))
		die(0, "out of memory");
	return text;
}

/* The kernel's suffix for a file without a name. */
static void drop_deleted(char *path, size_t n)
{
	static const char deleted[] = " (deleted)";
	const size_t len = sizeof(deleted) - 1;

	if (n > len && !strcmp(path + n - len, deleted))
		path[n - len] = '\0';
}

/* Copies the end of a path, starting at a UTF-8 character. */
static void copy_end(char *to, const char *path, size_t size)
{
	size_t n = strlen(path);

	if (n >= size)
		path += n - (size - 1);
	while (n >= size && (*path & 0xc0) == 0x80)
		path++;
	memcpy(to, path, strlen(path) + 1);
}

static void read_exe(int pid, char exe[IDENTITY_EXE])
{
	char path[PATH_MAX];
	const size_t n = proc_exe(pid, path, sizeof(path));

	if (!n)
		return;
	drop_deleted(path, n);
	copy_end(exe, path, IDENTITY_EXE);
}

void identity_read(int pid, struct identity *id)
{
	*id = (struct identity){ .uid = proc_real_user(pid) };
	if (!proc_comm(pid, id->comm))
		*id->comm = '\0';
	read_exe(pid, id->exe);
	cgroup_names(pid, &id->in);
}

/* How long the counters of an ended process stay: for PAGES pages, of which one may show their start at 0, but
 * LEAST_NS at least and STAYS_NS at most. */
enum { PAGES = 3 };
static const unsigned long long STAYS_NS = 300 * 1000000000ull, LEAST_NS = 30 * 1000000000ull;

void label_sets_init(struct label_sets *l, struct series_table *table, long most)
{
	l->table = table;
	l->quota = (struct quota){
		.limit = 2 * most, .what = "processes", .loss = "further ones are counted as \"other\"",
	};
}

static struct label_set *label_set_new(struct label_sets *l, char *labels, unsigned user, int pid)
{
	struct label_set *set = xcalloc(1, sizeof(*set));

	set->table = l->table;
	set->labels = labels;
	set->user = user;
	set->pid = pid;
	HASH_ADD_KEYPTR(hh, l->all, set->labels, strlen(set->labels), set);
	return set;
}

static void label_set_free(struct label_sets *l, struct label_set *set)
{
	series_drop_set(set);
	HASH_DEL(l->all, set);
	if (set == l->other)
		l->other = NULL;
	if (!set->other)
		quota_give(&l->quota, set->user, 1);
	free(set->labels);
	free(set);
}

static struct label_set *other_set(struct label_sets *l, unsigned user, int pid)
{
	char *labels;

	if (l->other)
		return l->other;
	labels = labels_text(&l->labels, 0, NULL);
	HASH_FIND(hh, l->all, labels, strlen(labels), l->other);
	if (l->other) {		/* a process is called "other" */
		free(labels);
		return l->other;
	}
	l->other = label_set_new(l, labels, user, pid);
	l->other->other = true;
	return l->other;
}

/* Frees the user's set that ended first, if that was five minutes ago. */
static void evict(struct label_sets *l, unsigned user)
{
	struct label_set *set, *first = NULL;

	for (set = l->all; set; set = set->hh.next)
		if (set->ended && !set->members && !set->other && set->user == user &&
		    clock_ns() - set->ended > STAYS_NS && (!first || set->ended < first->ended))
			first = set;
	if (first)
		label_set_free(l, first);
}

static bool take_room(struct label_sets *l, unsigned user, int pid)
{
	if (!quota_fits(&l->quota, user, 1))
		evict(l, user);
	return quota_take(&l->quota, user, pid, 1);
}

/* The number of sets is limited, not of the processes in a set. */
struct label_set *label_sets_join(struct label_sets *l, int pid, unsigned user, const struct identity *id)
{
	char *labels = labels_text(&l->labels, pid, id);
	struct label_set *set;

	HASH_FIND(hh, l->all, labels, strlen(labels), set);
	if (set) {
		free(labels);
	} else if (take_room(l, user, pid)) {
		set = label_set_new(l, labels, user, pid);
	} else {
		free(labels);
		l->dropped++;
		set = other_set(l, user, pid);
	}
	set->processes++;
	set->members++;
	set->ended = 0;
	return set;
}

void label_sets_end(struct label_set *set)
{
	if (--set->processes)
		return;
	set->ended = clock_ns();
	memset(set->pages, 0, sizeof(set->pages));
}

void label_sets_leave(struct label_set *set)
{
	set->members--;
}

void label_sets_take_back(struct label_sets *l, struct label_set *set)
{
	label_sets_end(set);
	label_sets_leave(set);
	if (!set->members && !set->other && (!l->labels.sums || LIST_EMPTY(&set->series)))
		label_set_free(l, set);
}

bool label_sets_stayed(unsigned long long ended, const unsigned char pages[SCRAPERS], unsigned active)
{
	if (!ended)
		return false;
	if (clock_ns() - ended > STAYS_NS)
		return true;
	if (clock_ns() - ended < LEAST_NS)
		return false;
	for (int i = 0; i < SCRAPERS; i++)
		if (active & 1 << i && pages[i] < PAGES)
			return false;
	return active;
}

void label_sets_paged(struct label_sets *l, unsigned scraper, unsigned active)
{
	struct label_set *set, *next;

	HASH_ITER(hh, l->all, set, next) {
		if (set->ended && scraper < SCRAPERS && set->pages[scraper] < PAGES)
			set->pages[scraper]++;
		if (!set->other && !set->members && !l->labels.sums && label_sets_stayed(set->ended, set->pages, active))
			label_set_free(l, set);
	}
}

void label_sets_free(struct label_sets *l)
{
	struct label_set *set, *next;

	HASH_ITER(hh, l->all, set, next)
		label_set_free(l, set);
	quota_free(&l->quota);
}
