/*
 * symbols_plt.c - names for the stubs of a procedure linkage table, which no
 * table of symbols has.
 *
 * A stub jumps through a slot of the global offset table, and the relocation
 * of that slot tells the symbol. So each stub is read for its slot, and what
 * is not understood has no name: x86-64 `jmp *slot(%rip)`, perhaps behind
 * endbr64 or bnd, and the lazy half of a split table, `push $relocation`;
 * aarch64 `adrp x16; ldr x17, [x16, ...]`. The first entry, which calls the
 * loader, has none. The stub of memcpy is called memcpy@plt.
 */
#include "unwind/symbols_table.h"

#include "core/memory.h"
#include "elf/elf_bytes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
	PLT_RELOCATION = 24,
	PLT_SYMBOL = 24,
	PLT_MOST = 65536,     /* stubs of one section, and relocations */
	PLT_DYNAMIC = 262144, /* relocations of .rela.dyn that are read */
	PLT_NAME = 4096,
	PLT_STUB = 16,
	PLT_X86_64 = 62,
	PLT_AARCH64 = 183
};

struct plt_slot {
	uint64_t address;
	uint32_t symbol; /* in the dynamic table */
};

struct plt {
	struct plimp_symbol_maker *maker;
	const struct plimp_elf *elf;
	const struct plimp_elf_symbol_table *dynamic;
	uint32_t names;
	uint8_t *symbols; /* of the table, as far as slots lead to them */
	size_t symbol_count;
	struct plt_slot *slots;
	size_t count;
	size_t capacity;
	size_t lazy;	 /* the first ones, of .rela.plt, in its order */
	uint32_t *order; /* of the first ones, before they were sorted */
	size_t order_capacity;
};

static int slot_compare(const void *a, const void *b)
{
	uint64_t left = ((const struct plt_slot *)a)->address;
	uint64_t right = ((const struct plt_slot *)b)->address;

	return left < right ? -1 : left > right;
}

/* JUMP_SLOT and GLOB_DAT of both machines. */
static int slot_counts(const struct plt *plt, uint32_t type)
{
	return plt->elf->machine == PLT_X86_64 ? type == 7 || type == 6
					       : type == 1026 || type == 1025;
}

static int plt_relocations(struct plt *plt, const char *name, uint64_t most,
			   int keeps_place)
{
	struct plimp_elf_section section;
	uint8_t block[PLT_RELOCATION * 256];
	uint64_t count, at = 0;

	if (plimp_elf_section_find(plt->elf, name, &section))
		return PLIM_OK;
	count = section.size / PLT_RELOCATION;
	if (count > most)
		count = most;
	while (at < count) {
		size_t part = count - at < 256 ? (size_t)(count - at) : 256;

		if (plimp_elf_bytes(plt->elf,
				    section.offset + at * PLT_RELOCATION, block,
				    part * PLT_RELOCATION))
			return PLIM_OK;
		for (size_t i = 0; i < part; i++) {
			const uint8_t *entry = block + i * PLT_RELOCATION;
			struct plt_slot slot = {
			    .address = plimp_elf_u64(entry),
			    .symbol = plimp_elf_u32(entry + 12),
			};
			int failed;

			if (!slot_counts(plt, plimp_elf_u32(entry + 8)))
				slot.symbol = 0;
			if (!slot.symbol && !keeps_place)
				continue;
			failed = plimp_reserve(plt->maker->allocator,
					       (void **)&plt->slots,
					       &plt->capacity, plt->count + 1,
					       256, sizeof(*plt->slots));
			if (failed)
				return failed;
			plt->slots[plt->count++] = slot;
		}
		at += part;
	}
	return PLIM_OK;
}

/* The name of a dynamic symbol, into the strings, with "@plt" behind it. */
static int plt_name(struct plt *plt, uint32_t symbol,
		    struct plimp_symbol_entry *entry)
{
	struct plimp_symbol_maker *maker = plt->maker;
	uint32_t place, name;
	int failed;

