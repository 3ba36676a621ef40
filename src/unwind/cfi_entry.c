/*
 * cfi_entry.c - entries of .eh_frame and .debug_frame: lengths, CIEs, FDEs,
 * pointers in their encodings. What they mean is in cfi.h; programs are run in
 * cfi_run.c.
 */
#include "unwind/cfi.h"

#include "elf/elf_bytes.h"

#include <assert.h>
#include <string.h>

static inline uint64_t cursor_unsigned(struct plimp_cursor *cursor, size_t size)
{
	const uint8_t *at = cursor->at;

	if ((size_t)(cursor->end - at) < size) {
		cursor->is_bad = 1;
		cursor->at = cursor->end;
		return 0;
	}
	cursor->at += size;
	switch (size) {
	case 1:
		return at[0];
	case 2:
		return plimp_elf_u16(at);
	case 4:
		return plimp_elf_u32(at);
	default:
		assert(size == 8);
		return plimp_elf_u64(at);
	}
}

uint64_t plimp_cursor_unsigned(struct plimp_cursor *cursor, size_t size)
{
	return cursor_unsigned(cursor, size);
}

/* What does not fit into 64 bits is malformed; leading zeroes do no harm. */
uint64_t plimp_cursor_uleb(struct plimp_cursor *cursor)
{
	uint64_t value = 0;
	unsigned shift = 0;

	while (cursor->at < cursor->end) {
		uint8_t byte = *cursor->at++;
		uint64_t bits = byte & 0x7f;

		if (shift < 64)
			value |= bits << shift;
		if (shift > 63 ? bits != 0 : shift == 63 && bits > 1)
			break;
		if (!(byte & 0x80))
			return value;
		shift += 7;
	}
	cursor->is_bad = 1;
	cursor->at = cursor->end;
	return 0;
}

int64_t plimp_cursor_sleb(struct plimp_cursor *cursor)
{
	uint64_t value = 0;
	unsigned shift = 0;

	while (cursor->at < cursor->end && shift < 70) {
		uint8_t byte = *cursor->at++;

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (byte & 0x80)
			continue;
		if (shift < 64 && (byte & 0x40))
			value |= ~UINT64_C(0) << shift;
		return (int64_t)value;
	}
	cursor->is_bad = 1;
	cursor->at = cursor->end;
	return 0;
}

static inline uint64_t cursor_signed_4(struct plimp_cursor *cursor)
{
	return (cursor_unsigned(cursor, 4) ^ 0x80000000u) - 0x80000000u;
}

enum {
	POINTER_OMITTED = 0xff,
	POINTER_RELATIVE = 0x70,
	POINTER_TO_FIELD = 0x10,
	POINTER_TO_DATA = 0x30
};

uint64_t plimp_cfi_pointer(struct plimp_cursor *cursor, unsigned encoding,
			   const struct plimp_cfi_bases *bases)
{
	uint64_t value = 0;
	uint64_t base = 0;

	switch (encoding & POINTER_RELATIVE) {
	case 0:
		break;
	case POINTER_TO_FIELD:
		base = bases->field;
		break;
	case POINTER_TO_DATA:
		if (!bases->has_data)
			cursor->is_bad = 1;
		base = bases->data;
		break;
	default: /* to the text, to the function, aligned */
		cursor->is_bad = 1;
	}
	if (encoding & 0x80)
		cursor->is_bad = 1;
	switch (encoding & 0x0f) {
	case 0x00: /* as wide as an address: 64 bits is all we read */
	case 0x04:
	case 0x0c:
		value = plimp_cursor_unsigned(cursor, 8);
		break;
	case 0x01:
		value = plimp_cursor_uleb(cursor);
		break;
	case 0x02:
		value = plimp_cursor_unsigned(cursor, 2);
		break;
	case 0x03:
		value = plimp_cursor_unsigned(cursor, 4);
		break;
	case 0x09:
		value = (uint64_t)plimp_cursor_sleb(cursor);
		break;
	case 0x0a:
		value = plimp_cursor_unsigned(cursor, 2);
		value = (value ^ 0x8000) - 0x8000;
		break;
	case 0x0b:
		value = cursor_signed_4(cursor);
		break;
	default:
		cursor->is_bad = 1;
	}
	return base + value;
}

/* The first 12 or 20 bytes: length, and which CIE. The field that names the
 * CIE counts back from itself in .eh_frame and is an offset in .debug_frame;
 * what says "this is one" is 0 there and all ones here. */
static int cfi_id(const struct plimp_cfi *cfi, size_t field, int is_64bit,
		  struct plimp_cfi_entry *entry)
{
	const uint8_t *at = cfi->bytes + field;
	uint64_t id = is_64bit ? plimp_elf_u64(at) : plimp_elf_u32(at);
	uint64_t mark = !cfi->is_debug ? 0 : is_64bit ? UINT64_MAX : 0xffffffff;

	entry->kind = id == mark ? PLIMP_CFI_CIE : PLIMP_CFI_FDE;
	if (entry->kind == PLIMP_CFI_CIE)
		return 1;
	if (cfi->is_debug ? id >= cfi->size : id > field)
		return 0;
	entry->cie = cfi->is_debug ? (size_t)id : field - (size_t)id;
	return 1;
}

