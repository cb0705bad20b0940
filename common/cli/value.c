/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "cli/value.h"

struct unit { const char *name; long size; };

static const struct unit sizes[] = {
	{ "b", 1 },
	{ "k", 1l << 10 }, { "kib", 1l << 10 }, { "kb", 1000l },
	{ "m", 1l << 20 }, { "mib", 1l << 20 }, { "mb", 1000000l },
	{ "g", 1l << 30 }, { "gib", 1l << 30 }, { "gb", 1000000000l },
	{ "t", 1l << 40 }, { "tib", 1l << 40 }, { "tb", 1000000000000l },
	{ NULL, 0 }
};

static const struct unit times[] = {
	{ "ns", 1 }, { "us", VALUE_US }, { "ms", VALUE_MS }, { "s", VALUE_S },
	{ "m", 60l * VALUE_S }, { "min", 60l * VALUE_S }, { "h", 3600l * VALUE_S },
	{ NULL, 0 }
};

static bool is_digit(char c)
{
	return isdigit((unsigned char)c);
}

bool value_number(const char *s, long *n)
{
	char *end;

	if (!is_digit(*s))
		return false;
	errno = 0;
	*n = strtol(s, &end, 10);
	return !errno && !*end;
}

/* Reads the digits after the point, if there is one, as a part of 1. */
static bool fraction(const char **s, double *part)
{
	double place = 1;

	*part = 0;
	if (**s != '.')
		return true;
	if (!is_digit(*++*s))
		return false;
	for (; is_digit(**s); ++*s)
		*part += (**s - '0') * (place /= 10);
	return true;
}

bool value_percent(const char *s, double *part)
{
	const char *end = s;
	long whole;

	*part = 0;
	if (!strcmp(s, "off") || !strcmp(s, "0"))
		return true;
	if (!is_digit(*s))
		return false;
	errno = 0;
	whole = strtol(s, (char **)&end, 10);
	if (errno || !fraction(&end, part) || strcmp(end, "%"))
		return false;
	*part = (whole + *part) / 100;
	return true;
}

static long unit_size(const struct unit *u, const char *s, int (*differ)(const char *, const char *))
{
	while (u->name && differ(u->name, s))
		u++;
	return u->size;
}

/* Reads a decimal number, and finds its unit; a number alone has the unit alone. */
static bool value_scaled(const char *s, const struct unit *units, int (*differ)(const char *, const char *),
		   long alone, long *n)
{
	const char *end = s;
	double part;
	long unit;

	if (!is_digit(*s))
		return false;
	errno = 0;
	*n = strtol(s, (char **)&end, 10);
	if (errno || !fraction(&end, &part))
		return false;
	unit = *end ? unit_size(units, end, differ) : alone;
	if (!unit || (part > 0 && unit == 1))
		return false;
	return !__builtin_mul_overflow(*n, unit, n) && !__builtin_add_overflow(*n, (long)(part * unit + .5), n);
}

bool value_size(const char *s, long *bytes)
{
	return value_scaled(s, sizes, strcasecmp, 1, bytes);
}

bool value_time(const char *s, long unit, long *ns)
{
	return value_scaled(s, times, strcmp, unit, ns);
}

char *value_word(char **rest)
{
	static const char between[] = ", \t\n\v\f\r";
	char *word = *rest + strspn(*rest, between);

	if (!*word)
		return NULL;
	*rest = word + strcspn(word, between);
	if (**rest)
		*(*rest)++ = '\0';
	return word;
}

int value_pid(const char *word)
{
	long pid;

	if (word[strspn(word, "0123456789")])
		return 0;
	return value_number(word, &pid) && pid >= 1 && pid <= INT_MAX ? pid : -1;
}
