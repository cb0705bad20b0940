/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef ABI_CUDA_STICKY_H
#define ABI_CUDA_STICKY_H
#include <stdbool.h>

/* Return true for an error that a call only reports: earlier work caused it.  Per the comments of NVIDIA's
 * cudaError and CUresult, these leave the process unable to use the GPU. */
static inline bool cuda_error_is_sticky(int error)
{
	switch (error) {
	case 214:		/* uncorrectable ECC error */
	case 220:		/* uncorrectable NVLink error */
	case 226:		/* contained */
	case 700:		/* illegal address */
	case 702:		/* launch timeout */
	case 710:		/* assert */
	case 714 ... 719:	/* hardware stack, illegal instruction, misaligned address, invalid
				 * address space, invalid pc, launch failure */
	case 721:		/* tensor memory leak */
	case 911:		/* external device */
		return true;
	}
	return false;
}

#endif
