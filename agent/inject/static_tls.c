/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Static TLS of the program's libraries.  With an audit library glibc lays out TLS before it loads
 * them, so that they take theirs from the surplus for dlopen(), which is fixed by then (glibc,
 * elf/rtld.c: init_tls; elf/dl-tls.c: _dl_tls_static_surplus_init).  A program whose libraries need
 * more would end before main().  It is executed again instead, with the tunable that enlarges the
 * surplus, which its children do not inherit. */
#define _GNU_SOURCE
#include <stddef.h>
#include <asm/stat.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include "agent/inject/inject.h"
#include "machine/elf.h"

/* Bytes.  ARGUMENTS: more than the kernel takes.  FREE: glibc enlarges the surplus by 336 for an
 * audit library, which takes less.  SPARE: for libraries that are not seen yet.  OTHER: of the
 * surplus, besides the tunable's. */
enum { ARGUMENTS = 8 << 20, FREE = 192, SPARE = 512, OTHER = 1024, NUMBER = 24 };

#define VARIABLE "GLIBC_TUNABLES="
/* Our own part follows: unknown tunables are ignored. */
#define MARK "cuda-bpf-tools.static_tls=1:"
enum { OWN = sizeof(VARIABLE) + sizeof(MARK) + sizeof(STATIC_TLS_TUNABLE) + NUMBER };

/* The kernel's part of the stack. */
struct start {
	char **argv, **envp;
	const ElfW(auxv_t) *auxv;
};

/* The program itself may have a copy of the variable, which is not filled in yet. */
static bool start_find(struct start *s, const struct link_map *map)
{
	const ElfW(Sym) *end;
	char **at = NULL;
	struct object o;

	while (map->l_prev)
		map = map->l_prev;
	for (; map && !at; map = map->l_next)
		if (object_map(&o, map, NULL, 0) && (end = object_data(&o, "__libc_stack_end")))
			at = *(char ***)(o.base + end->st_value);
	if (!at)
		return false;
	s->argv = at + 1;
	s->envp = s->argv + (long)*at + 1;
	for (at = s->envp; *at; at++)
		;
	s->auxv = (const void *)(at + 1);
	return true;
}

static char **tunables_find(const struct start *s)
{
	char **v = s->envp;

	while (*v && !begins(*v, VARIABLE))
		v++;
	return v;
}

static char *value_of(char **variable)
{
	return *variable ? *variable + length(VARIABLE) : NULL;
}

static unsigned digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	c |= 'a' - 'A';
	return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : ~0u;
}

/* Decimal, octal or hexadecimal, as in C. */
static __u64 static_tls_number_of(const char *s)
{
	bool hex = *s == '0' && (s[1] == 'x' || s[1] == 'X');
	unsigned base = hex ? 16 : *s == '0' ? 8 : 10;
	__u64 n = 0;

	for (s += hex ? 2 : 0; digit_of(*s) < base; s++)
		n = n * base + digit_of(*s);
	return n;
}

/* The last entry counts.  *mark: where ours begins, or NULL. */
static __u64 tunable_of(char *text, char **mark)
{
	__u64 bytes = STATIC_TLS_DEFAULT;

	*mark = NULL;
	for (; text; text = *text ? text + 1 : NULL) {
		if (!*mark && begins(text, MARK))
			*mark = text;
		if (begins(text, STATIC_TLS_TUNABLE))
			bytes = static_tls_number_of(text + length(STATIC_TLS_TUNABLE));
		while (*text && *text != ':')
			text++;
	}
	return bytes;
}

static char *number_to(char *to, __u64 n)
{
	char digits[NUMBER];
	int i = 0;

	do
		digits[i++] = (char)('0' + n % 10);
	while (n /= 10);
	while (i)
		*to++ = digits[--i];
	return to;
}

static char *text_to(char *to, const char *text)
{
	memcpy(to, text, length(text));
	return to + length(text);
}

static const char *name_of(const struct start *s)
{
	for (const ElfW(auxv_t) *v = s->auxv; v->a_type != AT_NULL; v++)
		if (v->a_type == AT_EXECFN)
			return (const char *)v->a_un.a_val;
	return NULL;
}

