/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* longname [COUNT]: leaks 4096 bytes COUNT (3) times in a function whose mangled
 * name has more than 4,000 characters.
 */
#include <cstdlib>

#include "cuda_api.h"

/* One a level: a macro is not expanded inside itself. */
#define PASTE(a, b, c, d) a##b##c##d
#define PASTE4_A(a, b, c, d) PASTE(a, b, c, d)
#define PASTE4_B(a, b, c, d) PASTE(a, b, c, d)
#define PASTE4_C(a, b, c, d) PASTE(a, b, c, d)
#define N64 a_name_that_goesa_name_that_goesa_name_that_goesa_name_that_goes
#define N256 PASTE4_A(N64, N64, N64, N64)
#define N1024 PASTE4_B(N256, N256, N256, N256)
#define N4096 PASTE4_C(N1024, N1024, N1024, N1024)

namespace app {

__attribute__((noinline)) int N4096(unsigned long size)
{
	void *p;
	int ret = cudaMalloc(&p, size);

	__asm__ volatile("" : : "r"(p) : "memory");
	return ret;
}

}

int main(int argc, char **argv)
{
	for (int i = argc > 1 ? atoi(argv[1]) : 3; i > 0; i--)
		app::N4096(4096);
	return 0;
}
