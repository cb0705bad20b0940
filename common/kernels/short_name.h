/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Short names of kernels, for reading: the operation, the kernel's family, its types and sizes.  PyTorch's
 * "at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>, false>"
 * is "add vectorized<float,8,false>", and "fill<int>" stays "fill<int>". */
#ifndef KERNELS_SHORT_NAME_H
#define KERNELS_SHORT_NAME_H

/* Names of more characters lose arguments of templates, and words; bytes of a short name, with its end. */
enum { SHORT_NAME_WANTED = 40, SHORT_NAME_LONGEST = 64, SHORT_NAME_SIZE = SHORT_NAME_LONGEST + 1 };

/* Sets to the short name of a kernel, given by its name with or without parameters.  It depends on the name only.
 * Parts left out for want of space are replaced by five digits of the name's hash: "flash_fwd<128,half>#1a2b3".
 * Words are not cut, except one of more than SHORT_NAME_LONGEST bytes.  The text is as untrusted as the name. */
void short_name(char text[SHORT_NAME_SIZE], const char *name);

/* The same with eight digits of the hash, for a kernel whose short name another one has. */
void short_name_apart(char text[SHORT_NAME_SIZE], const char *name);

#endif
