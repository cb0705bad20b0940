/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The interpreter's instructions, case by case.
 * alu TABLE SECTION	runs the cases of a section of a table (see alu.tbl): prints those that fail, and their number
 * alu -d	reads names of instructions, each with its number of operands; prints those that are not known */
#include "../sim/interp/alu.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct count {
	unsigned cases, failed;
};

/* Splits a line at spaces; returns how many words there are. */
static int split(char *line, char **word, int max)
{
	int n = 0;

	for (char *p = strtok(line, " \t\n"); p && n < max; p = strtok(NULL, " \t\n"))
		word[n++] = p;
	return n;
}

static bool decode(struct alu_insn *insn, const char *text, int operands)
{
	return alu_decode(insn, (struct ptx_str){ text, strlen(text) }, operands);
}

/* "value" or "value.selector" */
static bool operand(struct alu_insn *insn, char *text, int i, uint64_t *value)
{
	char *dot = strchr(text, '.');

	*value = strtoull(text, NULL, 0);
	return !dot || alu_select(insn, i, (struct ptx_str){ dot + 1, strlen(dot + 1) });
}

static bool extended(unsigned type, uint64_t v)
{
	unsigned unused = 64 - alu_bits(type);
	bool sign = type >= ALU_S8 && type <= ALU_S64;

	return v == (sign ? (uint64_t)((int64_t)(v << unused) >> unused) : v << unused >> unused);
}

/* Compares a result with what the table says of its type's bits. */
static bool same(const struct alu_insn *insn, int i, uint64_t got, const char *want)
{
	unsigned unused = 64 - alu_bits(insn->out[i]);
	uint64_t value = strtoull(want, NULL, 0);

	if (!strcmp(want, "_"))
		return true;
	return got << unused == value << unused && extended(insn->out[i], got);
}

/* op operand… = result… [carry before, and after]; op operand… ! where it is not known. */
static bool run(char **word, int n)
{
	struct alu_insn insn;
	uint64_t s[ALU_OPERANDS + 1] = { 0 }, d[ALU_RESULTS] = { 0 };
	char selector[32];
	int operands = 0, results = 0, i;
	uint32_t carry = 0, after = 0;
	bool right;

	while (operands + 1 < n && strcmp(word[operands + 1], "=") && strcmp(word[operands + 1], "!"))
		operands++;
	if (operands + 1 == n || operands > ALU_OPERANDS)
		return false;
	if (word[operands + 1][0] == '!')
		return !decode(&insn, word[0], operands);
	if (!decode(&insn, word[0], operands) || insn.operands != operands)
		return false;
	for (i = 0; i < operands; i++)
		if (!operand(&insn, word[i + 1], i, &s[i]))
			return false;
	for (i = operands + 2; i < n; i++)
		if (sscanf(word[i], "carry=%u,%u", &carry, &after) == 2)
			break;
	results = i - operands - 2;
	if (results < 1 || results > insn.results)
		return false;
	if (sscanf(word[operands + 2], "%*[^.].%31s", selector) == 1 &&
	    !alu_select(&insn, -1, (struct ptx_str){ selector, strlen(selector) }))
		return false;
	alu_run(&insn, d, s, &carry);
	right = carry == after;
	for (i = 0; i < results; i++)
		right = same(&insn, i, d[i], word[operands + 2 + i]) && right;
	if (!right)
		printf("%s: 0x%llx 0x%llx carry %u\n", word[0], (unsigned long long)d[0], (unsigned long long)d[1],
		       carry);
	return right;
}

static void table(FILE *f, const char *section, struct count *count)
{
	char line[512], copy[512], *word[16];
	bool here = false;
	int n;

	while (fgets(line, sizeof(line), f)) {
		strcpy(copy, line);
		n = split(line, word, 16);
		if (n == 2 && !strcmp(word[0], "section"))
			here = !strcmp(word[1], section);
		else if (here && n && word[0][0] != '#') {
			count->cases++;
			if (!run(word, n)) {
				count->failed++;
				printf("wrong: %s", copy);
			}
		}
	}
}

static int names(void)
{
	char line[512], *word[2];
	struct alu_insn insn;
	int failed = 0;

	while (fgets(line, sizeof(line), stdin))
		if (split(line, word, 2) == 2 && !decode(&insn, word[0], atoi(word[1]))) {
			printf("%s %s\n", word[0], word[1]);
			failed = 1;
		}
	return failed;
}

int main(int argc, char **argv)
{
	struct count count = { 0 };
	FILE *f;

	if (argc == 2 && !strcmp(argv[1], "-d"))
		return names();
	f = argc == 3 ? fopen(argv[1], "r") : NULL;
	if (!f) {
		fprintf(stderr, "usage: alu TABLE SECTION\n");
		return 2;
	}
	table(f, argv[2], &count);
	fclose(f);
	printf("%u cases, %u wrong\n", count.cases, count.failed);
	return count.failed || !count.cases;
}
