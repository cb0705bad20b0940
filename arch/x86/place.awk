# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# place(bytes): where the next argument is passed, as in struct cuda_args: a register, or words of the stack (System V
# ABI for x86-64, 3.2.3).  A function begins with used = stack = 0.  by_reference(bytes): whether it is a pointer to the
# argument that is passed.
function place(bytes,   words, at) {
	words = int((bytes + 7) / 8)
	if (words <= 2 && used + words <= 6) { at = used + 1; used += words }
	else { at = 7 + stack; stack += words }
	return at
}
function by_reference(bytes) { return 0 }
# the place of the address at which a result of that size is stored, which is the first argument
function result_place() { return place(8) }