	if (!symbol || symbol >= plt->symbol_count)
		return PLIM_ENAME;
	name = plimp_elf_u32(plt->symbols + (size_t)symbol * PLT_SYMBOL);
	if (name >= plt->dynamic->strings_size)
		return PLIM_ENAME;
	failed = plimp_symbol_name(maker, plt->names + name, entry);
	if (failed)
		return failed;
	if (entry->name_size > PLT_NAME)
		return PLIM_ENAME;
	failed = plimp_symbol_strings(maker, entry->name_size + 4u, &place);
	if (failed)
		return failed;
	memcpy(maker->strings + place, maker->strings + entry->name,
	       entry->name_size);
	memcpy(maker->strings + place + entry->name_size, "@plt", 4);
	return plimp_symbol_name(maker, place, entry);
}

static uint32_t plt_symbol_of_slot(const struct plt *plt, uint64_t address)
{
	struct plt_slot key = {.address = address};
	const struct plt_slot *found =
	    plt->count ? bsearch(&key, plt->slots, plt->count, sizeof(key),
				 slot_compare)
		       : NULL;

	return found ? found->symbol : 0;
}

/* The symbol that the stub at `address` leads to, 0: none, and its size. */
static uint32_t plt_stub_x86_64(const struct plt *plt, const uint8_t *code,
				size_t size, uint64_t address)
{
	size_t at = size >= 4 && plimp_elf_u32(code) == 0xfa1e0ff3u ? 4 : 0;
	uint32_t index;

	if (at < size && code[at] == 0xf2)
		at++;
	if (size - at >= 6 && code[at] == 0xff && code[at + 1] == 0x25) {
		uint32_t offset = plimp_elf_u32(code + at + 2);
		uint64_t far = (uint64_t)(int64_t)(int32_t)offset;

		return plt_symbol_of_slot(plt, address + at + 6 + far);
	}
	if (size - at < 5 || code[at] != 0x68)
		return 0;
	index = plimp_elf_u32(code + at + 1);
	return index < plt->lazy ? plt->order[index] : 0;
}

static uint32_t plt_stub_aarch64(const struct plt *plt, const uint8_t *code,
				 size_t size, uint64_t address)
{
	size_t at = size >= 4 && plimp_elf_u32(code) == 0xd503245fu ? 4 : 0;
	uint32_t page, load;
	uint64_t slot, far;

	if (size - at < 8)
		return 0;
	page = plimp_elf_u32(code + at);
	load = plimp_elf_u32(code + at + 4);
	if ((page & 0x9f00001fu) != 0x90000010u ||
	    (load & 0xffc003ffu) != 0xf9400211u)
		return 0;
	/* 21 bits of pages: the low two in 29 and 30, the others from 5 on. */
	far = (uint64_t)(page >> 29 & 3) | (uint64_t)(page >> 5 & 0x7ffff) << 2;
	if (far & 0x100000)
		far |= ~(uint64_t)0x1fffff;
	slot = ((address + at) & ~(uint64_t)0xfff) + (far << 12);
	return plt_symbol_of_slot(plt,
				  slot + (uint64_t)(load >> 10 & 0xfff) * 8);
}

/* Takes the stub at `address`, of `size` bytes; `*size` becomes how far the
 * next one may be, 0 where this is none. */
static int plt_stub(struct plt *plt, const uint8_t *code, size_t *size,
		    uint64_t address)
{
	uint32_t symbol = plt->elf->machine == PLT_X86_64
			      ? plt_stub_x86_64(plt, code, *size, address)
			      : plt_stub_aarch64(plt, code, *size, address);
	const struct plimp_symbol_range *range =
	    plimp_symbol_range(plt->maker, address);
	struct plimp_symbol_entry entry = {
	    .start = address,
	    .size = (uint32_t)*size,
	    .binding = PLIMP_BINDING_LOCAL,
	    .source = PLIMP_SYMBOL_PLT,
	};
	int failed;

	if (!symbol || !range) {
		*size = 0;
		return PLIM_OK;
	}
	if (range->end - address < entry.size)
		entry.size = (uint32_t)(range->end - address);
	entry.limit = entry.size;
	failed = plt_name(plt, symbol, &entry);
	if (failed)
		return failed == PLIM_ENAME ? PLIM_OK : failed;
	return plimp_symbol_add(plt->maker, &entry);
}

/* What a stub there takes: those of .plt.got are short where they are not
 * marked as targets of jumps. */
static size_t plt_stub_size(const uint8_t *code, size_t left, size_t step)
{
	size_t size = PLT_STUB;

	if (step == 8 && left >= 4 && plimp_elf_u32(code) != 0xfa1e0ff3u)
		size = 8;
	return size < left ? size : left;
}

