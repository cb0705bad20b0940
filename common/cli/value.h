/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Reads the values of options as users write them: every number, size and duration on a command line. */
#ifndef CLI_VALUE_H
#define CLI_VALUE_H
#include <stdbool.h>

enum { VALUE_US = 1000, VALUE_MS = 1000 * VALUE_US, VALUE_S = 1000 * VALUE_MS };

/* Each returns false if s is anything else, or does not fit. */

/* An integer >= 0: "12". */
bool value_number(const char *s, long *n);

/* Bytes: "4096", "1.5g", "1MB", "1MiB".  As in coreutils, k, m, g, t and KiB, MiB … are powers of 1024,
 * kB, MB … powers of 1000, in upper or lower case. */
bool value_size(const char *s, long *bytes);

/* A duration in ns: "5", "0.5", "100ms", "2m".  The units are ns, us, ms, s, m or min, and h; a number
 * alone is in units of unit ns. */
bool value_time(const char *s, long unit, long *ns);

/* A percentage, as a part of 1: "1%", "0.5%"; "off" and "0": 0. */
bool value_percent(const char *s, double *part);

/* Returns the next word of a list, whose words are separated by commas and white space, and sets *rest after
 * it; NULL at the end.  Writes into the list. */
char *value_word(char **rest);

/* Returns the process id that a word is; 0 if it has anything but digits, -1 if it is too large. */
int value_pid(const char *word);

#endif
