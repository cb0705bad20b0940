/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* unwind OBJECT - copies of stacks that are made up, for common/unwind/unwind.h: prints the frames.  OBJECT has its maps.  Code at 0x1000 to
 * 0x1fff is in a file, the rest is generated; neither has unwind information, but code of this program's that a signal
 * handler returns to. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/libbpf.h>
#include "bpf/map_backend.h"
#include "elf/cfi.h"
#include "tests/cfi_machine.h"
#include "unwind/unwind.h"

enum { SP = 0x7ff000, WORDS = 2 * UNWIND_PAGE / 8 };

static struct { struct stack_copy head; unsigned long long words[WORDS]; } stack;

__asm__(".text\n.type interrupted, %function\ninterrupted: .cfi_startproc\n" CFI_INTERRUPTED
	".cfi_endproc\n.size interrupted, .-interrupted");
extern const char interrupted[] __attribute__((visibility("hidden")));
static struct cfi *cfi;

/* Where it is in the file. */
static int place(struct dl_phdr_info *info, size_t size, void *offset)
{
	unsigned long long at = (unsigned long long)interrupted - info->dlpi_addr;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && at - p->p_vaddr < p->p_filesz)
			*(unsigned long long *)offset = at - p->p_vaddr + p->p_offset;
	}
	return 1;	/* the program is the first */
}

static void find(void *ctx, int pid, unsigned long long addr, struct unwind_code *code)
{
	unsigned long long in = addr - (unsigned long long)interrupted, offset = 0;

	(void)ctx, (void)pid;
	code->in_file = addr >= 0x1000 && addr < 0x2000;
	code->sure = true;
	if (in >= 3 * CFI_NOP)
		return;
	dl_iterate_phdr(place, &offset);
	*code = (struct unwind_code){ .cfi = cfi, .offset = offset + in, .in_file = true, .sure = true };
}

static void load(void)
{
	unsigned long long offset = 0;

	dl_iterate_phdr(place, &offset);
	cfi = cfi_load(open("/proc/self/exe", O_RDONLY | O_CLOEXEC), offset + 1);
}

static struct unwind_set sets[UNWIND_SETS];

static int update(void *ctx, const struct bpf_map *map, const void *key, const void *value, unsigned long long flags)
{
	(void)ctx, (void)map, (void)key, (void)value, (void)flags;
	return 0;
}

static void *elements(void *ctx, const struct bpf_map *map)
{
	(void)ctx, (void)map;
	return sets;
}

static unsigned rule_of(unsigned long long pc)
{
	for (int i = 0; i < UNWIND_SETS * UNWIND_WAYS; i++)
		if (sets[i / UNWIND_WAYS].slots[i % UNWIND_WAYS].pc == pc)
			return sets[i / UNWIND_WAYS].slots[i % UNWIND_WAYS].rule & 15;
	return 0;
}

static void print(const char *what, const struct unwinder *u, unsigned long long id)
{
	int n = 0;
	const unsigned long long *frames = unwinder_frames(u, id, &n);

	printf("%s:%s", what, frames ? "" : " none");
	for (int i = 0; i < n && i < 7; i++)
		if (frames[i] & FRAME_NOTE)
			printf(" note");
		else if ((frames[i] & FRAME_VALUE_MASK) == (unsigned long long)interrupted + 2 * CFI_NOP)
			printf(" signal");
		else
			printf(frames[i] & FRAME_EXACT ? " exact %llx" : " %llx", frames[i] & FRAME_VALUE_MASK);
	printf(n > 7 ? " ... %d, %s\n" : "\n", n, n && frames[n - 1] & FRAME_NOTE ? "and a note" : "and no note");
}

static unsigned long long at(int word)
{
	return SP + 8ull * word;
}

/* A frame whose pointer is saved in this word: that of the next one, and the address to return to. */
static void frame(int word, unsigned long long next, unsigned long long pc)
{
	stack.words[word] = next;
	stack.words[word + 1] = pc;
}