/* Stubs may begin every `step` bytes. On aarch64 the first entry is longer
 * than the others, so each instruction may begin one. */
static int plt_section(struct plt *plt, const char *name, size_t step)
{
	struct plimp_elf_section section;
	uint8_t block[4096 + PLT_STUB];
	uint64_t size = (uint64_t)PLT_MOST * PLT_STUB;

	if (plimp_elf_section_find(plt->elf, name, &section) ||
	    section.type == PLIMP_ELF_NO_BITS)
		return PLIM_OK;
	if (section.size < size)
		size = section.size;
	for (uint64_t at = 0, i = 0; at < size; at += 4096, i -= 4096) {
		size_t part = size - at < sizeof(block) ? (size_t)(size - at)
							: sizeof(block);

		if (plimp_elf_bytes(plt->elf, section.offset + at, block, part))
			return PLIM_OK;
		while (i < part && i < 4096) {
			size_t stub =
			    plt_stub_size(block + i, part - (size_t)i, step);
			int failed = plt_stub(plt, block + i, &stub,
					      section.address + at + i);

			if (failed)
				return failed;
			i += stub < step ? step : stub;
		}
		if (i < 4096)
			break;
	}
	return PLIM_OK;
}

static int plt_slots(struct plt *plt)
{
	int failed = plt_relocations(plt, ".rela.plt", PLT_MOST, 1);
	struct plimp_elf_section section;

	plt->lazy = plt->count;
	if (plt->lazy && !failed) {
		plt->order = plimp_allocate(plt->maker->allocator, plt->lazy,
					    sizeof(*plt->order));
		if (!plt->order)
			return PLIM_ENOMEM;
		plt->order_capacity = plt->lazy;
		for (size_t i = 0; i < plt->lazy; i++)
			plt->order[i] = plt->slots[i].symbol;
	}
	if (!failed && !plimp_elf_section_find(plt->elf, ".plt.got", &section))
		failed = plt_relocations(plt, ".rela.dyn", PLT_DYNAMIC, 0);
	if (!failed && plt->count)
		qsort(plt->slots, plt->count, sizeof(*plt->slots),
		      slot_compare);
	return failed;
}

/* Reads the symbols up to the last one that a slot leads to, all at once: stubs
 * are in another order. Those that cannot be read name nothing. */
static int plt_symbols(struct plt *plt)
{
	size_t count = 0;

	for (size_t i = 0; i < plt->count; i++) {
		uint32_t symbol = plt->slots[i].symbol;

		if (symbol >= count && symbol < plt->dynamic->count)
			count = (size_t)symbol + 1;
	}
	if (!count)
		return PLIM_OK;
	plt->symbols = plimp_allocate(plt->maker->allocator, count, PLT_SYMBOL);
	if (!plt->symbols)
		return PLIM_ENOMEM;
	plt->symbol_count = count;
	if (plimp_elf_bytes(plt->elf, plt->dynamic->symbols, plt->symbols,
			    count * PLT_SYMBOL))
		memset(plt->symbols, 0, count * PLT_SYMBOL);
	return PLIM_OK;
}

int plimp_symbol_plt(struct plimp_symbol_maker *maker,
		     const struct plimp_elf *elf,
		     const struct plimp_elf_symbol_table *dynamic,
		     uint32_t names)
{
	struct plt plt = {
	    .maker = maker, .elf = elf, .dynamic = dynamic, .names = names};
	size_t step = elf->machine == PLT_X86_64 ? PLT_STUB : 4;
	int failed;

	if (elf->machine != PLT_X86_64 && elf->machine != PLT_AARCH64)
		return PLIM_OK;
	failed = plt_slots(&plt);
	if (!failed)
		failed = plt_symbols(&plt);
	if (!failed)
		failed = plt_section(&plt, ".plt", step);
	if (!failed)
		failed = plt_section(&plt, ".plt.sec", step);
	if (!failed)
		failed = plt_section(&plt, ".plt.got", step < 8 ? step : 8);
	plimp_release(maker->allocator, plt.symbols, plt.symbol_count,
		      PLT_SYMBOL);
	plimp_release(maker->allocator, plt.slots, plt.capacity,
		      sizeof(*plt.slots));
	plimp_release(maker->allocator, plt.order, plt.order_capacity,
		      sizeof(*plt.order));
	return failed;
}
