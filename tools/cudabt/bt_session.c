/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "api/cuda_protos.h"
#include "base/clock.h"
#include "base/die.h"
#include "base/escape.h"
#include "base/util.h"
#include "base/version.h"
#include "cudabt/bt_session.h"
#include "proc/proc.h"

enum { MAX_SIZE = 1 << 20, SHOWN = 80 };	/* of a program; of its line, before and after an error */
enum { PAUSE_MS = 5, ANCESTORS = 32 };
#define START_NS 60000000000ull	/* attaching a thousand probes takes some seconds */

/* Included programs are in ../share of this binary; in a build tree, in ../scripts. */
static int open_installed(const char *name)
{
	static const char *const dirs[] = { "../share/cuda-bpf-tools/bt", "../scripts/bt" };
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int fd = -ENOENT;

	if (n < 0)
		return -errno;
	self[n] = 0;
	*strrchr(self, '/') = 0;
	for (size_t i = 0; fd == -ENOENT && i < sizeof(dirs) / sizeof(*dirs); i++) {
		char *path = xprintf("%s/%s/%s", self, dirs[i], name);

		fd = proc_open_file(path);
		free(path);
	}
	return fd;
}

/* As with commands, the current directory, which may be another user's, is not searched. */
static int open_program(const char *name)
{
	int fd = strchr(name, '/') ? proc_open_file(name) : open_installed(name);

	if (fd == -ENOENT && !strchr(name, '/') && !access(name, F_OK))
		die(0, "%s is not an included program; to run the one in this directory, name it ./%s", name, name);
	return fd;
}

struct bt_source bt_source_file(const char *name)
{
	struct bt_source s = { .name = name };
	int fd = open_program(name);
	ssize_t n = 1;

	if (fd == -EINVAL)
		die(0, "%s is not a regular file", name);
	if (fd < 0)
		die(fd, "cannot open %s", name);
	s.text = xcalloc(MAX_SIZE + 1, 1);
	while (s.len <= MAX_SIZE && (n = read(fd, s.text + s.len, MAX_SIZE + 1 - s.len)) > 0)
		s.len += n;
	if (n < 0)
		die(errno, "cannot read %s", name);
	if (s.len > MAX_SIZE)
		die(0, "%s is larger than %d bytes: is it a bpftrace program?", name, MAX_SIZE);
	close(fd);
	return s;
}

struct bt_source bt_source_text(const char *text)
{
	return (struct bt_source){ "-e", xstrdup(text), strlen(text) };
}

/* Prints len bytes on standard error, safe for a terminal; returns the columns they take. */
static int bt_session_print(const char *s, int len)
{
	char text[2 * SHOWN + 1];

	snprintf(text, sizeof(text), "%.*s", len, s);
	for (char *c = text; *c; c++)
		if (*c == '\t')
			*c = ' ';
	return escape_text(stderr, text);
}

/* Prints "tool: NAME:LINE:COLUMN: error", and the line with a caret under the position. */
static void bt_source_error(const struct bt_source *s, const struct bt_error *e)
{
	const char *end = s->text + s->len, *start = s->text, *stop = e->at, *from;
	int line = 1;

	for (const char *c = s->text; c < e->at; c++)
		if (*c == '\n') {
			line++;
			start = c + 1;
		}
	while (stop < end && *stop != '\n' && stop - e->at < SHOWN)
		stop++;
	from = e->at - start > SHOWN ? e->at - SHOWN : start;
	warning(0, "%s:%d:%d: %s", s->name, line, (int)(e->at - start) + 1, e->what);
	fputs("  ", stderr);
	line = bt_session_print(from, e->at - from);
	bt_session_print(e->at, stop - e->at);
	fprintf(stderr, "\n%*s^\n", line + 2, "");
}

static _Noreturn void bad_program(const struct bt_session *s)
{
	bt_source_error(&s->source, &s->script.error);
	exit(EXIT_USAGE);
}

static int find(const void *ctx, const char *symbol)
{
	const bool *wanted = ctx;
	int id = cuda_proto_find(symbol);

	return id >= 0 && wanted[id] ? id : -1;
}

static struct function get(const struct probes *p, int id)
{
	const struct bt_session *s = p->tool;

	return (struct function){
		.name = cuda_protos[id].name, .lib = cuda_protos[id].lib, .wanted = true,
		.returns = s->script.returns,
	};
}

void bt_session_load(struct bt_session *s, struct bt_source source)
{
	s->source = source;
	s->script.text = source.text;
	s->script.len = source.len;
	if (!bt_analyze(&s->script))
		bad_program(s);
	s->functions = (struct probe_source){ .find = find, .get = get, .ctx = s->script.wanted, .n = cuda_protos_n };
}

/* Statements that set $cudabt_tgid to our own if the thread descends from us.  Without a loop, as bpftrace
 * 0.17 has only while, and 0.27 warns that it is deprecated.  The variable begins as a number because 0.27
 * warns of comparing a kernel value with one. */
static char *find_ancestor(int pid)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	fputs("$cudabt_tgid = (int32)0; $cudabt_task = curtask; $cudabt_tgid = $cudabt_task->tgid;\n\t", f);
	for (int i = 0; i < ANCESTORS; i++)
		fprintf(f, "if ($cudabt_tgid != %d && $cudabt_tgid > 1) {\n\t$cudabt_task = "
			"$cudabt_task->real_parent; $cudabt_tgid = $cudabt_task->tgid; ", pid);
	for (int i = 0; i < ANCESTORS; i++)
		putc('}', f);
	fclose(f);
	return text;
}

