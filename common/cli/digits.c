/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "cli/digits.h"

char *digits_decimal(char *end, unsigned long long n, int least)
{
	for (int i = 0; n || i < least; i++, n /= 10)
		*--end = '0' + n % 10;
	return end;
}

char *digits_int(char *end, int n)
{
	char *s = digits_decimal(end, n < 0 ? -(unsigned long long)n : (unsigned long long)n, 1);

	if (n < 0)
		*--s = '-';
	return s;
}

char *digits_pointer(char *end, unsigned long long n)
{
	do
		*--end = "0123456789abcdef"[n & 15];
	while (n >>= 4);
	*--end = 'x';
	*--end = '0';
	return end;
}

char *digits_us(char *end, unsigned long long ns)
{
	unsigned long long tenths = ns / 100 + (ns % 100 >= 50);

	*--end = '0' + tenths % 10;
	*--end = '.';
	return digits_decimal(end, tenths / 10, 1);
}

char *digits_dim(char *end, const unsigned *dim, char between)
{
	for (int i = 2; i >= 0; i--) {
		end = digits_decimal(end, dim[i], 1);
		if (i)
			*--end = between;
	}
	return end;
}
