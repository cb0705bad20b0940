/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "base/clock.h"
#include "base/die.h"
#include "elf/cfi_block.h"
#include "elf/elf_file.h"
#include "elf/elf_go.h"

/* Limits on a block: CPython's interpreter is a function of 1,000 rows.  Expressions of real functions have fewer
 * than 20 operations. */
enum {
	MAX_ROWS = 1024, MAX_BACK = 64, MAX_OPS = 1024, MAX_EXPR = 255, MAX_CELLS = MAX_ROWS * (1 + UNWIND_REGISTERS),
};

/* MAX_NS: for each row libdw executes the instructions from the start of the function.  MAX_SIZE: rows have
 * offsets of 32 bits. */
static const unsigned long long MAX_NS = 10000000, MAX_SIZE = 1ull << 32;

struct builder {
	unsigned long long start;	/* the address that rows are relative to */
	size_t nops, nrows, ncells;
	struct cfi_op ops[MAX_OPS];
	struct cfi_row rows[MAX_ROWS];
	struct cfi_cell cells[MAX_CELLS];
};

/* A rule being made: the cells of the CFA and of each register at most. */
struct rule {
	struct cfi_cell cells[1 + UNWIND_REGISTERS];
};

/* Sets where a branch leads; false if that is not an operation.  libdw leaves the operand as it is:
 * relative to the end of this operation. */
static bool find_target(const Dwarf_Op *ops, size_t n, size_t at, struct cfi_op *op)
{
	long long to = (long long)ops[at].offset + 3 + (short)ops[at].number;
	size_t i = 0;

	while (i < n && (long long)ops[i].offset < to)
		i++;
	op->target = i;
	return i == n || (long long)ops[i].offset == to;
}

static bool convert(const Dwarf_Op *ops, size_t n, struct cfi_op *to)
{
	for (size_t i = 0; i < n; i++) {
		to[i] = (struct cfi_op){ .atom = ops[i].atom, .number = ops[i].number };
		if (ops[i].atom == DW_OP_bregx) {
			to[i].reg = ops[i].number < UNWIND_REGISTERS ? ops[i].number : UNWIND_REGISTERS;
			to[i].number = ops[i].number2;
		}
		if ((ops[i].atom == DW_OP_bra || ops[i].atom == DW_OP_skip) &&
		    !find_target(ops, n, i, &to[i]))
			return false;
	}
	return true;
}

/* Makes the cell that of an expression, which is kept once. */
static bool keep_expr(struct builder *b, const Dwarf_Op *ops, size_t n, struct cfi_cell *cell)
{
	struct cfi_op *new = b->ops + b->nops;
	size_t at = 0;

	if (n > MAX_EXPR || n > MAX_OPS - b->nops || !convert(ops, n, new))
		return false;
	while (memcmp(b->ops + at, new, n * sizeof(*new)))	/* at last it finds itself */
		at++;
	if (at + n > b->nops)
		b->nops = at + n;
	cell->value = at;
	cell->nops = n;
	return true;
}

static bool keep_value(Dwarf_Word value, struct cfi_cell *cell)
{
	cell->value = value;
	return (long long)value >= INT_MIN && (long long)value <= INT_MAX;
}

static bool read_cfa(struct builder *b, Dwarf_Frame *frame, struct cfi_cell *cell)
{
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_frame_cfa(frame, &ops, &n) || !n)
		return false;
	*cell = (struct cfi_cell){ .kind = CFI_CFA };
	if (n == 1 && ops->atom == DW_OP_bregx) {
		cell->reg = ops->number;
		return ops->number < UNWIND_REGISTERS && keep_value(ops->number2, cell);
	}
	if (n == 1 && ops->atom >= DW_OP_breg0 && ops->atom < DW_OP_breg0 + UNWIND_REGISTERS) {
		cell->reg = ops->atom - DW_OP_breg0;
		return keep_value(ops->number, cell);
	}
	cell->kind = CFI_CFA_EXPR;
	return keep_expr(b, ops, n, cell);
}

