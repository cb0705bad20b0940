/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "base/die.h"
#include "base/escape.h"
#include "cli/opt.h"
#include "cudaexporter/labels.h"
#include "proc/users.h"

static const char *const names[LABEL_MAX] = {
	[LABEL_PID] = "pid", [LABEL_COMM] = "comm", [LABEL_EXE] = "exe", [LABEL_UID] = "uid",
	[LABEL_CONTAINER] = "container_id", [LABEL_POD] = "pod_uid", [LABEL_JOB] = "slurm_job",
};

static const char *const by_words[LABEL_MAX] = {
	[LABEL_COMM] = "comm", [LABEL_UID] = "uid", [LABEL_CONTAINER] = "container", [LABEL_POD] = "pod",
	[LABEL_JOB] = "job",
};

/* Returns the index of the word in words; LABEL_MAX if it is none of them. */
static int find(const char *const words[LABEL_MAX], const char *word, size_t len)
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
		int label = find(names, word, len);

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
		l->mask = 1u << find(by_words, by, strlen(by));
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

/* What a label says of a process: one of its texts, or a number written to number. */
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

/* id is NULL for all other processes. */
static char *write_labels(const struct labels *l, int pid, const struct identity *id)
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

char *labels_text(const struct labels *l, int pid, const struct identity *id)
{
	return write_labels(l, pid, id);
}

char *labels_other(const struct labels *l)
{
	return write_labels(l, 0, NULL);
}
