/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "base/die.h"
#include "elf/cfi_record.h"

/* MAX_ALIGN: an x86-64 CIE has 1 and -8.  HEAD: a length and an id in 64-bit DWARF.  RANGE: the most
 * that start and length of an FDE take. */
enum { MAX_CIE = 4096, MAX_ALIGN = 4096, HEAD = 20, RANGE = 32, RETURN_ADDRESS = 16 };

static const unsigned long long WIDE = 0xffffffff;

void cfi_section_close(struct cfi_section *s)
{
	free(s->window);
	s->window = NULL;
	s->len = 0;
}

const unsigned char *cfi_section_at(struct cfi_section *s, unsigned long long pos,
				    unsigned long long size)
{
	unsigned long long want = size < s->ahead ? s->ahead : size;

	if (pos > s->size || size > s->size - pos)
		return NULL;
	if (pos >= s->from && pos - s->from <= s->len && size <= s->len - (pos - s->from))
		return s->window + (pos - s->from);
	cfi_section_close(s);
	if (want > s->size - pos)
		want = s->size - pos;
	s->window = elf_bytes_part(s->file, s->offset + pos, want);
	s->from = pos;
	s->len = s->window ? want : 0;
	return s->window;
}

static struct dwarf_bytes bytes_at(const struct cfi_section *s, const unsigned char *at,
				   unsigned long long pos, unsigned long long size)
{
	return (struct dwarf_bytes){ at, at ? at + size : NULL, s->addr + pos + size, !at };
}

bool cfi_span_read(struct cfi_section *s, unsigned long long pos, struct cfi_span *span)
{
	unsigned long long size = pos < s->size ? s->size - pos : 0, length;
	const unsigned char *at;
	struct dwarf_bytes b;

	size = size < HEAD ? size : HEAD;
	at = size ? cfi_section_at(s, pos, size) : NULL;
	if (!at)
		return false;
	b = bytes_at(s, at, pos, size);
	*span = (struct cfi_span){ .pos = pos };
	length = dwarf_number(&b, 4);
	span->wide = length == WIDE;
	if (span->wide)
		length = dwarf_number(&b, 8);
	pos += b.at - at;
	if (b.bad || !length || length > s->size - pos)
		return false;
	span->next = pos + length;
	span->id = dwarf_number(&b, span->wide ? 8 : 4);
	span->body = span->pos + (b.at - at);
	span->cie = s->eh ? !span->id : span->id == (span->wide ? ~0ull : WIDE);
	return !b.bad && span->body <= span->next;
}

unsigned long long cfi_span_cie(const struct cfi_section *s, const struct cfi_span *fde)
{
	return s->eh ? fde->body - (fde->wide ? 8 : 4) - fde->id : fde->id;
}

/* Copies a record's body, or its beginning. */
static unsigned char *copy(struct cfi_section *s, const struct cfi_span *span,
			   unsigned long long max, struct dwarf_bytes *b)
{
	unsigned long long size = span->next - span->body;
	const unsigned char *at;
	unsigned char *bytes;

	size = size < max ? size : max;
	at = size ? cfi_section_at(s, span->body, size) : NULL;
	if (!at)
		return NULL;
	bytes = xcalloc(1, size);
	memcpy(bytes, at, size);
	*b = bytes_at(s, bytes, span->body, size);
	return bytes;
}

/* Augmentation data, in the order of the string's letters. */
static bool read_augmentation(struct cfi_cie *cie, struct dwarf_bytes *b, const char *letters)
{
	struct dwarf_bytes data = *b;
	unsigned char encoding;

	cie->sized = *letters == 'z';
	if (!cie->sized)	/* "eh" and others are from before 2001 */
		return !*letters;
	dwarf_skip(b, dwarf_uleb(b));
	dwarf_uleb(&data);
	for (letters++; *letters; letters++) {
		switch (*letters) {
		case 'R':
			cie->encoding = dwarf_number(&data, 1);
			break;
		case 'S':
			cie->signal = true;
			break;
		case 'L':
			dwarf_skip(&data, 1);
			break;
		case 'P':
			encoding = dwarf_number(&data, 1);
			dwarf_pointer(&data, encoding & ~PE_INDIRECT, 0);
			break;
		default:	/* the data's size is known */
			return !data.bad && !b->bad;
		}
	}
	return !data.bad && !b->bad && data.at <= b->at;
}

static bool parse_cie(struct cfi_cie *cie, struct dwarf_bytes *b)
{
	unsigned version = dwarf_number(b, 1);
	const char *letters = dwarf_string(b);
	unsigned long long column;

	if (version != 1 && version != 3 && version != 4)
		return false;
	if (version == 4 && (dwarf_number(b, 1) != 8 || dwarf_number(b, 1)))	/* address, segment */
		return false;
	cie->code_align = dwarf_uleb(b);
	cie->data_align = dwarf_sleb(b);
	column = version == 1 ? dwarf_number(b, 1) : dwarf_uleb(b);
	if (b->bad || !cie->code_align || cie->code_align > MAX_ALIGN ||
	    cie->data_align < -MAX_ALIGN || cie->data_align > MAX_ALIGN || column != RETURN_ADDRESS)
		return false;
	cie->encoding = PE_ABSPTR;
	if (!read_augmentation(cie, b, letters))
		return false;
	cie->program = *b;
	return true;
}

bool cfi_cie_read(struct cfi_section *s, unsigned long long pos, struct cfi_cie *cie)
{
	struct cfi_span span;
	struct dwarf_bytes b;

	*cie = (struct cfi_cie){ .pos = pos };
	if (!cfi_span_read(s, pos, &span) || !span.cie || span.next - span.body > MAX_CIE)
		return false;
	cie->bytes = copy(s, &span, MAX_CIE, &b);
	if (cie->bytes && parse_cie(cie, &b))
		return true;
	free(cie->bytes);
	return false;
}

bool cfi_fde_read(struct cfi_section *s, const struct cfi_span *span, const struct cfi_cie *cie,
		  bool program, struct cfi_fde *fde)
{
	unsigned long long size = span->next - span->body, length;
	const unsigned char *at;
	struct dwarf_bytes b;

	*fde = (struct cfi_fde){ 0 };
	if (program) {
		fde->bytes = copy(s, span, CFI_MAX_RECORD, &b);
		if (!fde->bytes)
			return false;
	} else {
		size = size < RANGE ? size : RANGE;
		at = size ? cfi_section_at(s, span->body, size) : NULL;
		b = bytes_at(s, at, span->body, at ? size : 0);
	}
	fde->start = dwarf_pointer(&b, cie->encoding, 0);
	length = dwarf_pointer(&b, cie->encoding & PE_FORMAT, 0);
	fde->end = fde->start + length;
	if (program && cie->sized)
		dwarf_skip(&b, dwarf_uleb(&b));
	fde->program = b;
	fde->cut = size > CFI_MAX_RECORD;
	if (!b.bad && fde->end > fde->start)
		return true;
	free(fde->bytes);
	fde->bytes = NULL;
	return false;
}