/* One of libdw's own descriptions: DW_OP_regx; or DW_OP_call_frame_cfa [DW_OP_plus_uconst]
 * [DW_OP_stack_value]. */
static bool read_usual(const Dwarf_Op *ops, size_t n, struct cfi_cell *cell)
{
	Dwarf_Word off = 0;
	size_t i = 1;

	if (ops->atom == DW_OP_regx) {
		cell->kind = CFI_REGISTER;
		return ops->number < UNWIND_REGISTERS && keep_value(ops->number, cell);
	}
	if (i < n && ops[i].atom == DW_OP_plus_uconst)
		off = ops[i++].number;
	cell->kind = i < n && ops[i].atom == DW_OP_stack_value ? CFI_VALUE : CFI_SAVED;
	return ops->atom == DW_OP_call_frame_cfa && keep_value(off, cell);
}

static bool read_register(struct builder *b, Dwarf_Frame *frame, unsigned reg,
			  struct cfi_cell *cell)
{
	Dwarf_Op memory[3], *ops;
	size_t n;

	if (dwarf_frame_register(frame, reg, memory, &ops, &n))
		return false;
	*cell = (struct cfi_cell){ .reg = reg };
	if (!n && UNWIND_BAD_DEFAULT(reg))
		*cell = cfi_default(reg);
	else if (!n)
		cell->kind = ops ? CFI_UNDEFINED : CFI_SAME;
	else if (ops == memory)
		return read_usual(ops, n, cell);
	else if (n < 2 || ops->atom != DW_OP_call_frame_cfa)
		return false;
	else {
		bool value = ops[n - 1].atom == DW_OP_stack_value;

		cell->kind = value ? CFI_VALUE_EXPR : CFI_SAVED_EXPR;
		return keep_expr(b, ops + 1, n - 1 - value, cell);
	}
	return true;
}

static bool read_rule(struct builder *b, Dwarf_Frame *frame, struct rule *rule)
{
	struct cfi_cell *to = rule->cells + 1, usual;

	if (!read_cfa(b, frame, rule->cells))
		return false;
	for (unsigned reg = 0; reg < UNWIND_REGISTERS; reg++) {
		if (!read_register(b, frame, reg, to))
			return false;
		usual = cfi_default(reg);
		to += !!memcmp(to, &usual, sizeof(usual));
	}
	rule->cells->n = to - rule->cells - 1;
	return true;
}

static bool same_rule(const struct cfi_cell *a, const struct cfi_cell *b)
{
	return a->n == b->n && !memcmp(a, b, (1 + a->n) * sizeof(*a));
}

/* Returns the index of the rule, which is kept once; CFI_NO_RULE if there is no room. */
static int keep_rule(struct builder *b, const struct cfi_cell *rule)
{
	size_t at = 0;

	while (at < b->ncells && !same_rule(b->cells + at, rule))
		at += 1 + b->cells[at].n;
	if (at == b->ncells) {
		if (at + 1 + rule->n > MAX_CELLS)
			return CFI_NO_RULE;
		memcpy(b->cells + at, rule, (1 + rule->n) * sizeof(*rule));
		b->ncells += 1 + rule->n;
	}
	return at;
}

/* Drops the first half of the rows. */
static void drop_rows(struct builder *b)
{
	unsigned by = b->rows[MAX_ROWS / 2].from;

	b->nrows -= MAX_ROWS / 2;
	memmove(b->rows, b->rows + MAX_ROWS / 2, b->nrows * sizeof(*b->rows));
	for (size_t i = 0; i < b->nrows; i++)
		b->rows[i].from -= by;
	b->start += by;
}

static void add_row(struct builder *b, unsigned long long at, Dwarf_Frame *frame)
{
	struct rule rule;
	int index = read_rule(b, frame, &rule) ? keep_rule(b, rule.cells) : CFI_NO_RULE;

	if (b->nrows && b->rows[b->nrows - 1].rule == index)
		return;
	if (b->nrows == MAX_ROWS)
		drop_rows(b);
	b->rows[b->nrows++] = (struct cfi_row){ at - b->start, index };
}