struct plimp_cfi_entry plimp_cfi_entry(const struct plimp_cfi *cfi,
				       size_t offset)
{
	struct plimp_cfi_entry entry = {.kind = PLIMP_CFI_END};
	uint64_t length;
	size_t at = offset;

	if (offset > cfi->size || cfi->size - offset < 4)
		return entry;
	length = plimp_elf_u32(cfi->bytes + at);
	at += 4;
	if (length == 0xffffffff) {
		if (cfi->size - at < 8)
			return entry;
		length = plimp_elf_u64(cfi->bytes + at);
		at += 8;
		entry.is_64bit = 1;
	}
	if (length > cfi->size - at)
		return entry;
	entry.next = at + (size_t)length;
	if (!length) {
		entry.kind = PLIMP_CFI_EMPTY;
		return entry;
	}
	size_t id_size = entry.is_64bit ? 8 : 4;

	entry.body = at + id_size;
	if (length < id_size || !cfi_id(cfi, at, entry.is_64bit, &entry))
		entry.kind = PLIMP_CFI_BAD;
	return entry;
}

/* The letters of the augmentation, with what follows 'z'. A letter that is not
 * known may have brought anything: then nothing behind it is. */
static int cfi_augmentation(const struct plimp_cfi *cfi, const char *letters,
			    struct plimp_cursor *cursor,
			    struct plimp_cfi_cie *cie)
{
	const struct plimp_cfi_bases nowhere = {0, 0, 1};
	const uint8_t *end = NULL;
	unsigned encoding;

	for (; *letters; letters++)
		switch (*letters) {
		case 'z':
			cie->has_size = 1;
			uint64_t size = plimp_cursor_uleb(cursor);

			if (size > (uint64_t)(cursor->end - cursor->at))
				return -1;
			end = cursor->at + size;
			break;
		case 'R':
			cie->encoding =
			    (unsigned)plimp_cursor_unsigned(cursor, 1);
			break;
		case 'L':
			plimp_cursor_unsigned(cursor, 1);
			break;
		case 'P':
			encoding = (unsigned)plimp_cursor_unsigned(cursor, 1);
			/* Passed over: only its size matters, which the
			 * alignment of DW_EH_PE_aligned would change. */
			if (encoding == POINTER_OMITTED)
				break;
			if (encoding == 0x50)
				return -1;
			plimp_cfi_pointer(cursor, encoding & 0x0f, &nowhere);
			break;
		case 'S':
			cie->is_signal = 1;
			break;
		case 'B': /* the second key signs the return address */
		case 'G': /* the stack is tagged */
			break;
		default:
			return -1;
		}
	(void)cfi;
	if (end) {
		if (cursor->at > end)
			return -1;
		cursor->at = end;
	}
	return cursor->is_bad ? -1 : 0;
}

int plimp_cfi_cie(const struct plimp_cfi *cfi, size_t offset,
		  struct plimp_cfi_cie *cie)
{
	struct plimp_cfi_entry entry = plimp_cfi_entry(cfi, offset);
	struct plimp_cfi_cie found = {.offset = offset};

	if (entry.kind != PLIMP_CFI_CIE)
		return -1;
	struct plimp_cursor cursor = {cfi->bytes + entry.body,
				      cfi->bytes + entry.next, 0};
	uint64_t version = plimp_cursor_unsigned(&cursor, 1);
	const char *letters = (const char *)cursor.at;
	const uint8_t *nul =
	    memchr(cursor.at, 0, (size_t)(cursor.end - cursor.at));

	if (cursor.is_bad || !nul ||
	    (version != 1 && version != 3 && version != 4))
		return -1;
	cursor.at = nul + 1;
	if (!strcmp(letters, "eh")) { /* gcc before 3.0: a pointer follows */
		plimp_cursor_unsigned(&cursor, 8);
		letters += 2;
	}
	if (version == 4) { /* sizes of an address and of a segment's number */
		if (plimp_cursor_unsigned(&cursor, 1) != 8 ||
		    plimp_cursor_unsigned(&cursor, 1) != 0)
			return -1;
	}
	found.code_align = plimp_cursor_uleb(&cursor);
	found.data_align = plimp_cursor_sleb(&cursor);
	found.return_column = version == 1 ? plimp_cursor_unsigned(&cursor, 1)
					   : plimp_cursor_uleb(&cursor);
	if (cfi_augmentation(cfi, letters, &cursor, &found))
		return -1;
	found.program = (size_t)(cursor.at - cfi->bytes);
	found.program_end = entry.next;
	*cie = found;
	return 0;
}

int plimp_cfi_fde(const struct plimp_cfi *cfi,
		  const struct plimp_cfi_entry *entry,
		  const struct plimp_cfi_cie *cie, struct plimp_cfi_fde *fde)
{
	struct plimp_cursor cursor = {cfi->bytes + entry->body,
				      cfi->bytes + entry->next, 0};
	struct plimp_cfi_bases bases = {cfi->address + entry->body, 0, 0};
	unsigned encoding = cfi->is_debug ? 0 : cie->encoding;
	uint64_t length;

	fde->cie = entry->cie;
	if (encoding == (POINTER_TO_FIELD | 0x0b)) { /* nearly all */
		fde->start = bases.field + cursor_signed_4(&cursor);
		length = cursor_signed_4(&cursor);
	} else {
		fde->start = plimp_cfi_pointer(&cursor, encoding, &bases);
		length = plimp_cfi_pointer(&cursor, encoding & 0x0f, &bases);
	}

	if (cie->has_size) {
		uint64_t size = plimp_cursor_uleb(&cursor);

		if (size > (uint64_t)(cursor.end - cursor.at))
			return -1;
		cursor.at += size;
	}
	if (cursor.is_bad || !length || length > UINT64_MAX - fde->start)
		return -1;
	fde->end = fde->start + length;
	fde->program = (size_t)(cursor.at - cfi->bytes);
	fde->program_end = entry->next;
	return 0;
}
