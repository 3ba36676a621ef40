/*
 * test_readelf.c - every row of the tables that binutils computes from call
 * frame information is the row of ours: the CFA, and where each preserved
 * register and the return address lie, at the row's first address and at the
 * last one before the next row.
 */
#include "image.h"

#include "skip.h"
#include "unwind/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

enum { COLUMNS = 40, TOKENS = COLUMNS + 2 };

/* The names of registers, per machine. */
struct names {
	const char *cfa[2]; /* by stack pointer, by frame pointer */
	const char *sp, *fp;
	unsigned count;
	const char *preserved[10];
	long return_at; /* 0: anywhere */
};
static const struct names x86 = {{"rsp+%lu", "rbp+%lu"},
				 "rsp",
				 "rbp",
				 5,
				 {"rbx", "r12", "r13", "r14", "r15"},
				 8};
static const struct names arm = {
    {"sp+%lu", "x29+%lu"},
    "sp",
    "x29",
    10,
    {"x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28"},
    0};

struct oracle {
	const struct plimp_rules *rules;
	const struct names *names_of;
	char names[COLUMNS][16];
	size_t columns;
	char cie[64][512]; /* header and row of CIEs, by a hash */
	char cie_row[64][512];
	unsigned long cie_at[64];
	unsigned long rows;
	unsigned long wrong;
	/* The row before, which holds up to the next one. */
	char row[512];
	unsigned long row_at;
	unsigned long end;
	int has_row;
	int seen;
};

static size_t split(char *line, char **tokens)
{
	size_t count = 0;

	for (char *token = strtok(line, " \n"); token && count < TOKENS;
	     token = strtok(NULL, " \n"))
		if (token[0] != '(') /* "r3 (rbx)" */
			tokens[count++] = token;
	return count;
}

/* The distance below the CFA of "c-16"; 0 of what is not saved; -1 of what is
 * not simple. */
static long distance(const char *token)
{
	if (!strcmp(token, "u") || !strcmp(token, "s"))
		return 0;
	if (token[0] == 'c' && token[1] == '-')
		return atol(token + 2);
	return -1;
}

/* 1 if the rule says what the tokens of a row say. */
static int agrees(struct oracle *oracle, const struct plimp_rule *rule,
		  char **tokens, size_t count)
{
	const struct names *names = oracle->names_of;
	long at[10] = {0};
	long fp = 0;
	long ra = names->return_at ? -2 : 0;
	int simple = 0;
	unsigned long cfa = 0;
	int kind = 0;

	if (sscanf(tokens[1], names->cfa[0], &cfa) == 1)
		kind = PLIMP_RULE_SP;
	else if (sscanf(tokens[1], names->cfa[1], &cfa) == 1)
		kind = PLIMP_RULE_FP;
	simple = kind && cfa % 8 == 0;
	for (size_t i = 2; i < count; i++) {
		const char *name = oracle->names[i];
		long far = distance(tokens[i]);
		int matters = 1;

		if (!strcmp(name, "ra")) {
			if (!strcmp(tokens[i], "u") && names->return_at)
				return PLIMP_RULE_KIND(rule->word) ==
				       PLIMP_RULE_ROOT;
			ra = far;
		} else if (!strcmp(name, names->fp)) {
			fp = far;
		} else {
			matters = !strcmp(name, names->sp);
			for (unsigned j = 0; j < names->count; j++)
				if (!strcmp(name, names->preserved[j])) {
					at[j] = far;
					matters = 1;
				}
		}
		/* No caller relies on what else is said. */
		if (far < 0 && matters)
			simple = 0;
	}
	if (names->return_at && ra != names->return_at)
		simple = 0;
	if (!simple)
		return PLIMP_RULE_KIND(rule->word) == PLIMP_RULE_SIDE;
	for (unsigned j = 0; j < names->count; j++)
		if ((long)plimp_rule_slot(rule, j) != at[j])
			return 0;
	return PLIMP_RULE_KIND(rule->word) == (unsigned)kind &&
	       PLIMP_RULE_CFA(rule->word) == cfa &&
	       (long)PLIMP_RULE_RA_AT(rule->word) == ra &&
	       (long)PLIMP_RULE_FP_AT(rule->word) == fp;
}

/* The row that is held holds up to `next`. */
static void settle(struct oracle *oracle, unsigned long next)
{
	char line[512];
	char *tokens[TOKENS];

	if (!oracle->has_row)
		return;
	oracle->has_row = 0;
	if (next <= oracle->row_at)
		return; /* replaced by another at the same address */
	snprintf(line, sizeof(line), "%s", oracle->row);
	size_t count = split(line, tokens);

	oracle->rows++;
	if (agrees(oracle, plimp_rules_find(oracle->rules, oracle->row_at),
		   tokens, count) &&
	    agrees(oracle, plimp_rules_find(oracle->rules, next - 1), tokens,
		   count))
		return;
	if (oracle->wrong++ < 10)
		print_message("at %lx: %s    ours %llx\n", oracle->row_at,
			      oracle->row,
			      (unsigned long long)plimp_rules_find(
				  oracle->rules, oracle->row_at)
				  ->word);
}

