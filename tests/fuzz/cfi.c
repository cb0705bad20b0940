/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Fuzzes the rules of unwinding.  The first byte chooses: an ELF file; the section .eh_frame of one; the
 * instructions of a CIE and an FDE.  And those of parts of functions (python/eval_code.h). */
#define _GNU_SOURCE
#include <elf.h>
#include <elfutils/libdw.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/clock.h"
#include "elf/cfi.h"
#include "elf/elf_file.h"
#include "machine/elf.h"
#include "fuzz.h"
#include "python/eval_code.h"

/* A register number can make libdw fill gigabytes, which a helper may not have, in time that it does not have: libFuzzer has
 * to have 21 MB.  After a second of an input no more rows are read. */
static const unsigned long long SECOND = 1000000000;
static unsigned long long spent;

const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1:max_allocation_size_mb=24";
}

int __real_dwarf_cfi_addrframe(Dwarf_CFI *cfi, Dwarf_Addr addr, Dwarf_Frame **frame);
int __wrap_dwarf_cfi_addrframe(Dwarf_CFI *cfi, Dwarf_Addr addr, Dwarf_Frame **frame);
int __wrap_dwarf_cfi_addrframe(Dwarf_CFI *cfi, Dwarf_Addr addr, Dwarf_Frame **frame)
{
	unsigned long long began = clock_ns();
	int err = spent > SECOND ? -1 : __real_dwarf_cfi_addrframe(cfi, addr, frame);

	spent += clock_ns() - began;
	return err;
}

/* The file that is made: headers, HDR bytes for .eh_frame_hdr, .eh_frame, code that is not there. */
enum { ADDR = 0x400000, FRAMES = 0x200, CODE = 0x1000, CODE_SIZE = 0x1000, MAX = CODE - FRAMES, WORD = 8 };

struct file {
	Elf64_Ehdr head;
	Elf64_Phdr load;
	Elf64_Shdr sections[3];
	char names[20];
};

