/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* unwind - copies of stacks that are made up, for common/unwind/unwind.h: prints the frames.  Code at 0x1000 to
 * 0x1fff is in a file, the rest is generated; neither has unwind information. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "unwind/unwind.h"

enum { SP = 0x7ff000, WORDS = 2 * UNWIND_PAGE / 8 };

static struct { struct stack_copy head; unsigned long long words[WORDS]; } stack;

static void find(void *ctx, int pid, unsigned long long addr, struct unwind_code *code)
{
	(void)ctx, (void)pid;
	*code = (struct unwind_code){ .in_file = addr >= 0x1000 && addr < 0x2000, .sure = true };
}

static void print(const char *what, const struct unwinder *u, unsigned long long id)
{
	int n = 0;
	const unsigned long long *frames = unwinder_frames(u, id, &n);

	printf("%s:%s", what, frames ? "" : " none");
	for (int i = 0; i < n && i < 7; i++)
		printf(frames[i] & FRAME_NOTE ? " note" : frames[i] & FRAME_EXACT ? " exact %llx" : " %llx",
		       frames[i] & FRAME_VALUE_MASK);
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

static void unwind(struct unwinder *u, unsigned long long id, unsigned long long bp)
{
	stack.head.id = id;
	stack.head.regs[UNWIND_RIP] = 0x5000;
	stack.head.regs[UNWIND_RSP] = SP;
	stack.head.regs[UNWIND_RBP] = bp;
	stack.head.present = 3;
	stack.head.looked = 2;
	unwinder_copy(u, &stack.head, sizeof(stack), 65534);
}

int main(void)
{
	struct unwinder *u = unwinder_new(NULL, find, NULL);

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

	/* what return probes have put there is not what returns */
	stack.head.returns[STACK_RETURNS - 1].at = at(7);
	stack.head.returns[STACK_RETURNS - 1].pc = 0x5250;
	unwind(u, 7, at(2));
	print("a return probe", u, 7);
	stack.head.returns[STACK_RETURNS - 1].at = 0;

	/* inner frames are left out, and where there are none outside of them, it goes on there */
	stack.head.from = at(4);
	unwind(u, 8, at(2));
	print("from the second on", u, 8);
	stack.head.from = at(3);
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
	return unwinder_frames(NULL, 1, NULL) != NULL;
}