/* bpftrace 0.17 has no process filter for uprobes: its -p and -c apply to other probes. */
static void choose_processes(struct bt_session *s, const struct session *t)
{
	char *list = NULL;

	for (int i = 0; t->pid_list && t->probes.pids[i]; i++) {
		char *longer = xprintf("%s%spid == %d", list ? list : "", list ? " || " : "",
				       t->probes.pids[i]);

		free(list);
		list = longer;
	}
	if (list)
		s->condition = xprintf("(%s)", list);
	free(list);
	if (!t->command)
		return;
	/* the command's processes are our descendants: we adopt those whose parents exit */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1))
		die(errno, "cannot become the subreaper of the command's children");
	s->condition = xprintf("$cudabt_tgid == %d", getpid());
	s->statements = find_ancestor(getpid());
}

static void on_dso(void *ctx, struct dso *c, int pid)
{
	struct bt_session *s = ctx;
	bool is_new = bt_files_add(&s->files, c, pid);

	s->mapped |= pid > 0;
	if (is_new && bt_run_started(&s->run) && !s->session->list)
		warning(0, "%s was loaded after bpftrace started: its calls are missed (-l probes a "
			   "file from the start)", c->path);
}

static void on_scanned(void *ctx, int pid)
{
	struct bt_session *s = ctx;

	(void)pid;
	if (s->session->command && s->mapped && !bt_run_started(&s->run) && !s->session->list)
		bt_session_start(s);
}

void bt_session_prepare(struct bt_session *s, struct session *t)
{
	s->session = t;
	t->probes.tool = s;
	t->probes.on_dso = on_dso;
	t->probes.on_scanned = on_scanned;
	choose_processes(s, t);
	s->script.condition = s->condition;
	s->script.statements = s->statements;
}

static void make_script(struct bt_session *s, bool emit)
{
	struct bt_script *script = &s->script;
	char *rest, *line;

	s->named = bt_files_named(&s->files, emit, &script->nfiles);
	script->files = s->named;
	if (!bt_translate(script))
		bad_program(s);
	rest = script->notes;
	while ((line = strsep(&rest, "\n")))
		if (*line)
			warning(0, "%s: %s", s->source.name, line);
	if (!script->nprobes)
		die_status(s->session->probes.starved ? EXIT_FAILURE : EXIT_NOTHING, 0, "no file has the functions that this program probes: none "
			   "mapped by the processes, none in the usual directories (use -l to name a file; see --list)");
}

void bt_session_emit(struct bt_session *s)
{
	const struct bt_script *script = &s->script;

	make_script(s, true);
	printf("// Generated by cudabt " VERSION " for bpftrace 0.17 or newer.  Adjust the paths of these files\n"
	       "// if they are elsewhere:\n");
	for (int i = 0; i < script->nfiles; i++)
		printf("//   %s\n", script->files[i].path);
	if (script->nprobes > BT_MAX_PROBES)
		printf("// Set in the environment: BPFTRACE_MAX_PROBES=%d BPFTRACE_MAX_BPF_PROGS=%d\n",
		       script->nprobes, script->nprobes);
	fputs(script->out, stdout);
	if (fflush(stdout) || ferror(stdout))
		die(errno, "cannot write to standard output");
	exit(EXIT_SUCCESS);
}

/* To name functions on stacks, bpftrace reads a process's files and their debug files: only with processes
 * that the user has chosen. */
static bool may_read_symbols(const struct session *t)
{
	return t->pid_list || t->command;
}

static void wait_for_probes(struct bt_session *s)
{
	unsigned long long end = clock_ns() + START_NS;
	struct progress *progress = &s->session->progress;

	progress_begin(progress);
	while (!bt_run_ended(&s->run) && !bt_run_waits(&s->run)) {
		bt_run_serve(&s->run, PAUSE_MS);
		progress_set(progress, "bpftrace attaches probes: %d of %d", s->run.trap.requested, s->script.nprobes);
		progress_tick(progress);
		if (clock_ns() > end)
			die(0, "bpftrace did not attach its probes within 60 s");
	}
}

void bt_session_start(struct bt_session *s)
{
	const struct bt_script *script = &s->script;
	char *who = session_who(s->session);

	make_script(s, false);
	if (s->session->verbose)
		fputs(script->out, stderr);
	bt_run_start(&s->run, script, &s->files, s->session->json, may_read_symbols(s->session));
	wait_for_probes(s);
	if (!bt_run_ended(&s->run) && s->run.trap.requested < script->nprobes)
		die(0, "bpftrace requested %d of %d probes: does this version attach in another way, or "
		    "is its memory unreadable (kernel.yama.ptrace_scope=3)?  Run the output of --emit",
		    s->run.trap.requested, script->nprobes);
	if (!bt_run_ended(&s->run))
		note("tracing %s: %d probe%s in %d file%s", who, script->nprobes,
		     plural(script->nprobes), script->nfiles, plural(script->nfiles));
	free(who);
}

void bt_session_free(struct bt_session *s)
{
	bt_files_named_free(s->named, s->script.nfiles);
	bt_files_free(&s->files);
	bt_script_free(&s->script);
	free(s->condition);
	free(s->statements);
	free(s->source.text);
}
