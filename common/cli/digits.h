/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Formats numbers.  Tools print a row for each call, which would take five times as long with
 * printf().  So each function writes a number's digits backwards from end, and returns where they
 * begin: at most DIGITS characters, with no '\0' after them. */
#ifndef DIGITS_H
#define DIGITS_H

enum { DIGITS = 32 };

/* Zero-padded to at least least digits. */
char *digits_decimal(char *end, unsigned long long n, int least);

char *digits_int(char *end, int n);

/* An address: "0x7f00". */
char *digits_pointer(char *end, unsigned long long n);

/* Nanoseconds as microseconds with one decimal: "12.3". */
char *digits_us(char *end, unsigned long long ns);

/* Three numbers separated by a character: "4x2x1". */
char *digits_dim(char *end, const unsigned *dim, char between);

#endif
