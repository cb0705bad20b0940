/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The slots of histograms, also for BPF programs: linear within each power of two, as in HdrHistogram (G. Tene).  With so
 * many bits, at least 1, values below 2^(bits + 1) have a slot each; above, each power of two has 2^bits slots of the same width. */
#ifndef BASE_HIST_SLOT_H
#define BASE_HIST_SLOT_H

enum { HIST_BITS = 3, HIST_SLOTS = (65 - HIST_BITS) << HIST_BITS /* for any 64 bits */, HIST_WORDS = (HIST_SLOTS + 63) / 64 };

/* Values in slots of HIST_BITS bits; starts zeroed. */
struct hist {
	unsigned long long slots[HIST_SLOTS];
	unsigned long long mixed[HIST_WORDS];	/* bit i: slot i counts values larger than its lowest, too */
};

/* How many low bits of a value its slot does not distinguish.  log2: the number of its highest bit set, 0 for 0. */
static inline unsigned int hist_shift(unsigned int log2, unsigned int bits)
{
	return log2 > bits ? log2 - bits : 0;
}

/* The slot of a value of which shift bits are not distinguished. */
static inline unsigned int hist_slot(unsigned long long value, unsigned int shift, unsigned int bits)
{
	return (shift << bits) + (unsigned int)(value >> shift);
}

/* The lowest value of a slot; modulo 2^64 for the slot after the last. */
static inline unsigned long long hist_low(unsigned int slot, unsigned int bits)
{
	unsigned int shift = slot >> bits ? (slot >> bits) - 1 : 0;

	return (unsigned long long)(slot - (shift << bits)) << shift;
}

/* The highest one. */
static inline unsigned long long hist_high(unsigned int slot, unsigned int bits)
{
	return hist_low(slot + 1, bits) - 1;
}

#endif
