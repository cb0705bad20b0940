/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Binary floating-point formats of 8 to 64 bits, and rounding to them in any mode, without the CPU's. */
#ifndef TESTS_SIM_INTERP_ALU_FORMAT_H
#define TESTS_SIM_INTERP_ALU_FORMAT_H
#include "alu.h"

struct alu_format {
	unsigned char exponent, mantissa;	/* bits */
	unsigned char shift;			/* where they are: tf32 is the upper 19 bits of 32 */
	bool finite;				/* no infinity: e4m3 */
};

extern const struct alu_format alu_half, alu_bfloat, alu_single, alu_double, alu_tf32, alu_e4m3, alu_e5m2;

/* Returns the format of a type, or of one of its elements; NULL if it is none. */
const struct alu_format *alu_format_of(unsigned type);

/* Returns m times 2 to the power of exp in a format, rounded by one of ALU_RN … ALU_RNA.  Bits that m has no room for
 * may be or'ed into its lowest bit. */
uint64_t alu_pack(const struct alu_format *format, bool negative, int exp, uint64_t m, enum alu_round round);
/* Returns x in a format; NaN is the one that instructions return. */
uint64_t alu_round_to(const struct alu_format *format, double x, enum alu_round round);
uint64_t alu_format_nan(const struct alu_format *format);
/* Returns the largest finite number. */
uint64_t alu_format_max(const struct alu_format *format);
/* Returns a format's value: all of them are doubles. */
double alu_unpack(const struct alu_format *format, uint64_t bits);
/* Returns a * b + c, where a * b is exact, rounded to odd: rounding that once more to at most 51 bits is as right as
 * rounding the exact sum. */
double alu_odd_sum(double a, double b, double c);

#endif
