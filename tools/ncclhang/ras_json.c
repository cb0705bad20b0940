/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Answer of NCCL 2.28.7 and later: rasDumpCommsToJSON(), in its src/ras/client_support.cc. */
#include <ctype.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "base/die.h"
#include "ncclhang/ras_read.h"

/* NCCL 2.28.7 and 2.28.9 leave out the comma after this one's number if it is that of a missing rank. */
static void put_commas(char *text)
{
	static const char key[] = "\"nvml_dev\": ";

	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		line += strspn(line, " ");
		if (!strncmp(line, key, strlen(key)) && isdigit((unsigned char)end[-1]))
			*end = ',';
	}
}

/* NCCL prints it by the program's locale. */
static void put_decimal_point(char *text)
{
	static const char key[] = "\"collection_time_sec\": ";
	char *at = strstr(text, key);

	if (!at)
		return;
	at += strlen(key);
	at += strspn(at, "0123456789");
	if (*at == ',' && isdigit((unsigned char)at[1]))
		*at = '.';
}

static void ras_json_find_version(const char *text, struct ras *r)
{
	static const char key[] = "\"nccl_version\": \"";
	const char *at = strstr(text, key);

	if (!at || !ras_take_version(r->version, at + strlen(key)))
		*r->version = '\0';
}

/* Get a number from min to INT_MAX, a number from 0, a bool.  Return false if the object has none of this name. */
static bool get_int(const json_t *object, const char *key, int min, int *value)
{
	const json_t *json = json_object_get(object, key);
	json_int_t n = json_integer_value(json);

	if (!json_is_integer(json) || n < min || n > INT_MAX)
		return false;
	*value = n;
	return true;
}

static bool get_count(const json_t *object, const char *key, unsigned long long *value)
{
	const json_t *json = json_object_get(object, key);
	json_int_t n = json_integer_value(json);

	if (!json_is_integer(json) || n < 0)
		return false;
	*value = n;
	return true;
}

static bool get_bool(const json_t *object, const char *key, bool *value)
{
	const json_t *json = json_object_get(object, key);

	*value = json_is_true(json);
	return json_is_boolean(json);
}

/* "0xae94423cfbb2ef4a" */
static bool get_hash(const json_t *object, unsigned long long *value)
{
	const char *text = json_string_value(json_object_get(object, "hash"));
	size_t digits;

	if (!text || strncmp(text, "0x", 2))
		return false;
	digits = strspn(text + 2, "0123456789abcdef");
	if (!digits || digits > 16 || text[2 + digits])
		return false;
	*value = strtoull(text + 2, NULL, 16);
	return true;
}

/* NCCL has "unknown" and -1 if it does not find the process. */
static bool get_host(const json_t *object, char host[RAS_HOST_SIZE])
{
	const char *text = json_string_value(json_object_get(object, "host"));
	const char *end = text && *text ? ras_take_host(host, text) : text;

	if (!end || *end)
		return false;
	if (!strcmp(host, "unknown"))
		*host = '\0';
	return true;
}

static bool get_place(const json_t *object, struct ras_rank *rank)
{
	return get_int(object, "rank", 0, &rank->rank) && get_host(object, rank->host) &&
	       get_int(object, "pid", -1, &rank->pid) && get_int(object, "cuda_dev", -1, &rank->device) &&
	       get_int(object, "nvml_dev", -1, &rank->nvml_device);
}

/* By the same rules as in NCCL's text: rasClientRunComms(). */
static bool get_status(const json_t *object, struct ras_rank *rank)
{
	const json_t *status = json_object_get(object, "status");
	bool finalized, destroyed, aborted;

	if (!get_int(status, "init_state", 0, &rank->init_result) || !get_int(status, "async_error", 0, &rank->async_error) ||
	    !get_bool(status, "finalize_called", &finalized) || !get_bool(status, "destroy_flag", &destroyed) ||
	    !get_bool(status, "abort_flag", &aborted))
		return false;
	if (aborted)
		rank->state = RAS_ABORT;
	else if (finalized || destroyed)
		rank->state = RAS_FINALIZE;
	else
		rank->state = rank->init_result ? RAS_INIT : RAS_RUNNING;
	return true;
}

static bool get_counts(const json_t *object, struct ras_rank *rank)
{
	const json_t *counts = json_object_get(object, "collective_counts");

	rank->total = 0;
	for (int f = 0; f < RAS_FUNCTIONS; f++)
		if (!get_count(counts, ras_function_name(f), &rank->counts[f]) ||
		    __builtin_add_overflow(rank->total, rank->counts[f], &rank->total))
			return false;
	return true;
}

static bool get_missing(const json_t *object, struct ras_rank *rank)
{
	const json_t *status = json_object_get(object, "status");
	bool unresponsive, dead;

	if (!get_bool(status, "unresponsive", &unresponsive) || !get_bool(status, "considered_dead", &dead))
		return false;
	rank->state = dead ? RAS_DEAD : unresponsive ? RAS_UNRESPONSIVE : RAS_NOCOMM;
	return true;
}

struct json_reader {
	struct ras_reader to;
	int *seen;		/* for each rank number, the communicator in which it was last: its number from 1 */
	int size;		/* of the communicator */
};

/* Reads the array of this name, which should have n objects. */
static bool read_ranks(struct json_reader *j, const json_t *comm, const char *name, int n, bool missing)
{
	const json_t *array = json_object_get(comm, name), *object;
	size_t i;

	if (!json_is_array(array) || json_array_size(array) != (size_t)n)
		return false;
	json_array_foreach(array, i, object) {
		struct ras_rank *rank = ras_add_rank(&j->to);

		if (!rank || !get_place(object, rank) || rank->rank >= j->size || j->seen[rank->rank] == j->to.r->ncomms)
			return false;
		j->seen[rank->rank] = j->to.r->ncomms;
		if (missing ? !get_missing(object, rank) : !get_status(object, rank) || !get_counts(object, rank))
			return false;
	}
	return true;
}

static bool ras_json_read_comm(struct json_reader *j, const json_t *object)
{
	struct ras_comm *comm = ras_add_comm(&j->to);
	int present, missing;

	if (!comm || !get_hash(object, &comm->hash) || !get_int(object, "size", 1, &comm->size) ||
	    !get_int(object, "ranks_count", 0, &present) || !get_int(object, "missing_ranks_count", 0, &missing) ||
	    comm->size > RAS_RANKS_MAX || present > comm->size || missing > comm->size - present)
		return false;
	j->size = comm->size;
	return read_ranks(j, object, "ranks", present, false) && read_ranks(j, object, "missing_ranks", missing, true);
}

static bool read_all(struct json_reader *j, const json_t *root)
{
	const json_t *comms = json_object_get(root, "communicators"), *object;
	int n;
	size_t i;

	if (!json_is_array(comms) || !get_int(root, "communicators_count", 0, &n) || json_array_size(comms) != (size_t)n ||
	    !get_int(json_object_get(root, "ras"), "timeouts_count", 0, &j->to.r->timeouts))
		return false;
	json_array_foreach(comms, i, object)
		if (!ras_json_read_comm(j, object))
			return false;
	return true;
}

bool ras_read_json(char *text, size_t size, struct ras *r)
{
	struct json_reader j = { .to.r = r };
	json_t *root;
	bool ok;

	ras_json_find_version(text, r);
	put_commas(text);
	put_decimal_point(text);
	root = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
	j.seen = xcalloc(RAS_RANKS_MAX, sizeof(*j.seen));
	ok = root && *r->version && read_all(&j, root);
	free(j.seen);
	json_decref(root);
	ras_place_ranks(r);
	return ok;
}
