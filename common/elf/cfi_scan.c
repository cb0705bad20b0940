/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include "elf/cfi_find.h"

/* Limits on what is read where there is no table.  The linker puts all FDEs with the same CIE behind
 * it; a file in which they alternate is built to keep us busy. */
enum { MAX_SCAN = 32 << 20, MAX_CIES = 1 << 14, AHEAD = 256 << 10, AHEAD_CIE = 64 };

void cfi_found_free(struct cfi_found *found)
{
	free(found->cie.bytes);
	free(found->fde.bytes);
}

bool cfi_found_read(struct cfi_section *s, unsigned long long pos, unsigned long long addr,
		    struct cfi_found *found)
{
	struct cfi_span span;

	if (!cfi_span_read(s, pos, &span) || span.cie ||
	    !cfi_cie_read(s, cfi_span_cie(s, &span), &found->cie))
		return false;
	if (cfi_fde_read(s, &span, &found->cie, true, &found->fde)) {
		if (addr >= found->fde.start && addr < found->fde.end)
			return true;
		free(found->fde.bytes);
	}
	free(found->cie.bytes);
	return false;
}

/* Makes *cie the FDE's, if it is another one. */
static bool change_cie(struct cfi_section *s, const struct cfi_span *fde, struct cfi_cie *cie,
		       bool *have, int *left)
{
	unsigned long long pos = cfi_span_cie(s, fde);

	if (*have && cie->pos == pos)
		return true;
	if (!(*left)--)
		return false;
	if (*have)
		free(cie->bytes);
	*have = cfi_cie_read(s, pos, cie);
	return *have;
}

bool cfi_scan(struct cfi_section *s, unsigned long long pos, unsigned long long addr,
	      struct cfi_found *found)
{
	unsigned long long end = pos + MAX_SCAN;
	bool have = false, hit = false, memory = s->len && s->len == s->size;
	struct cfi_section cies = *s;	/* with a window of their own */
	struct cfi_cie cie = { 0 };
	struct cfi_span span;
	struct cfi_fde fde;
	int left = MAX_CIES;

	s->ahead = AHEAD;
	if (!memory) {
		cies.window = NULL;
		cies.len = 0;
		cies.ahead = AHEAD_CIE;
	}
	while (!hit && left >= 0 && pos < end && cfi_span_read(s, pos, &span)) {
		hit = !span.cie && change_cie(&cies, &span, &cie, &have, &left) &&
		      cfi_fde_read(s, &span, &cie, false, &fde) && addr >= fde.start && addr < fde.end;
		if (!hit)
			pos = span.next;
	}
	if (have)
		free(cie.bytes);
	if (!memory)
		cfi_section_close(&cies);
	return hit && cfi_found_read(s, pos, addr, found);
}
