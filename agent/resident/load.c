/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Maps inject/TOOL.so, which needs no other library: the dynamic linker cannot be called where a program makes a CUDA call. */
#include <stddef.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include "agent/resident/resident.h"
#include "machine/elf.h"

/* Program headers; bytes of a library. */
enum { HEADERS = 32, LARGEST = 64 << 20 };

struct file {
	int fd;
	ElfW(Ehdr) head;
	ElfW(Phdr) segment[HEADERS];
	int segments;
};

static bool file_read(struct file *f)
{
	long n;

	n = sys4(__NR_pread64, f->fd, (long)&f->head, sizeof(f->head), 0);
	if (n != sizeof(f->head) || memcmp(f->head.e_ident, ELFMAG, SELFMAG) || f->head.e_machine != MACHINE_ELF ||
	    f->head.e_type != ET_DYN || f->head.e_phentsize != sizeof(*f->segment) || !f->head.e_phnum || f->head.e_phnum > HEADERS)
		return false;
	f->segments = f->head.e_phnum;
	n = f->segments * (long)sizeof(*f->segment);
	return sys4(__NR_pread64, f->fd, (long)f->segment, n, (long)f->head.e_phoff) == n;
}

static __u64 page_down(__u64 at)
{
	return at & -injected.page_size;
}

static __u64 page_up(__u64 at)
{
	return page_down(at + injected.page_size - 1);
}

static int protection(const ElfW(Phdr) *s)
{
	return (s->p_flags & PF_R ? PROT_READ : 0) | (s->p_flags & PF_W ? PROT_WRITE : 0) | (s->p_flags & PF_X ? PROT_EXEC : 0);
}

