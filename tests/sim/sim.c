/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the environment asks for: failures, latencies and a trace. */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sim.h"

enum rule_kind { FAIL, SLEEP, SPIN };

struct rule {
	enum rule_kind kind;
	char name[64];
	unsigned nth;	/* 0: every call */
	long value;
};

int sim_flags;
static struct rule rules[64];
static unsigned num_rules;
static int trace_fd = -1;

unsigned long long sim_size(const char *text)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 0);

	switch (*end) {
	case 'k': case 'K': return n << 10;
	case 'm': case 'M': return n << 20;
	case 'g': case 'G': return n << 30;
	case 't': case 'T': return n << 40;
	}
	return n;
}

static void bad_rule(const char *var, const char *word)
{
	fprintf(stderr, "sim: %s: %s: expected FUNC=N, FUNC:NTH=N or FUNC:*=N\n",
		var, word);
	_exit(2);
}

static void parse_rules(const char *var, enum rule_kind kind)
{
	const char *env = getenv(var);
	char *copy, *word, *save = NULL;

	if (!env || !*env)
		return;
	copy = strdup(env);
	for (word = strtok_r(copy, ",", &save); word;
	     word = strtok_r(NULL, ",", &save)) {
		struct rule *r = &rules[num_rules];
		char nth[32] = "*";

		if (num_rules == sizeof(rules) / sizeof(*rules))
			bad_rule(var, "too many rules");
		if (sscanf(word, "%63[^:=]:%31[^=]=%ld", r->name, nth, &r->value) != 3 &&
		    sscanf(word, "%63[^:=]=%ld", r->name, &r->value) != 2)
			bad_rule(var, word);
		r->nth = nth[0] == '*' ? 0 : (unsigned)strtoul(nth, NULL, 0);
		if (nth[0] != '*' && r->nth == 0)
			bad_rule(var, word);
		r->kind = kind;
		num_rules++;
	}
	free(copy);
	sim_flags |= SIM_RULES;
}

static void open_trace(void)
{
	const char *env = getenv("SIM_TRACE"), *mark;
	char path[PATH_MAX];

	if (!env || !*env)
		return;
	mark = strstr(env, "%p");
	if (mark)
		snprintf(path, sizeof(path), "%.*s%d%s", (int)(mark - env), env,
			 (int)getpid(), mark + 2);
	else
		snprintf(path, sizeof(path), "%s", env);
	trace_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (trace_fd < 0) {
		perror(path);
		_exit(2);
	}
	sim_flags |= SIM_TRACING;
}

static void reopen_trace(void)
{
	if (trace_fd < 0)
		return;
	close(trace_fd);
	open_trace();
}

static void __attribute__((constructor)) sim_setup(void)
{
	parse_rules("SIM_FAIL", FAIL);
	parse_rules("SIM_LATENCY_US", SLEEP);
	parse_rules("SIM_SPIN_US", SPIN);
	open_trace();
	pthread_atfork(NULL, NULL, reopen_trace);
}

static void spin(long us)
{
	struct timespec now, end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += us / 1000000;
	end.tv_nsec += us % 1000000 * 1000;
	if (end.tv_nsec >= 1000000000) {
		end.tv_nsec -= 1000000000;
		end.tv_sec++;
	}
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while (now.tv_sec < end.tv_sec ||
	       (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
}

static void doze(long us)
{
	struct timespec ts = { us / 1000000, us % 1000000 * 1000 };

	while (us < 0)
		pause();
	while (nanosleep(&ts, &ts))
		;
}

int sim_before(struct sim_call *call, int *ret)
{
	int state = __atomic_load_n(&call->has_rules, __ATOMIC_RELAXED);
	unsigned i, count;
	int failed = 0;

	if (!state) {
		state = -1;
		for (i = 0; i < num_rules; i++)
			if (!strcmp(rules[i].name, call->name))
				state = 1;
		__atomic_store_n(&call->has_rules, state, __ATOMIC_RELAXED);
	}
	if (state < 0)
		return 0;
	count = __atomic_add_fetch(&call->count, 1, __ATOMIC_RELAXED);
	for (i = 0; i < num_rules; i++) {
		const struct rule *r = &rules[i];

		if (strcmp(r->name, call->name) || (r->nth && r->nth != count))
			continue;
		if (r->kind == SLEEP) {
			doze(r->value);
		} else if (r->kind == SPIN) {
			spin(r->value);
		} else {
			*ret = (int)r->value;
			failed = 1;
		}
	}
	return failed;
}

void sim_trace(const struct sim_call *call, int ret, const char *fmt, ...)
{
	char line[1024];
	va_list ap;
	int n;

	n = snprintf(line, sizeof(line), "%s %s ", call->layer, call->name);
	va_start(ap, fmt);
	n += vsnprintf(line + n, sizeof(line) - n, fmt, ap);
	va_end(ap);
	if (n > (int)sizeof(line) - 32)
		n = sizeof(line) - 32;
	n += snprintf(line + n, sizeof(line) - n, "%s%d\n", *fmt ? " " : "", ret);
	/* One write a line: O_APPEND keeps threads and processes apart. */
	if (write(trace_fd, line, n) != n)
		_exit(2);
}
