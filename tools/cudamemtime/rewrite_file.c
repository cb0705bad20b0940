/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/die.h"
#include "base/util.h"
#include "cli/out.h"
#include "cli/row.h"
#include "cudamemtime/ptx_file.h"
#include "cudamemtime/rewrite_file.h"
#include "view/kernel_names.h"

struct ptxas_kernel {
	char *symbol;
	unsigned registers, spills, stack;	/* bytes except the first; spills: stored and loaded */
	unsigned instructions;
};

struct ptxas_kernels {
	struct ptxas_kernel *kernel;
	size_t n;
};

static bool selects(void *ctx, const char *name, size_t n)
{
	struct rewrite *r = ctx;
	char *symbol = strndup(name, n);
	bool chosen = symbol && kernels_match(r->kernels, symbol, r->globs, r->globs_size);

	free(symbol);
	return chosen;
}

void rewrite_init(struct rewrite *r, struct measure *m)
{
	struct gpuprobe_config config = { 0 };
	const char *text, *wrong;

	gpuprobe_config(&m->gpuprobe, &config);
	text = measure_config(m, &config);
	wrong = gpu_probe_read(&r->probe, text, config.probe_size);
	if (wrong)
		die(0, "the probe: %s", wrong);
	r->kernels = &m->kernels;
	r->keep_registers = m->gpuprobe.keep_registers;
	r->globs = gpuprobe_kernels(&m->gpuprobe, &r->globs_size);
	r->options = instrument_options(&config, &r->probe);
	r->options.selects = selects;
	r->options.ctx = r;
}

void rewrite_free(struct rewrite *r)
{
	free(r->globs);
}

const char *rewrite_refuses(const char *text, size_t size)
{
	return memmem(text, size, "__cuprobe_sites_", 16) ? "it has probes already" : NULL;
}

const char *rewrite_why(enum instrument_result result)
{
	switch (result) {
	case INSTRUMENT_DONE:
		return NULL;
	case INSTRUMENT_NO_SITES:
		return "nothing in it is selected";
	case INSTRUMENT_TOO_MANY:
		return "more places than --max-sites";
	case INSTRUMENT_OLD:
		return "PTX before version 6.2, or for devices before sm_70";
	case INSTRUMENT_LINKED:
		return "it needs functions of other images";
	case INSTRUMENT_BAD:
		break;
	}
	return "malformed PTX";
}

/* Returns the file of ptxas: of $PATH or in /usr/local/cuda; NULL if there is none.  The caller frees it. */
static char *ptxas_find(void)
{
	char *path = xprintf("%s:/usr/local/cuda/bin", getenv("PATH") ?: "/usr/bin"), *rest = path, *found = NULL;

	for (char *folder; !found && (folder = strsep(&rest, ":")); ) {
		found = xprintf("%s/ptxas", *folder ? folder : ".");
		if (!access(found, X_OK))
			break;
		free(found);
		found = NULL;
	}
	free(path);
	return found;
}

/* Memory files need no cleanup, and no other user can replace them. */
static int temporary(const char *text, size_t size)
{
	int fd = memfd_create("cudamemtime", MFD_CLOEXEC);

	if (fd < 0)
		die(errno, "cannot create a file in memory");
	for (size_t at = 0; at < size; ) {
		ssize_t n = write(fd, text + at, size - at);

		if (n < 0)
			die(errno, "cannot write to a file in memory");
		at += n;
	}
	return fd;
}

static int spawn(const char *ptxas, const char *arch, int in, int out, int log)
{
	char *input = xprintf("/proc/%d/fd/%d", getpid(), in), *output = xprintf("/proc/%d/fd/%d", getpid(), out);
	char *argv[] = { "ptxas", "-v", "-arch", (char *)arch, input, "-o", output, NULL };
	posix_spawn_file_actions_t actions;
	int status = -1, err;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, log, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, log, STDERR_FILENO);
	err = posix_spawn(&pid, ptxas, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (err)
		die(err, "cannot run %s", ptxas);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	free(input);
	free(output);
	return status;
}

static struct ptxas_kernel *add(struct ptxas_kernels *out, const char *symbol, size_t n)
{
	out->kernel = xrealloc(out->kernel, out->n + 1, sizeof(*out->kernel));
	out->kernel[out->n] = (struct ptxas_kernel){ .symbol = strndup(symbol, n) };
	return &out->kernel[out->n++];
}

/* ptxas prints three lines for each kernel: "Compiling entry function 'NAME' for 'sm_90'", then "0 bytes stack frame, 0
 * bytes spill stores, 0 bytes spill loads", then "Used 12 registers, …".  Device functions have the second, too. */