/* From the file, then zeros. */
static bool map_segment(const struct file *f, const ElfW(Phdr) *s, char *base)
{
	__u64 from = page_down(s->p_vaddr), end = s->p_vaddr + s->p_filesz, whole = page_up(end), last = page_up(s->p_vaddr + s->p_memsz);

	if (s->p_filesz && sys_failed(sys6(__NR_mmap, (long)(base + from), (long)(end - from), protection(s),
					   MAP_PRIVATE | MAP_FIXED, f->fd, (long)(s->p_offset - (s->p_vaddr - from)))))
		return false;
	if (s->p_memsz == s->p_filesz)
		return true;
	if (!s->p_filesz)
		whole = from;
	else
		memset(base + end, 0, whole - end);
	return last <= whole || !sys_failed(sys6(__NR_mmap, (long)(base + whole), (long)(last - whole), protection(s),
						 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
}

/* At a multiple of INJECT_PAGE, which the library's sections are aligned to. */
static bool reserve(struct loaded *l, __u64 bytes)
{
	__u64 all = bytes + INJECT_PAGE, from;
	long p = sys6(__NR_mmap, 0, (long)all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (sys_failed(p))
		return false;
	from = ((__u64)p + INJECT_PAGE - 1) & -(__u64)INJECT_PAGE;
	if (from > (__u64)p)
		sys3(__NR_munmap, p, (long)(from - (__u64)p), 0);
	if ((__u64)p + all > from + bytes)
		sys3(__NR_munmap, (long)(from + bytes), (long)((__u64)p + all - from - bytes), 0);
	l->at = (char *)from;
	l->bytes = bytes;
	return true;
}

static bool load_map(struct loaded *l, const struct file *f)
{
	__u64 end = 0;

	for (int i = 0; i < f->segments; i++) {
		const ElfW(Phdr) *s = &f->segment[i];

		if (s->p_type == PT_TLS &&
		    (s->p_filesz || s->p_memsz > INSTANCE_TLS || s->p_align > INSTANCE_TLS_ALIGN))
			return false;
		if (s->p_type != PT_LOAD)
			continue;
		if (s->p_vaddr > LARGEST || s->p_memsz > LARGEST || s->p_filesz > s->p_memsz)
			return false;
		end = s->p_vaddr + s->p_memsz > end ? s->p_vaddr + s->p_memsz : end;
	}
	if (!end || !reserve(l, page_up(end)))
		return false;
	for (int i = 0; i < f->segments; i++)
		if (f->segment[i].p_type == PT_LOAD && !map_segment(f, &f->segment[i], l->at))
			return false;
	return true;
}

static const ElfW(Dyn) *dynamic(const struct loaded *l, const struct file *f)
{
	for (int i = 0; i < f->segments; i++)
		if (f->segment[i].p_type == PT_DYNAMIC)
			return (const void *)(l->at + f->segment[i].p_vaddr);
	return NULL;
}

/* Returns false if there is one of another kind. */
static bool relocate(const struct loaded *l, const struct file *f)
{
	const __u64 thread = (__u64)resident_here.tls - thread_pointer();	/* the same in all threads */
	const ElfW(Sym) *symbols = NULL;
	const ElfW(Rela) *r = NULL;
	__u64 bytes = 0;

	for (const ElfW(Dyn) *d = dynamic(l, f); d && d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_RELA)
			r = (const void *)(l->at + d->d_un.d_ptr);
		else if (d->d_tag == DT_RELASZ)
			bytes = d->d_un.d_val;
		else if (d->d_tag == DT_SYMTAB)
			symbols = (const void *)(l->at + d->d_un.d_ptr);
		else if (d->d_tag == DT_JMPREL || d->d_tag == DT_RELR || d->d_tag == DT_NEEDED)
			return false;
	}
	for (; r && bytes >= sizeof(*r); r++, bytes -= sizeof(*r)) {
		__u64 *at = (__u64 *)(l->at + r->r_offset), symbol = ELF64_R_SYM(r->r_info);

		if (ELF64_R_TYPE(r->r_info) == MACHINE_RELATIVE)
			*at = (__u64)l->at + (__u64)r->r_addend;
		else if (ELF64_R_TYPE(r->r_info) == MACHINE_THREAD)
			*at = thread + (__u64)r->r_addend + (symbol ? symbols[symbol].st_value : 0);
		else
			return false;
	}
	return true;
}

static void protect(const struct loaded *l, const struct file *f)
{
	for (int i = 0; i < f->segments; i++) {
		const ElfW(Phdr) *s = &f->segment[i];
		__u64 from = page_down(s->p_vaddr), end = page_down(s->p_vaddr + s->p_memsz);

		if (s->p_type == PT_GNU_RELRO && end > from)
			sys3(__NR_mprotect, (long)(l->at + from), (long)(end - from), PROT_READ);
	}
}

/* As the tool has it.  Before relocation the segments are what the file has. */
static bool is_stamped(const struct loaded *l, const struct file *f, __u64 stamp)
{
	__u64 is = 0;

	for (int i = 0; i < f->segments; i++) {
		const ElfW(Phdr) *s = &f->segment[i];

		if (s->p_type == PT_LOAD)
			is = resident_stamp_add(is, l->at + s->p_vaddr, s->p_filesz);
	}
	return is == stamp;
}

static const struct instance *instance_of(const struct loaded *l)
{
	static const char name[] = "inject_instance";
	const struct instance *is;
	const ElfW(Sym) *s;
	struct object o;

	if (!object_image(&o, l->at))
		return NULL;
	s = object_data(&o, name);
	is = s ? (const void *)(o.base + s->st_value) : NULL;
	return is && is->version == INSTANCE_VERSION && is->bytes == sizeof(*is) ? is : NULL;
}

bool load_instance(struct loaded *l, int fd, __u64 stamp)
{
	struct file f = { .fd = fd };

	*l = (struct loaded){ 0 };
	if (file_read(&f) && load_map(l, &f) && is_stamped(l, &f, stamp) && relocate(l, &f)) {
		protect(l, &f);
		l->is = instance_of(l);
	}
	if (!l->is)
		load_drop(l);
	return l->is;
}

void load_drop(struct loaded *l)
{
	if (l->at)
		sys3(__NR_munmap, (long)l->at, (long)l->bytes, 0);
	*l = (struct loaded){ 0 };
}
