/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the parts of interp_load() share. */
#ifndef TESTS_SIM_INTERP_LOAD_H
#define TESTS_SIM_INTERP_LOAD_H
#include "module.h"
#include "names.h"
#include "text.h"

struct loader {
	struct interp_module *m;
	struct names names;
	struct interp_kernel *f;	/* whose body is read */
	uint64_t next_reg;		/* registers of %r<100> have 100 numbers; those used get slots */
	uint64_t *slot_keys;		/* number plus 1 */
	unsigned *slot_values, num_slots, max_keys;
	unsigned char *slot_bits;
	unsigned max_slot_bits;
	bool wide;			/* a register of 128 bits: two slots */
	unsigned *constant_heads, *constant_next, max_constant_next;	/* a hash of the constants */
	char *why;
	size_t why_size;
};

/* Says why, if nothing was said yet; returns false. */
bool fail(struct loader *loader, const char *what, struct ptx_str at);

/* ---- declarations: decl.c */
enum { DECL_DIMS = 8 };
enum decl_space { DECL_NONE, DECL_REG, DECL_PARAM, DECL_GLOBAL, DECL_CONST, DECL_SHARED, DECL_LOCAL };
struct decl {
	enum decl_space space;
	enum alu_type type;
	bool external, pointer;
	unsigned vector, align;
	struct ptx_str name;
	unsigned dims;
	uint64_t dim[DECL_DIMS];	/* 0: [] */
	uint64_t size;			/* bytes */
	unsigned count;			/* of %r<count> */
	struct ptx_str init;		/* after =, up to the end */
};
/* Reads what is before the first name: ".shared .align 4 .b8".  Returns false if it declares nothing. */
bool decl_begin(struct lexer *lexer, struct decl *decl);
/* Reads a name and its size. */
bool decl_name(struct lexer *lexer, struct decl *decl);
unsigned decl_element(const struct decl *decl);	/* bytes */

/* ---- initialisers: init.c */
bool init_write(struct loader *loader, const struct decl *decl, unsigned char *memory);
/* Return the number of elements of an initialiser's outermost level. */
uint64_t init_count(const struct decl *decl);

/* ---- functions' heads: head.c */
bool head_read(struct loader *loader, struct ptx_str text, bool defined, struct interp_kernel **function);
/* Names the parameters of the loader's function. */
bool head_enter(struct loader *loader, struct ptx_str text);

/* ---- bodies: body.c */
bool body_read(struct loader *loader, struct ptx_reader *reader);
bool variables_read(struct loader *loader, struct ptx_str text);

/* ---- operands: operand.c */
bool slots_reset(struct loader *loader);
/* Return the slot of a register and its bits, or -1. */
int register_slot(struct loader *loader, struct ptx_str name, unsigned *bits);
bool operand_add(struct loader *loader, struct operand operand);
bool operand_constant(struct loader *loader, uint64_t value, struct operand *operand);
/* Reads an operand that is no address; type is that of literals. */
bool operand_parse(struct loader *loader, struct ptx_str text, enum alu_type type, struct operand *operand);
/* Adds the operands of {a, b} or of a single one; returns how many, or -1. */
int operands_vector(struct loader *loader, struct ptx_str text, enum alu_type type);
/* Adds the base of [base + offset]; *space is changed if it is a parameter of an entry. */
bool operand_address(struct loader *loader, struct ptx_str text, unsigned char *space, int64_t *offset);

/* ---- instructions: decode.c and its parts */
bool insn_decode(struct loader *loader, struct ptx_str body);
bool call_decode(struct loader *loader, struct ptx_str body, struct insn *insn);
typedef bool decode_fn(struct loader *loader, const struct ptx_insn *text, struct insn *insn);
decode_fn decode_memory, decode_atomic, decode_mov, decode_cvta, decode_isspacep, decode_branch, decode_brx, decode_exit,
	decode_barrier, decode_fence, decode_warp, decode_nothing, decode_trap, decode_sleep, decode_async, decode_texture,
	decode_matrix, decode_mbarrier, decode_async_arrive, decode_alu;

/* ---- parameters: pointers.c */
bool pointers_find(struct loader *loader);

/* ---- slots: live.c */
bool live_compact(struct loader *loader);

#endif