static size_t make_file(char *to, const uint8_t *frames, size_t size)
{
	struct file f = {
		.head = {
			.e_ident = { ELFMAG0, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_DYN, .e_machine = MACHINE_ELF, .e_version = EV_CURRENT,
			.e_phoff = offsetof(struct file, load), .e_shoff = offsetof(struct file, sections),
			.e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1,
			.e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 3, .e_shstrndx = 2,
		},
		.load = { .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = ADDR,
			  .p_filesz = CODE + CODE_SIZE, .p_memsz = CODE + CODE_SIZE },
		.sections = {
			{ 0 },
			{ .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_addr = ADDR + FRAMES,
			  .sh_offset = FRAMES, .sh_size = size },
			{ .sh_type = SHT_STRTAB, .sh_offset = offsetof(struct file, names),
			  .sh_size = sizeof(f.names) },
		},
		.names = "\0.eh_frame",
	};

	memset(to, 0, CODE + CODE_SIZE);
	memcpy(to, &f, sizeof(f));
	memcpy(to + FRAMES, frames, size);
	return CODE + CODE_SIZE;
}

/* A CIE and an FDE for all the code, with these instructions; the first byte says how many of them are
 * the CIE's. */
static size_t make_frames(uint8_t *to, struct input *in)
{
	static const uint8_t CIE[] = { 0, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0 };
	size_t size = take(in, 1), at = sizeof(CIE);
	unsigned long long range[2] = { ADDR + CODE, CODE_SIZE };
	uint32_t n;

	size = size < in->left ? size : in->left;
	memcpy(to, CIE, at);
	memcpy(to + at, in->at, size);
	at += size;
	n = at - 4;
	memcpy(to, &n, 4);
	n = 4 + 4 + sizeof(range) + 1 + in->left - size - 4;
	memcpy(to + at, &n, 4);
	n = at + 4;
	memcpy(to + at + 4, &n, 4);
	memcpy(to + at + 8, range, sizeof(range));
	to[at + 8 + sizeof(range)] = 0;
	memcpy(to + at + 9 + sizeof(range), in->at + size, in->left - size);
	return at + 9 + sizeof(range) + in->left - size;
}

/* Addresses that end in 9 cannot be read. */
static bool read_word(void *ctx, unsigned long long at, unsigned long long *word)
{
	unsigned long long *reads = ctx;

	++*reads;
	*word = at * 0x9e3779b97f4a7c15ull >> (at % 64);
	return (at & 0xf) != 9;
}

static void step(const struct cfi *c, unsigned long long offset)
{
	unsigned long long reads = 0, bad;
	const struct cfi_memory memory = { read_word, &reads };
	struct cfi_regs regs = { .known = (1ull << UNWIND_REGISTERS) - 1 }, before;
	struct cfi_simple simple;
	enum cfi_step status;
	bool is_simple = cfi_simple(c, offset, &simple);

	for (int i = 0; i < UNWIND_REGISTERS; i++)
		regs.r[i] = offset * (i + 3) * 8;
	before = regs;
	status = cfi_step(c, offset, &regs, &memory, &bad);
	CHECK(reads < 20000);
	if (is_simple) {
		unsigned long long cfa = before.r[simple.fp ? UNWIND_FP : UNWIND_SP] + simple.cfa;

		CHECK(simple.end == (status == CFI_END));
		CHECK(status != CFI_CALLER || (regs.r[UNWIND_SP] == cfa));
		CHECK(status != CFI_UNREADABLE || bad == cfa - WORD * UNWIND_RA_WORDS(simple.fp_slot));
	}
	if (status == CFI_CALLER)
		CHECK(regs.known >> UNWIND_PC & 1 && regs.known >> UNWIND_SP & 1 && !(regs.known >> UNWIND_REGISTERS));
	else
		CHECK(!memcmp(&regs, &before, sizeof(regs)));
}

static void try_at(int fd, unsigned long long offset)
{
	struct cfi *c = cfi_load(fd, offset), *copy;
	unsigned long long start, end;
	size_t size;

	if (!c)
		return;
	/* as another process has it: nothing but the block */
	size = cfi_size(c);
	copy = malloc(size);
	memcpy(copy, c, size);
	memset(c, 0xaa, size);
	free(c);
	cfi_range(copy, &start, &end);
	CHECK(cfi_covers(copy, offset) && start <= offset && offset < end && size < 1 << 20);
	CHECK(cfi_covers(copy, start) && !cfi_covers(copy, end) && cfi_covers(copy, end - 1));
	for (unsigned long long at = start; at < end && at < start + 64; at++)
		step(copy, at);
	for (int i = 0; i < 16; i++)
		step(copy, start + (end - start) / 16 * i);
	step(copy, end - 1);
	step(copy, offset);
	free(copy);
}

/* All code as the function whose jumps are followed. */
static void try_eval(int fd)
{
	struct eval_code e = { 0 };
	struct elf_file f;

	if (elf_file_open(&f, fd))
		return;
	for (size_t i = 0; i < f.nloads && i < 4; i++)
		eval_code_find(&e, &f, f.loads[i].p_vaddr, f.loads[i].p_filesz);
	for (int i = 0; i < EVAL_PARTS; i++)
		CHECK(e.parts[i].start <= e.parts[i].end);
	elf_file_close(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { FILE_, SECTION, INSTRUCTIONS };
	static int fd = -1;
	struct input in = { data, size };
	int kind = take(&in, 1) % 3;
	char file[CODE + CODE_SIZE];
	uint8_t frames[MAX];

	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (kind != FILE_ && in.left > MAX - 64)
		return 0;
	if (kind != FILE_) {
		if (kind == INSTRUCTIONS)
			size = make_frames(frames, &in);
		else
			memcpy(frames, in.at, size = in.left);
		size = make_file(file, frames, size);
		data = (uint8_t *)file;
	} else {
		data = in.at;
		size = in.left;
	}
	spent = 0;
	CHECK(!ftruncate(fd, 0) && pwrite(fd, data, size, 0) == (ssize_t)size);
	for (size_t at = kind == FILE_ ? 0 : CODE; at <= size; at += kind == FILE_ ? 1 + size / 32 : 271)
		try_at(fd, at);
	try_eval(fd);
	return 0;
}
