/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* injected_edges PART PTX: programs in unusual states, in which a library must not change them either.  PTX is
 * nvcc-vadd.ptx.  Prints "PART: N of N right"; status 1 if anything is not.
 *   vfork         a child that has the parent's memory ends by _exit, or executes, between two loads
 *   closed        descriptors 0 to 2 are closed, and few others may be opened
 *   variables     most of a small stack's size in thread-local variables
 *   cancel        a thread is cancelled that loads and unloads; then another one does
 *   log           what the driver writes to its arguments, which are those of another call then */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "drvkern.h"

enum { VARIABLES = 600 << 10 };

static __thread char variables[VARIABLES];
static const char *ptx_file;

static CUmodule load(void)
{
	CUmodule m;

	TRY(cuModuleLoad(&m, ptx_file));
	return m;
}

static int ended(pid_t child)
{
	int status;

	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void part_vfork(struct results *r)
{
	CUmodule first = load();
	pid_t child;

	child = vfork();
	if (!child)
		_exit(29);
	IS(ended(child) == 29);
	child = vfork();
	if (!child) {
		execl("/nowhere/program", "program", NULL);
		_exit(31);
	}
	IS(ended(child) == 31);
	TRY(cuModuleUnload(first));
	TRY(cuModuleUnload(load()));
}

/* Whatever is written to descriptors 0 to 2 afterwards goes nowhere. */
static void part_closed(struct results *r)
{
	const struct rlimit few = { 12, 12 };
	int out = fcntl(1, F_DUPFD, 8);
	CUmodule m;

	IS(!setrlimit(RLIMIT_NOFILE, &few));
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	m = load();
	for (int fd = 0; fd < 3; fd++)
		IS(write(fd, "words\n", 6) == -1 && errno == EBADF);
	TRY(cuModuleUnload(m));
	for (int fd = 0; fd < 3; fd++)
		IS(open("/dev/null", O_RDWR) == fd);
	dup2(out, 1);
}

static void part_variables(struct results *r)
{
	memset(variables, 1, sizeof(variables));
	TRY(cuModuleUnload(load()));
	for (int i = 0; i < VARIABLES; i += 4096)
		IS(variables[i] == 1);
}

static void *load_for_ever(void *ctx)
{
	struct results *r = ctx;
	int type;

	TRY(cuCtxSetCurrent(r->ctx));
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
	for (;;)
		cuModuleUnload(load());
}

static void part_cancel(struct results *r)
{
	for (int i = 0; i < 4; i++) {
		struct results its = { .ctx = r->ctx };
		pthread_t thread;

		IS(!pthread_create(&thread, NULL, load_for_ever, &its));
		usleep(i * 20000);
		IS(!pthread_cancel(thread));
		IS(!pthread_join(thread, NULL));
		TRY(cuModuleUnload(load()));
	}
}

static void part_log(struct results *r)
{
	static char image[1 << 20];
	char log[16] = "";
	CUjit_option options[] = { CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES };
	void *values[] = { log, (void *)sizeof(log) };
	FILE *f = fopen(ptx_file, "r");
	CUmodule m;

	if (!f || !fread(image, 1, sizeof(image) - 1, f))
		exit(2);
	fclose(f);
	TRY(cuModuleLoadDataEx(&m, image, 2, options, values));
	IS((size_t)values[1] == strlen(log));
	printf("log '%s'\n", log);
	TRY(cuModuleUnload(m));
}

static const struct {
	const char *name;
	void (*run)(struct results *r);
} parts[] = {
	{ "vfork", part_vfork }, { "closed", part_closed }, { "variables", part_variables }, { "cancel", part_cancel },
	{ "log", part_log },
};

int main(int argc, char **argv)
{
	struct results r = { 0 };

	if (argc != 3)
		return 2;
	ptx_file = argv[2];
	TRY(cuInit(0));
	TRY(cuCtxCreate_v4(&r.ctx, NULL, 0, 0));
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (!strcmp(parts[i].name, argv[1])) {
			parts[i].run(&r);
			printf("%s: %lu of %lu right\n", argv[1], r.right, r.all);
		}
	return r.right != r.all || !r.all;
}
