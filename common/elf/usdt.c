/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "base/die.h"
#include "elf/elf.h"
#include "elf/elf_file.h"
#include "elf/usdt_text.h"
#include "machine/usdt.h"

/* Bytes of a file's notes; its probes; bytes of a probe's name. */
enum { MAX_NOTES = 1 << 20, MAX_PROBES = 64, MAX_NAME = 128 };

enum { NOTE_TYPE = 3 };

/* Head of a note; then provider, name and arguments, each of them terminated. */
struct note {
	unsigned long long at, base, semaphore;	/* addresses; base: of .stapsdt.base when it was linked */
};

struct usdt_scan {
	const struct elf_file *file;
	int (*find)(const void *ctx, const char *name);
	const void *ctx;
	struct elf_scan *scan;
	unsigned long long base;	/* where .stapsdt.base is now: prelink moves it; 0: it is not there */
	int n;				/* added */
};

/* Converts the address of data; false if it is not in the file. */
static bool data_offset(const struct elf_file *f, unsigned long long addr, unsigned long long *offset)
{
	for (size_t i = 0; i < f->nsegments; i++) {
		const Elf64_Phdr *p = &f->segments[i];

		if (p->p_type != PT_LOAD || addr < p->p_vaddr || addr - p->p_vaddr >= p->p_filesz)
			continue;
		*offset = addr - p->p_vaddr + p->p_offset;
		return *offset >= p->p_offset && *offset < f->bytes.size;
	}
	return false;
}

/* Converts the note's addresses; false if they are not in the file.  The kernel places no probe of a file where
 * one has an odd semaphore, or two at one place have different ones (uprobe_register()). */
static bool place(const struct usdt_scan *s, const struct note *note, struct elf_probe *probe)
{
	unsigned long long moved = s->base && note->base ? s->base - note->base : 0;

	if (!elf_file_offset(s->file, note->at + moved, &probe->offset))
		return false;
	if (note->semaphore && !data_offset(s->file, note->semaphore + moved, &probe->semaphore))
		return false;
	for (int i = 0; i < s->scan->n; i++)
		if (s->scan->probes[i].offset == probe->offset)
			return false;
	probe->symbol = probe->offset;
	return !(probe->semaphore & 1);
}

static bool take_arg(const char **at, struct usdt_arg *arg)
{
	long long size;

	*arg = (struct usdt_arg){ .reg = USDT_NO_REGISTER, .index = USDT_NO_REGISTER };
	if (!take_number(at, &size) || !take(at, '@'))
		return false;
	if (size < -8 || size > 8)
		return false;
	arg->size = size;
	size = size < 0 ? -size : size;
	return (size == 1 || size == 2 || size == 4 || size == 8) && take_place(at, arg);
}

/* Reads the places of the arguments as notes have them, on x86-64 "-8@%rbp -1@%al 8@56(%rsp) 4@$1".  Returns false if
 * there is one that is not understood, such as a variable's; arguments after the USDT_ARGS first ones are left
 * out. */
static bool parse_args(const char *text, struct usdt_args *args)
{
	memset(args, 0, sizeof(*args));
	for (int n = 0; n < USDT_ARGS; n++) {
		text += strspn(text, " ");
		if (!*text)
			break;
		if (!take_arg(&text, &args->args[n]) || (*text && *text != ' '))
			return false;
	}
	return true;
}

/* Returns why the probe cannot be used, or NULL. */
static const char *usdt_add(struct usdt_scan *s, int id, const struct note *note, const char *args)
{
	struct elf_probe probe = { .id = id, .usdt = true };
	struct elf_scan *scan = s->scan;

	if (s->n >= MAX_PROBES)
		return "too many USDT probes";
	if (!parse_args(args, &probe.args))
		return "unsupported USDT arguments";
	if (!place(s, note, &probe))
		return "invalid USDT probe";
	scan->probes = xrealloc(scan->probes, scan->n + 1, sizeof(*scan->probes));
	scan->probes[scan->n++] = probe;
	s->n++;
	return NULL;
}

/* Returns the string at *at, which it moves beyond it; NULL if it does not end before end. */
static const char *string(const char **at, const char *end)
{
	const char *text = *at, *zero = text < end ? memchr(text, 0, end - text) : NULL;

	*at = zero ? zero + 1 : end;
	return zero ? text : NULL;
}

static void on_note(struct usdt_scan *s, const char *desc, size_t size)
{
	const char *at = desc + sizeof(struct note), *end = desc + size, *provider, *name, *args, *why;
	char full[MAX_NAME];
	struct note note;
	int id;

	if (size < sizeof(note))
		return;
	memcpy(&note, desc, sizeof(note));
	provider = string(&at, end);
	name = string(&at, end);
	args = string(&at, end);
	if (!args || strlen(provider) + strlen(name) + 2 > sizeof(full))
		return;
	stpcpy(stpcpy(stpcpy(full, provider), ":"), name);
	id = s->find(s->ctx, full);
	why = id >= 0 ? usdt_add(s, id, &note, args) : NULL;
	s->scan->usdt_left |= why != NULL;
	if (!s->scan->error)
		s->scan->error = why;
}

static size_t padded(size_t n)
{
	return (n + 3) & ~3ul;
}

static void each_note(struct usdt_scan *s, const char *bytes, size_t size)
{
	static const char owner[] = "stapsdt";
	const char *at = bytes, *end = bytes + size;
	Elf64_Nhdr head;

	while ((size_t)(end - at) >= sizeof(head)) {
		memcpy(&head, at, sizeof(head));
		at += sizeof(head);
		if (padded(head.n_namesz) > (size_t)(end - at))
			return;
		at += padded(head.n_namesz);
		if (head.n_descsz > (size_t)(end - at))
			return;
		if (head.n_type == NOTE_TYPE && head.n_namesz == sizeof(owner) &&
		    !memcmp(at - padded(head.n_namesz), owner, sizeof(owner)))
			on_note(s, at, head.n_descsz);
		if (padded(head.n_descsz) > (size_t)(end - at))
			return;
		at += padded(head.n_descsz);
	}
}

void elf_usdt_scan(int fd, int (*find)(const void *ctx, const char *name), const void *ctx,
		   struct elf_scan *scan)
{
	struct usdt_scan s = { .find = find, .ctx = ctx, .scan = scan };
	const Elf64_Shdr *section, *base;
	struct elf_file file;
	char *bytes;

	if (elf_file_open(&file, fd))
		return;
	s.file = &file;
	section = elf_file_section(&file, ".note.stapsdt");
	base = section ? elf_file_section(&file, ".stapsdt.base") : NULL;
	s.base = base ? base->sh_addr : 0;
	if (section && section->sh_type == SHT_NOTE && section->sh_size <= MAX_NOTES &&
	    !(section->sh_flags & SHF_COMPRESSED)) {
		bytes = elf_bytes_part(&file.bytes, section->sh_offset, section->sh_size);
		if (bytes)
			each_note(&s, bytes, section->sh_size);
		free(bytes);
	}
	elf_file_close(&file);
}
