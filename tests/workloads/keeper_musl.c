/*
 * keeper_musl.c - a block's slot in mallocng, as free() finds it: from the
 * block's own header, over its group, to the group's record. A reader that
 * goes the other way, over all records, must come to the same sum.
 */
#include "keeper.h"

#include <string.h>

static const uint16_t keeper_units[48] = {
    1,	  2,	3,    4,    5,	  6,	7,    8,    9,	  10,	12,   15,
    18,	  20,	25,   31,   36,	  42,	50,   63,   72,	  84,	102,  127,
    146,  170,	204,  255,  292,  340,	409,  511,  584,  682,	818,  1023,
    1169, 1364, 1637, 2047, 2340, 2730, 3276, 4095, 4680, 5460, 6552, 8191};

uint64_t keeper_slot(const unsigned char *block)
{
	const unsigned char *group;
	const unsigned char *record;
	uint16_t units;
	uint32_t more;
	uint64_t bits;
	uint64_t offset;

	memcpy(&units, block - 2, sizeof(units));
	memcpy(&more, block - 8, sizeof(more));
	offset = block[-4] != 0 ? more : units;
	group = block - 16 * offset - 16;
	memcpy(&record, group, sizeof(record));
	memcpy(&bits, record + 32, sizeof(bits));
	if ((bits >> 6 & 63) == 63)
		return (bits >> 12) * 4096;
	if ((bits & 31) == 0 && bits >> 12 != 0)
		return (bits >> 12) * 4096 - 16;
	return 16u * (uint64_t)keeper_units[bits >> 6 & 63];
}
