/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Rust's v0 symbols, "_RNv...": https://doc.rust-lang.org/rustc/symbol-mangling/v0.html.  libiberty's function for them
 * allocates memory and can loop 2^62 times. */
#ifndef SYM_RUST_NAME_H
#define SYM_RUST_NAME_H
#include <stdbool.h>
#include <stddef.h>

/* Writes the name as in the source, without crates' hashes and types of constants, as rustc-demangle's {:#}.  Allocates
 * nothing; takes less than 10 ms.  Return false if the symbol is not a valid one, or if the text, with its '\0', takes
 * more than size bytes: then it is undefined. */
bool rust_name(const char *symbol, char *text, size_t size);

#endif