static struct cfi *make_block(const struct builder *b)
{
	struct cfi head = { .nops = b->nops, .nrows = b->nrows, .ncells = b->ncells };
	struct cfi *c = xcalloc(1, cfi_size(&head));

	*c = head;
	memcpy(cfi_ops(c), b->ops, b->nops * sizeof(*b->ops));
	memcpy(cfi_rows(c), b->rows, b->nrows * sizeof(*b->rows));
	memcpy(cfi_cells(c), b->cells, b->ncells * sizeof(*b->cells));
	return c;
}

/* The code that rows are read of: a function; the executable segment, if the file has no table of functions. */
struct code {
	Dwarf_CFI *dwarf;
	unsigned long long start, end;	/* addresses */
	bool function;
	bool signal;			/* of the row asked for */
};

/* Returns the row at an address, which free() frees; NULL if there is none in this code. */
static Dwarf_Frame *row_at(const struct code *c, unsigned long long addr, Dwarf_Addr *start, Dwarf_Addr *end,
			   bool *signal)
{
	Dwarf_Frame *frame;

	if (addr < c->start || addr >= c->end || dwarf_cfi_addrframe(c->dwarf, addr, &frame))
		return NULL;
	if (dwarf_frame_info(frame, start, end, signal) == UNWIND_RA && *start <= addr && *end > addr) {
		if (*start < c->start)
			*start = c->start;
		if (*end > c->end)
			*end = c->end;
		return frame;
	}
	free(frame);
	return NULL;
}

/* Returns where to begin: MAX_BACK rows before addr at most, or as many as there is time for.  libdw (0.188) has a
 * restored state start where it was remembered: a step back can be one of several rows. */
static unsigned long long step_back(const struct code *c, unsigned long long addr)
{
	unsigned long long until = clock_ns() + MAX_NS, first = addr;
	Dwarf_Addr start, end;
	Dwarf_Frame *frame;
	bool signal;

	for (int i = 0; i <= MAX_BACK && clock_ns() < until; i++) {
		frame = row_at(c, i ? first - 1 : addr, &start, &end, &signal);
		if (!frame || signal != c->signal) {
			free(frame);
			break;
		}
		free(frame);
		first = start;
	}
	return first;
}

/* Reads the rows from this address up to that of addr, for ns at most; then those after it that there is room for, for
 * MAX_NS at most.  Returns the end of what was read. */
static unsigned long long read_from(struct builder *b, const struct code *c, unsigned long long at,
				    unsigned long long addr, unsigned long long ns)
{
	unsigned long long now = clock_ns();
	Dwarf_Addr start, end;
	Dwarf_Frame *frame;
	bool signal, ok = true;

	b->start = at;
	b->nrows = 0;
	while (ok && clock_ns() - now < ns && (at <= addr || b->nrows < MAX_ROWS)) {
		frame = row_at(c, at, &start, &end, &signal);
		ok = frame && signal == c->signal && end - b->start < MAX_SIZE;
		if (ok) {
			add_row(b, at, frame);
			if (at <= addr && end > addr) {
				now = clock_ns();
				ns = MAX_NS;
			}
			at = end;
		}
		free(frame);
	}
	return at;
}

/* Reads the rows of a function, those around addr if they are too many, into a block. */
static struct cfi *read_rows(struct code *c, unsigned long long addr)
{
	Dwarf_Addr start, end;
	Dwarf_Frame *frame = row_at(c, addr, &start, &end, &c->signal);
	struct builder *b;
	struct cfi *cfi = NULL;