static void take_header(struct oracle *oracle, const char *text)
{
	char line[512];
	char *tokens[TOKENS];

	snprintf(line, sizeof(line), "%s", text);
	oracle->columns = split(line, tokens);
	for (size_t i = 0; i < oracle->columns && i < COLUMNS; i++)
		snprintf(oracle->names[i], sizeof(oracle->names[i]), "%.15s",
			 tokens[i]);
}

/* A function of which nothing is printed has the one row of its CIE. */
static void end_function(struct oracle *oracle, unsigned long cie,
			 unsigned long start)
{
	if (oracle->end && !oracle->seen)
		for (size_t i = 0; i < 64; i++)
			if (oracle->cie_at[i] == cie && oracle->cie[i][0]) {
				take_header(oracle, oracle->cie[i]);
				memcpy(oracle->row, oracle->cie_row[i],
				       sizeof(oracle->row));
				oracle->row_at = start;
				oracle->has_row = 1;
			}
	settle(oracle, oracle->end);
	oracle->end = 0;
}

static void read_all(struct oracle *oracle, FILE *from)
{
	char line[512];
	char header[512] = "";
	unsigned long place, cie = 0, named = 0, start = 0, end, at;
	size_t slot = 0;
	int in_cie = 0;

	while (fgets(line, sizeof(line), from)) {
		if (strstr(line, " FDE cie=")) {
			end_function(oracle, named, start);
			assert_int_equal(sscanf(strstr(line, "cie="),
						"cie=%lx pc=%lx..%lx", &named,
						&start, &end),
					 3);
			oracle->end = end;
			oracle->seen = 0;
			in_cie = 0;
		} else if (strstr(line, " CIE ")) {
			end_function(oracle, named, start);
			assert_int_equal(sscanf(line, "%lx", &place), 1);
			cie = place;
			in_cie = 1;
		} else if (strstr(line, "   LOC ")) {
			snprintf(header, sizeof(header), "%s", line);
		} else if (sscanf(line, "%16lx ", &at) == 1 &&
			   strlen(line) > 20 && line[16] == ' ') {
			if (in_cie) {
				slot = (slot + 1) % 64;
				oracle->cie_at[slot] = cie;
				memcpy(oracle->cie[slot], header,
				       sizeof(header));
				memcpy(oracle->cie_row[slot], line,
				       sizeof(line));
				continue;
			}
			settle(oracle, at);
			take_header(oracle, header);
			memcpy(oracle->row, line, sizeof(line));
			oracle->row_at = at;
			oracle->has_row = 1;
			oracle->seen = 1;
		}
	}
	end_function(oracle, named, start);
}

static void compare(const char *path, unsigned long least)
{
	struct oracle *oracle = calloc(1, sizeof(*oracle));
	struct plimp_rules *rules = NULL;
	struct image image;
	char command[512];

	assert_non_null(oracle);
	if (image_open(&image, path)) {
		free(oracle);
		SKIP_BECAUSE("a library to compare is not there");
	}
	assert_int_equal(
	    plimp_rules_build(&rules, &image.elf, NULL, NULL, NULL), PLIM_OK);
	oracle->rules = rules;
	oracle->names_of = image.elf.machine == IMAGE_ARM ? &arm : &x86;
	snprintf(command, sizeof(command),
		 "LC_ALL=C readelf --debug-dump=frames-interp '%s' 2>/dev/null",
		 path);
	FILE *from = popen(command, "r");

	assert_non_null(from);
	read_all(oracle, from);
	pclose(from);
	print_message("%s: %lu rows, %lu differ\n", path, oracle->rows,
		      oracle->wrong);
	assert_int_equal(oracle->wrong, 0);
	assert_true(oracle->rows >= least);
	assert_int_equal(plimp_rules_facts(rules).rejected, 0);
	plimp_rules_free(rules, NULL);
	image_close(&image);
	free(oracle);
}

static void test_libc(void **state)
{
	(void)state;
	compare("/lib/x86_64-linux-gnu/libc.so.6", 20000);
}

static void test_libstdcxx(void **state)
{
	(void)state;
	compare("/usr/lib/x86_64-linux-gnu/libstdc++.so.6", 20000);
}

static void test_libcrypto(void **state)
{
	(void)state;
	compare("/usr/lib/x86_64-linux-gnu/libcrypto.so.3", 50000);
}

static void test_self(void **state)
{
	char path[256];

	(void)state;
	/* readelf has a /proc/self of its own. */
	ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);

	assert_true(size > 0);
	path[size] = 0;
	compare(path, 100);
}

int main(int count, char **arguments)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_self),
	    cmocka_unit_test(test_libc),
	    cmocka_unit_test(test_libstdcxx),
	    cmocka_unit_test(test_libcrypto),
	};

	/* By hand: one file. */
	if (count > 1) {
		compare(arguments[1], 0);
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
