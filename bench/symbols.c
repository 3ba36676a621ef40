/*
 * symbols.c - from an address to a name, beside libdwfl's
 * dwfl_module_addrinfo() over the same file, in one run, turn by turn.
 *
 * packages: libdw-dev libelf-dev
 * libraries: -ldw -lelf
 */
#include "elf/elf.h"
#include "host/target.h"
#include "unwind/symbols.h"

#include <elfutils/libdwfl.h>

#include <plimsoll.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ADDRESSES = 4096, TURNS = 5, THEIRS = 64 };

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return left < right ? -1 : left > right;
}

static double middle(double *values)
{
	qsort(values, TURNS, sizeof(*values), by_value);
	return values[TURNS / 2];
}

static Dwfl_Module *their_module(Dwfl *dwfl, const char *path)
{
	Dwfl_Module *module;

	dwfl_report_begin(dwfl);
	module = dwfl_report_elf(dwfl, path, path, -1, 0, true);
	dwfl_report_end(dwfl, NULL, NULL);
	return module;
}

static void compare(plim_host *host, const char *path)
{
	static char *no_paths;
	static const Dwfl_Callbacks callbacks = {
	    .find_elf = dwfl_build_id_find_elf,
	    .find_debuginfo = dwfl_standard_find_debuginfo,
	    .section_address = dwfl_offline_section_address,
	    .debuginfo_path = &no_paths,
	};
	static uint64_t addresses[ADDRESSES];
	double built[TURNS], ours[TURNS], theirs[TURNS];
	struct plimp_debug_file debug;
	struct plimp_file file = {0};
	struct plimp_symbols *symbols = NULL;
	struct plimp_symbol symbol;
	struct plimp_elf elf;
	size_t count = 0;
	unsigned seed = 1;
	Dwfl *dwfl;
	Dwfl_Module *module;
	GElf_Addr bias = 0;

	if (plimp_system_file_open(host, path, &file, NULL))
		return;
	if (plimp_elf_open(&elf, &file.reader, 0, file.size))
		return;
	int has_debug = !plimp_debug_file_find(
	    &debug, host, NULL, &elf, (plim_bytes){path, strlen(path)}, NULL);
	for (int turn = 0; turn < TURNS; turn++) {
		double start = now();

		plimp_symbols_free(symbols, &host->allocator);
		symbols = NULL;
		if (plimp_symbols_build(&symbols, &elf,
					has_debug ? &debug.elf : NULL,
					&host->allocator, NULL))
			return;
		built[turn] = (now() - start) / 1e6;
	}
	/* Addresses that have a name, anywhere in the code. */
	struct plimp_elf_segment load;

	for (uint32_t i = 0; !plimp_elf_segment(&elf, i, &load); i++)
		for (int k = 0; load.type == PLIMP_ELF_LOAD && load.flags & 1 &&
				k < 1000000 && count < ADDRESSES;
		     k++) {
			seed = seed * 1103515245u + 12345u;
			uint64_t address =
			    load.address +
			    ((uint64_t)seed << 13 ^ seed) % load.memory_size;

			if (!plimp_symbols_find(symbols, address, &symbol))
				addresses[count++] = address;
		}
	dwfl = dwfl_begin(&callbacks);
	module = dwfl ? their_module(dwfl, path) : NULL;
	if (!module || count < ADDRESSES)
		return;
	dwfl_module_getelf(module, &bias);
	for (int turn = 0; turn < TURNS; turn++) {
		volatile uint64_t sum = 0;
		double start = now();

		for (int k = 0; k < 50; k++)
			for (size_t i = 0; i < ADDRESSES; i++) {
				plimp_symbols_find(symbols, addresses[i],
						   &symbol);
				sum += symbol.start;
			}
		ours[turn] = (now() - start) / (50.0 * ADDRESSES);
		GElf_Off offset;
		GElf_Sym found;

		dwfl_module_addrinfo(module, addresses[0] + bias, &offset,
				     &found, NULL, NULL, NULL);
		start = now();
		for (size_t i = 0; i < THEIRS; i++)
			if (dwfl_module_addrinfo(
				module, addresses[i * 61 % ADDRESSES] + bias,
				&offset, &found, NULL, NULL, NULL))
				sum += found.st_value;
		theirs[turn] = (now() - start) / THEIRS;
	}
	struct plimp_symbols_facts facts = plimp_symbols_facts(symbols);
	double us = middle(ours), them = middle(theirs);

	printf("%-28.28s %8llu %8.2f %8llu %8.1f %12.0f %8.0f %s\n",
	       strrchr(path, '/') + 1, (unsigned long long)facts.pieces,
	       middle(built), (unsigned long long)facts.bytes / 1024, us, them,
	       them / us, them / us >= 500 ? "ok" : "MISSED");
	dwfl_end(dwfl);
	plimp_symbols_free(symbols, &host->allocator);
	if (has_debug)
		plimp_debug_file_close(host, &debug);
	plimp_system_file_close(host, &file);
}

int main(void)
{
	static const char *const files[] = {
	    "/usr/lib/x86_64-linux-gnu/libc.so.6",
	    "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
	    "/usr/bin/python3.11",
	    "/usr/bin/perl",
	    "/usr/bin/node",
	    "/usr/bin/gdb"};
	plim_host *host;

	if (plim_host_open(&host, NULL, NULL))
		return 1;
	printf("%-28s %8s %8s %8s %8s %12s %8s\n", "file", "pieces", "build ms",
	       "KiB", "ours ns", "libdwfl ns", "ratio");
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		compare(host, files[i]);
	plim_host_close(host);
	return 0;
}