	if (!frame)
		return NULL;
	free(frame);
	b = xcalloc(1, sizeof(*b));
	end = c->function ? read_from(b, c, c->start, addr, MAX_NS) : 0;
	if (end <= addr)
		end = read_from(b, c, step_back(c, addr), addr, ULLONG_MAX);
	if (end > addr) {
		cfi = make_block(b);
		cfi->start = b->start;
		cfi->end = end;
		cfi->signal = c->signal;
	}
	free(b);
	return cfi;
}

static struct cfi *read_eh_frame(Elf *elf, struct code *c, unsigned long long addr)
{
	struct cfi *cfi = NULL;

	c->dwarf = dwarf_getcfi_elf(elf);
	if (c->dwarf) {
		cfi = read_rows(c, addr);
		dwarf_cfi_end(c->dwarf);
	}
	return cfi;
}

/* dwarf_begin_elf() inflates all debug sections. */
static struct cfi *read_debug_frame(Elf *elf, struct code *c, unsigned long long addr)
{
	Dwarf *debug = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	struct cfi *cfi = NULL;

	c->dwarf = debug ? dwarf_getcfi(debug) : NULL;
	if (c->dwarf)
		cfi = read_rows(c, addr);
	dwarf_end(debug);
	return cfi;
}

/* Reads by the table of functions.  With section headers, libdw would ignore one behind .eh_frame, where gold
 * puts it, and read all of .eh_frame for each function. */
static struct cfi *read_by_table(const struct elf_file *file, struct code *c, unsigned long long addr)
{
	size_t size = file->bytes.size;
	Elf64_Ehdr *head = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file->bytes.fd, 0);
	struct cfi *cfi = NULL;
	Elf *elf;

	if (head == MAP_FAILED)
		return NULL;
	/* the header only: writable memory counts as allocated */
	if (!mprotect(head, sizeof(*head), PROT_READ | PROT_WRITE)) {
		head->e_shoff = head->e_shnum = head->e_shstrndx = 0;
		elf = elf_memory((char *)head, size);
		if (elf)
			cfi = read_eh_frame(elf, c, addr);
		elf_end(elf);
	}
	munmap(head, size);
	return cfi;
}

static struct cfi *read_by_sections(const struct elf_file *file, struct code *c, unsigned long long addr,
				    bool eh)
{
	Elf *elf = elf_begin(file->bytes.fd, ELF_C_READ_MMAP, NULL);
	struct cfi *cfi = elf && eh ? read_eh_frame(elf, c, addr) : NULL;

	if (elf && !cfi && elf_file_section(file, ".debug_frame") && !elf_has_go(file))
		cfi = read_debug_frame(elf, c, addr);
	elf_end(elf);
	return cfi;
}

static struct cfi *load(const struct elf_file *file, const Elf64_Phdr *p, unsigned long long addr)
{
	const bool table = elf_file_segment(file, PT_GNU_EH_FRAME);
	struct code c = { 0 };
	struct cfi *cfi;

	elf_version(EV_CURRENT);
	c.function = cfi_extent(file, addr, &c.start, &c.end);
	/* segments may overlap */
	c.start = c.start < p->p_vaddr ? p->p_vaddr : c.start;
	c.end = c.end - p->p_vaddr > p->p_filesz ? p->p_vaddr + p->p_filesz : c.end;
	cfi = table ? read_by_table(file, &c, addr) : NULL;
	return cfi || file->bare ? cfi : read_by_sections(file, &c, addr, !table);
}

struct cfi *cfi_load(int fd, unsigned long long offset)
{
	struct elf_file file;
	struct cfi *c = NULL;

	if (elf_file_open(&file, fd))
		return NULL;
	for (size_t i = 0; i < file.nloads && !c; i++) {
		const Elf64_Phdr *p = &file.loads[i];
		unsigned long long shift = p->p_vaddr - p->p_offset;

		if (offset < p->p_offset || offset - p->p_offset >= p->p_filesz)
			continue;
		c = load(&file, p, offset + shift);
		if (!c)
			break;
		c->shift = shift;
		c->start -= shift;
		c->end -= shift;
	}
	elf_file_close(&file);
	return c;
}