static void read_output(struct ptxas_kernels *out, FILE *f)
{
	static const char entry[] = "Compiling entry function '";
	struct ptxas_kernel *k = NULL;
	unsigned stack, stores, loads, registers;
	char *line = NULL, *at;
	bool own = false;
	size_t room = 0;

	while (getline(&line, &room, f) > 0) {
		if ((at = strstr(line, entry))) {
			at += strlen(entry);
			k = add(out, at, strcspn(at, "'"));
		} else if (k && (at = strstr(line, "Function properties for "))) {
			at += strlen("Function properties for ");
			own = !strncmp(at, k->symbol, strlen(k->symbol)) && strchr("\r\n ", at[strlen(k->symbol)]);
		} else if (k && own && sscanf(line, " %u bytes stack frame, %u bytes spill stores, %u bytes spill",
					      &stack, &stores, &loads) == 3) {
			k->stack = stack;
			k->spills = stores + loads;
		} else if (k && (at = strstr(line, "Used ")) && sscanf(at, "Used %u registers", &registers) == 1) {
			k->registers = registers;
			k = NULL;
		}
	}
	free(line);
}

/* Returns the first line with an error. */
static char *first_error(FILE *f)
{
	char *line = NULL;
	size_t room = 0;

	rewind(f);
	while (getline(&line, &room, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (strstr(line, "error") || strstr(line, "fatal"))
			return line;
	}
	free(line);
	return xstrdup("it failed");
}

/* Assembles text for an architecture.  Returns NULL, or why it failed, which the caller frees; *out is freed by
 * ptxas_free() in both cases. */
static char *ptxas_run(struct ptxas_kernels *out, const char *ptxas, const char *arch, const char *text, size_t size)
{
	int in = temporary(text, size), cubin = temporary("", 0), log = temporary("", 0);
	int status = spawn(ptxas, arch, in, cubin, log);
	FILE *f = fdopen(log, "r");
	char *why = NULL;

	*out = (struct ptxas_kernels){ 0 };
	if (!f)
		die(errno, "cannot read what ptxas says");
	rewind(f);
	if (status)
		why = first_error(f);
	else
		read_output(out, f);
	for (size_t i = 0; i < out->n; i++)
		out->kernel[i].instructions = cubin_instructions(cubin, out->kernel[i].symbol);
	fclose(f);
	close(in);
	close(cubin);
	return why;
}

static void ptxas_free(struct ptxas_kernels *kernels)
{
	for (size_t i = 0; i < kernels->n; i++)
		free(kernels->kernel[i].symbol);
	free(kernels->kernel);
	*kernels = (struct ptxas_kernels){ 0 };
}

/* Returns the kernel of this symbol, or NULL. */
static const struct ptxas_kernel *ptxas_get(const struct ptxas_kernels *kernels, const char *symbol, size_t n)
{
	for (size_t i = 0; i < kernels->n; i++)
		if (strlen(kernels->kernel[i].symbol) == n && !memcmp(kernels->kernel[i].symbol, symbol, n))
			return &kernels->kernel[i];
	return NULL;
}

/* A block of the largest size must still fit with probes. */
enum { SM_REGISTERS = 65536, BLOCK_WARPS = 32, REGISTERS_MAX = 255 };

/* A warp's registers are given in units of 256, warps in fours: CUDA's occupancy calculator. */
enum { UNIT = 256, GRANULE = 8, LANES = 32, FOURS = 4 };

struct cost {
	unsigned long long image, registers[2], spills[2], stack[2], instructions[2], warps[2];
	const char *arch, *kernel, *symbol;
	char text[5][24];	/* for the columns */
	const char *column[5];
};

OUT_WORD(cost_type, "cost");

#define AT(f) offsetof(struct cost, f)
static const struct field fields[] = {
	{ "type", NULL, 0, &cost_type, 0 },	/* a kernel without and with probes, with --list --verbose */
	{ "image", NULL, 0, OUT_UINT, AT(image) },	/* number of the image in the file */
	{ "arch", NULL, 0, OUT_STR, AT(arch) },	/* that it was assembled for */
	{ "kernel", "KERNEL", -32, OUT_STR, AT(kernel) },	/* the kernel or device function, without parameters */
	{ "short", NULL, 0, OUT_SHORT, AT(kernel) },	/* its short name, for reading */
	{ "symbol", NULL, 0, OUT_STR, AT(symbol) },	/* its mangled name */
	{ NULL, "REGISTERS", -10, OUT_STR, AT(column[0]) },
	{ NULL, "SPILLS", -12, OUT_STR, AT(column[1]) },
	{ NULL, "STACK", -12, OUT_STR, AT(column[2]) },
	{ NULL, "INSTRUCTIONS", -13, OUT_STR, AT(column[3]) },
	{ NULL, "WARPS", -8, OUT_STR, AT(column[4]) },
	{ "registers", NULL, 0, OUT_UINT, AT(registers[0]) },	/* of a thread */
	{ "registers_measured", NULL, 0, OUT_UINT, AT(registers[1]) },	/* with probes */
	{ "spill_bytes", NULL, 0, OUT_UINT, AT(spills[0]) },	/* bytes: spilled by a thread */
	{ "spill_bytes_measured", NULL, 0, OUT_UINT, AT(spills[1]) },	/* bytes: with probes */
	{ "stack_bytes", NULL, 0, OUT_UINT, AT(stack[0]) },	/* bytes: of a thread */
	{ "stack_bytes_measured", NULL, 0, OUT_UINT, AT(stack[1]) },	/* bytes: with probes */
	{ "instructions", NULL, 0, OUT_UINT, AT(instructions[0]) },	/* of the kernel */
	{ "instructions_measured", NULL, 0, OUT_UINT, AT(instructions[1]) },	/* with probes */
	{ "warps", NULL, 0, OUT_UINT, AT(warps[0]) },	/* that an SM has registers for */
	{ "warps_measured", NULL, 0, OUT_UINT, AT(warps[1]) },	/* with probes */
	{ 0 }
};

/* Returns the number of warps that an SM can hold, limited by registers. */
static unsigned warps(const char *arch, unsigned registers)
{
	unsigned sm = strtoul(arch + strcspn(arch, "0123456789"), NULL, 10), unit, n;
	unsigned most = sm == 75 ? 32 : sm == 86 || sm == 87 || sm == 89 || sm / 10 == 12 ? 48 : 64;

	unit = (registers * LANES + UNIT - 1) / UNIT * UNIT;
	n = unit ? SM_REGISTERS / unit / FOURS * FOURS : most;
	return n < most ? n : most;
}

/* The architecture that a module is for: ".target sm_90a, …". */
static char *arch_of(const char *text, size_t size)
{
	const char *at = memmem(text, size, ".target", 7);
	char word[16] = "";

	if (!at || sscanf(at, ".target %15[a-z0-9_]", word) != 1)
		return NULL;
	return xstrdup(word);
}

struct limits {
	const struct ptxas_kernels *before;
	const char *arch;
	bool keep;
	struct rewrite *rewrite;
};

/* As the library in a program: the most registers with which as many warps fit as before, or one block. */
static unsigned registers(void *ctx, const char *name, size_t n)
{
	const struct limits *l = ctx;
	const struct ptxas_kernel *k = ptxas_get(l->before, name, n);
	unsigned fit, most;

	if (!k)
		return 0;
	fit = warps(l->arch, k->registers);
	if (!l->keep && fit > BLOCK_WARPS)
		fit = BLOCK_WARPS;
	most = SM_REGISTERS / (fit * LANES) / GRANULE * GRANULE;
	return most < REGISTERS_MAX ? most : REGISTERS_MAX;
}

static bool cost_selects(void *ctx, const char *name, size_t n)
{
	const struct limits *l = ctx;

	return l->rewrite->options.selects(l->rewrite->options.ctx, name, n);
}

static void rewrite_file_print(struct rewrite *r, const struct ptxas_kernel *a, const struct ptxas_kernel *b, const char *arch,
		  unsigned image)
{
	struct cost c = {
		.image = image, .registers = { a->registers, b->registers }, .spills = { a->spills, b->spills },
		.stack = { a->stack, b->stack }, .instructions = { a->instructions, b->instructions },
		.warps = { warps(arch, a->registers), warps(arch, b->registers) },
		.arch = arch, .kernel = kernels_get(r->kernels, a->symbol)->name, .symbol = a->symbol,
	};
	const unsigned long long *const values[] = { c.registers, c.spills, c.stack, c.instructions, c.warps };

	for (int i = 0; i < 5; i++) {
		snprintf(c.text[i], sizeof(c.text[i]), "%llu -> %llu", values[i][0], values[i][1]);
		c.column[i] = c.text[i];
	}
	out_row(fields, &c);
}

static void rewrite_file_compare(struct rewrite *r, const char *ptxas, const char *arch, const char *text, size_t size,
		    unsigned image)
{
	struct ptxas_kernels before, after = { 0 };
	struct limits limits = { &before, arch, r->keep_registers, r };
	struct instrument options = r->options;
	struct instrumented done = { 0 };
	char *why = ptxas_run(&before, ptxas, arch, text, size);

	options.selects = cost_selects;
	options.registers = registers;
	options.ctx = &limits;
	if (!why && instrument(&done, text, size, &options) == INSTRUMENT_DONE)
		why = ptxas_run(&after, ptxas, arch, done.text, done.size);
	if (why)
		warning(0, "image %u: ptxas -arch %s: %s", image, arch, why);
	else if (!out_is_json())
		printf("\nwithout and with probes, %s:\n", arch);
	if (!why)
		out_head(fields);
	for (size_t i = 0; i < before.n && !why; i++) {
		const struct ptxas_kernel *k = &before.kernel[i], *b = ptxas_get(&after, k->symbol, strlen(k->symbol));

		if (b && options.selects(&limits, k->symbol, strlen(k->symbol)))
			rewrite_file_print(r, k, b, arch, image);
	}
	free(why);
	free(done.text);
	ptxas_free(&before);
	ptxas_free(&after);
}

void cost_print(struct rewrite *r, const char *text, size_t size, const char *arch, unsigned image)
{
	char *ptxas = ptxas_find(), *target = arch ? xstrdup(arch) : arch_of(text, size);

	if (!ptxas)
		warning(0, "there is no ptxas in $PATH or /usr/local/cuda/bin: what probes cost is unknown");
	else if (target)
		rewrite_file_compare(r, ptxas, target, text, size, image);
	free(ptxas);
	free(target);
}
