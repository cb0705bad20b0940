/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Fuzzes a command line.  exit() is intercepted: -Wl,--wrap=exit. */
#include <getopt.h>
#include <sanitizer/lsan_interface.h>
#include <setjmp.h>
#include "base/die.h"
#include "fuzz.h"
#include "session/session.h"

enum { MAX_ARGS = 16 };

void __real_exit(int status);
void __wrap_exit(int status);

static jmp_buf ended;
static bool running;

void __wrap_exit(int status)
{
	if (!running)
		__real_exit(status);
	longjmp(ended, 1 + status);
}

static void parse(int argc, char **argv)
{
	static const struct usage usage = {
		.args = "[interval [count]]", .what = "Shows.", .examples = "    fuzz\n",
	};
	static struct session t;
	static long size, top, older, interval, count;
	static const char *text;
	static int choice;
	static bool flag;
	const struct opt opts[] = {
		OPT_TARGET(&t),
		OPT_STACKS(&t),
		OPT_FLAG('F', "flag", &flag, "flag"),
		OPT_NUM('T', "top", "N", &top, 3, "number"),
		OPT_SIZE('z', "min-size", "SIZE", &size, "size"),
		OPT_TIME('o', "older", "MS", &older, VALUE_MS, 0, "time"),
		OPT_STR(0, "text", "TEXT", &text, "text"),
		OPT_CHOICE('s', "sort", "one|two|three", &choice, "choice"),
		OPT_END
	};
	char **command;
	int first;

	t = (struct session)SESSION_INIT;
	size = top = older = interval = count = choice = 0;
	text = NULL;
	first = opt_parse(&argc, argv, opts, &usage, &command);
	CHECK(!command || *command);
	CHECK(first >= 1 && first <= argc);
	CHECK(size >= 0 && older >= 0 && (!top || top >= 3) && choice >= 0 && choice < 3 && (!text || *text));
	CHECK(t.layer >= 0 && t.layer < 3 && t.attach >= 0 && t.attach < 4 && t.duration_ns >= 0);
	session_read_stacks(&t);
	CHECK(t.unwind >= 0 && t.unwind < 2 && t.shown >= 0 && t.shown < 3);
	CHECK(t.stack_size >= 4096 && t.stack_size <= 65536 && !(t.stack_size & (t.stack_size - 1)));
	if (t.pid_list) {
		char *copy = strdup(t.pid_list), *rest = copy, *word;

		while ((word = value_word(&rest)))
			CHECK(*word && value_pid(word) >= -1);
		free(copy);
	}
	opt_interval(argc, argv, first, &interval, &count);
	CHECK((!interval || interval >= 10 * VALUE_MS) && count >= 0 && (interval || !count));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	char *args[MAX_ARGS + 2] = { strdup("fuzz") }, *argv[MAX_ARGS + 2];
	volatile int argc = 1, status = -1;
	const char *said;

	while (in.left && argc <= MAX_ARGS)
		args[argc++] = take_text(&in);
	memcpy(argv, args, sizeof(args));	/* getopt reorders them */
	optind = 0;
	capture(true);
	__lsan_disable();	/* exit() would have freed it */
	running = true;
	status = setjmp(ended);
	if (!status)
		parse(argc, argv);
	running = false;
	__lsan_enable();
	said = captured();
	CHECK(printable(said, true) >= 0);
	CHECK(status == 0 || status == 1 || status == 1 + EXIT_USAGE);
	CHECK((status == 0) == !*said);
	CHECK(status != 1 + EXIT_USAGE || strstr(said, "Try '"));
	while (argc)
		free(args[--argc]);
	return 0;
}
