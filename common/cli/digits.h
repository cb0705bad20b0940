/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Numbers as text.  A row is printed for each call: printf() would take five times as long for the
 * whole of it.  So each function writes a number's digits from their end backwards, and returns
 * where they begin; there are at most DIGITS, and no '\0' behind them. */
#ifndef DIGITS_H
#define DIGITS_H

enum { DIGITS = 32 };

/* With zeros in front, if they are fewer than least. */
char *digits_decimal(char *end, unsigned long long n, int least);

char *digits_int(char *end, int n);

/* "0x7f00", as addresses are written. */
char *digits_pointer(char *end, unsigned long long n);

/* Nanoseconds as microseconds with a tenth: "12.3". */
char *digits_us(char *end, unsigned long long ns);

/* Three numbers with a character between them: "4x2x1". */
char *digits_dim(char *end, const unsigned *dim, char between);

#endif