static char *allocate(unsigned long bytes)
{
	long p = sys6(__NR_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return sys_failed(p) ? NULL : (char *)p;
}

static bool look(const char *path, struct stat *st)
{
	return !sys4(__NR_newfstatat, AT_FDCWD, (long)path, (long)st, 0);
}

/* Returns the file to execute.  If that is a script, the kernel has put the interpreter and the
 * interpreter's argument before its name, and does so again. */
static const char *file_of(const struct start *s, char ***argv)
{
	static const char self[] = "/proc/self/exe";
	const char *name = name_of(s);
	struct stat a, b;

	if (!name || !look(name, &a) || !look(self, &b))
		return self;
	if (a.st_ino == b.st_ino && a.st_dev == b.st_dev)
		return name;
	for (char **v = *argv + 1; **argv && *v; v++)
		if (same(*v, name)) {
			*argv = v;
			return name;
		}
	return self;
}

/* With those of the linker, if it was the command.  Returns NULL if they are unknown. */
static char **arguments(void)
{
	char *text = allocate(ARGUMENTS), **argv;
	unsigned long size = 0, n = 0;

	if (text)
		size = sys_read_file("/proc/self/cmdline", text, ARGUMENTS - 1);
	for (unsigned long i = 0; i < size; i++)
		n += !text[i];
	argv = n ? (char **)allocate((n + 1) * sizeof(*argv)) : NULL;
	for (unsigned long i = 0; argv && i < n; i++, text += length(text) + 1)
		argv[i] = text;
	return argv;
}

/* The environment with this tunable, the last. */
static char **environment_with(const struct start *s, __u64 bytes)
{
	char **old = tunables_find(s), **envp, *text, *to;
	const char *value = value_of(old) ?: "";
	unsigned long n = 0;

	while (s->envp[n])
		n++;
	envp = (char **)allocate((n + 2) * sizeof(*envp));
	text = to = allocate(length(value) + OWN);
	if (!envp || !text)
		return NULL;
	memcpy(envp, s->envp, n * sizeof(*envp));
	envp[old - s->envp] = text;
	to = text_to(text_to(to, VARIABLE), value);
	to = text_to(text_to(to, *value ? ":" : ""), MARK);
	number_to(text_to(to, STATIC_TLS_TUNABLE), bytes);
	return envp;
}

/* Returns if that fails.  What was allocated stays then: the program is about to end. */
static void execute_again(const struct start *s, __u64 bytes)
{
	char **argv = arguments(), **envp = environment_with(s, bytes);

	if (argv && envp) {
		const char *file = file_of(s, &argv);

		sys3(__NR_execve, (long)file, (long)argv, (long)envp);
	}
}

/* The linker's own message does not say what to do. */
static void advise(const struct start *s, __u64 bytes)
{
	static const char before[] = ": its libraries need more static TLS than the dynamic linker "
				     "leaves with LD_AUDIT (set GLIBC_TUNABLES=";
	const char *name = name_of(s);
	char text[INJECT_PATH + sizeof(before) + OWN], *to = text;

	if (name && length(name) < INJECT_PATH)
		to = text_to(to, name);
	to = number_to(text_to(text_to(to, before), STATIC_TLS_TUNABLE), bytes);
	to = text_to(to, ")\n");
	sys3(__NR_write, 2, (long)text, to - text);
}

static const void *static_tls_address(const struct link_map *map, __u64 value)
{
	return (const void *)(value < map->l_addr ? map->l_addr + value : value);
}

/* Return true if the program itself requires it of libraries, which have no DF_STATIC_TLS. */
static bool program_uses(const struct link_map *map)
{
	const ElfW(Rela) *r = NULL;
	__u64 bytes = 0;

	while (map->l_prev)
		map = map->l_prev;
	for (const ElfW(Dyn) *d = map->l_ld; d && d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_RELA)
			r = static_tls_address(map, d->d_un.d_ptr);
		if (d->d_tag == DT_RELASZ)
			bytes = d->d_un.d_val;
	}
	for (__u64 n = r ? bytes / sizeof(*r) : 0; n; n--, r++)
		if (ELF64_R_TYPE(r->r_info) == MACHINE_THREAD && ELF64_R_SYM(r->r_info))
			return true;
	return false;
}

static bool is_static(const struct link_map *map)
{
	for (const ElfW(Dyn) *d = map->l_ld; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_FLAGS && d->d_un.d_val & DF_STATIC_TLS)
			return true;
	return false;
}

/* Return true if the libraries need more than there is, as far as known. */
static bool is_short(struct static_tls *t, const struct link_map *map)
{
	if (t->needs <= t->room && t->needs + t->others > t->room && !t->looked) {
		t->looked = true;
		t->used = program_uses(map);
	}
	if (t->used) {
		t->needs += t->others;
		t->others = 0;
	}
	return t->needs > t->room;
}

/* Threads' stacks have that much less, so it is little at first. */
static void enlarge(struct injected *a, const struct start *s)
{
	struct static_tls *t = &a->tls;
	char *mark;
	__u64 has = tunable_of(value_of(tunables_find(s)), &mark);
	__u64 bytes = STATIC_TLS_DEFAULT + t->needs + (mark ? t->needs : t->needs / 8) + SPARE;
	bool ends = t->needs > has + OTHER;

	t->again |= mark != NULL;
	if (has > STATIC_TLS_DEFAULT + FREE)
		t->room = has - STATIC_TLS_DEFAULT;
	if (t->needs <= t->room)
		return;
	/* a seccomp filter may end a program for it */
	if (!a->filters || ends)
		execute_again(s, bytes);
	if (!ends)
		return;
	advise(s, bytes);
	t->started = true;
}

void static_tls_note(struct injected *a, const struct link_map *map)
{
	struct static_tls *t = &a->tls;
	struct start s;
	struct object o;

	if (t->started || !*map->l_name || !object_map(&o, map, NULL, 0))
		return;
	t->room = t->room ?: FREE;
	for (const ElfW(Phdr) *p = o.phdr; p < o.phdr + o.phdrs; p++)
		if (p->p_type == PT_TLS)
			*(is_static(map) ? &t->needs : &t->others) += p->p_memsz + p->p_align;
	if (is_short(t, map) && start_find(&s, map))
		enlarge(a, &s);
}

/* Restores the environment: the program's children have needs of their own. */
void static_tls_started(struct injected *a, const struct link_map *map)
{
	struct static_tls *t = &a->tls;
	struct start s;
	char **v, *mark;

	t->started = true;
	if (!t->again || !start_find(&s, map))
		return;
	v = tunables_find(&s);
	tunable_of(value_of(v), &mark);
	if (!mark)
		return;
	if (mark[-1] == ':') {
		mark[-1] = 0;
		return;
	}
	for (; *v; v++)
		v[0] = v[1];
}
