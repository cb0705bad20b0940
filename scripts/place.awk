# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Where the x86-64 ABI passes the next argument, as in struct cuda_args: a register or stack
# words.  A function begins with used = stack = 0.
function place(bytes,   words, at) {
	words = int((bytes + 7) / 8)
	if (words <= 2 && used + words <= 6) { at = used + 1; used += words }
	else { at = 7 + stack; stack += words }
	return at
}