static void unwind(struct unwinder *u, unsigned long long id, unsigned long long fp)
{
	stack.head.id = id;
	stack.head.regs[UNWIND_PC] = 0x5000;
	stack.head.regs[UNWIND_SP] = SP;
	stack.head.regs[UNWIND_FP] = fp;
	stack.head.present = 3;
	stack.head.looked = 2;
	unwinder_copy(u, &stack.head, sizeof(stack), 65534);
}

int main(int argc, char **argv)
{
	static const struct maps maps = { .update = update, .elements = elements };
	struct bpf_object *obj = argc == 2 ? bpf_object__open_file(argv[1], NULL) : NULL;
	struct unwinder *u;

	bmaps_use(&maps);
	u = obj ? unwinder_new(obj, find, NULL) : NULL;
	if (!u)
		return 2;
	/* generated code calls generated code, three times, and a file's function it */
	frame(2, at(6), 0x5100);
	frame(6, at(20), 0x5200);
	frame(20, at(30), 0x1300);
	frame(30, 0, 0x1400);
	unwind(u, 1, at(2));
	print("by pointers", u, 1);
	unwind(u, 2, at(0) - 16);
	print("a pointer below the stack", u, 2);
	unwind(u, 3, at(2) + 4);
	print("one that is no multiple of 8", u, 3);
	unwind(u, 4, at(WORDS - 1));
	print("one at the end", u, 4);
	frame(20, at(6), 0x5300);
	unwind(u, 5, at(2));
	print("pointers in a circle", u, 5);
	frame(20, 0, 0x5300);
	unwind(u, 6, at(2));
	print("no file", u, 6);
	frame(20, at(30), 0x1300);

	/* a handler, which returns to generated code that was interrupted */
	load();
	frame(2, at(20), (unsigned long long)interrupted + 2 * CFI_NOP);
	frame(6, at(10), 0x5400);
	frame(10, at(14), 0x5500);
	frame(14, 0, 0x1300);
	unwind(u, 12, at(2));
	print("a signal", u, 12);
	/* an address that was interrupted says nothing of what returns there */
	printf("rules: %d %d %d\n", rule_of(0x5400), rule_of(0x5500) == UNWIND_POINTER, rule_of(0x1300) == UNWIND_NO_RULES);
	frame(2, at(6), 0x5100);
	frame(6, at(20), 0x5200);

	/* what return probes have put there, the start of a page, is not what returns */
	frame(6, at(20), 0x9000);
	stack.head.returns[STACK_RETURNS - 1].at = at(8) - UNWIND_PUSHED;
	stack.head.returns[STACK_RETURNS - 1].pc = 0x5250;
	unwind(u, 7, at(2));
	print("a return probe", u, 7);
	stack.head.returns[STACK_RETURNS - 1].at = 0;
	frame(6, at(20), 0x5200);

	/* inner frames are left out, and where there are none outside of them, it goes on there */
	stack.head.from = at(5) - UNWIND_PUSHED;
	unwind(u, 8, at(2));
	print("from the second on", u, 8);
	stack.head.from = at(4) - UNWIND_PUSHED;
	if (!UNWIND_PUSHED) {
		stack.head.returns[0].at = stack.head.from;
		stack.head.returns[0].pc = 0x5100;
	}
	unwind(u, 9, 0);
	print("from the return address on", u, 9);
	stack.head.from = 0;

	/* of the copies that are kept the last one with a number's remainder */
	unwind(u, 1 + 1024, at(2));
	print("the new one", u, 1 + 1024);
	print("the old one", u, 1);

	for (int i = 0; i < WORDS - 2; i += 4)
		frame(i, at(i + 4), i > WORDS - 24 ? 0x1000 + i : 0x5000 + i);
	unwind(u, 10, at(0));
	print("a file behind 127 frames", u, 10);
	unwind(u, 11, at(WORDS / 2 + 300));
	print("a file behind 50", u, 11);
	unwinder_free(u);
	unwinder_free(NULL);
	bpf_object__close(obj);
	return unwinder_frames(NULL, 1, NULL) != NULL;
}
