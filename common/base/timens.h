/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Time namespaces (time_namespaces(7)): a process in one has another CLOCK_MONOTONIC than the kernel's probes. */
#ifndef BASE_TIMENS_H
#define BASE_TIMENS_H
#include <stdbool.h>

#define TIMENS_OFFSETS "/proc/self/timens_offsets"

/* The file has the offsets of the namespace that children will be in.  If it is not the process's own, which it is after execve(2)
 * since Linux 6.1 and after fork(2), the offsets do not apply to the process. */
#define TIMENS_OWN "/proc/self/ns/time"
#define TIMENS_CHILDREN "/proc/self/ns/time_for_children"

static inline bool timens_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* text: the file, whose lines are CLOCK, seconds and nanoseconds.  Returns how far the namespace's CLOCK_MONOTONIC is ahead of the
 * initial namespace's, ns; 0 if the text has none.  Calls no function of the C library. */
static inline long long timens_ahead(const char *text)
{
	unsigned long long number[2] = { 0, 0 };
	bool less;

	if (*text != 'm')	/* "monotonic" comes first */
		return 0;
	while (*text && *text != '\n' && *text != '-' && !timens_is_digit(*text))
		text++;
	less = *text == '-';
	text += less;
	for (int i = 0; i < 2; i++) {
		for (; timens_is_digit(*text); text++)
			number[i] = number[i] * 10 + (unsigned long long)(*text - '0');
		while (*text == ' ')
			text++;
	}
	return (long long)((less ? -number[0] : number[0]) * 1000000000 + number[1]);
}

#endif
