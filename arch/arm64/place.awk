# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# place(bytes): where the next argument is passed, as in struct cuda_args: a register, or words of the stack (AAPCS64,
# 6.8.2).  A function begins with used = stack = 0.  by_reference(bytes): whether it is a pointer to the argument that
# is passed.
function place(bytes,   words, at) {
	words = by_reference(bytes) ? 1 : int((bytes + 7) / 8)
	if (used + words <= 8) { at = used + 1; used += words }
	else { at = 9 + stack; stack += words; used = 8 }	# nothing fills a gap in the registers
	return at
}
# what is cut from a text would be compared as a text
function by_reference(bytes) { return bytes + 0 > 16 }
# the address at which a result of that size is stored is in x8, which is no argument
function result_place() { return 0 }
