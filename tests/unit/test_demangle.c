/*
 * test_demangle.c - names of C++ and Rust, as their definitions have them (the
 * Itanium C++ ABI, Rust RFC 2603), and names that are made to blow up.
 */
#include "unwind/symbols.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "skip.h"

static int demangle(const char *name, char *text, size_t size)
{
	size_t length = 0;
	int code = plimp_demangle((plim_bytes){name, strlen(name)}, text,
				  size - 1, &length);

	if (code) {
		assert_int_equal(length, 0);
		return code;
	}
	assert_in_range(length, 1, size - 1);
	text[length] = '\0';
	return PLIM_OK;
}

static int is_missing(void)
{
	char text[64];

	return demangle("_Z1fv", text, sizeof(text)) == PLIM_EUNSUPPORTED;
}

static void test_names(void **state)
{
	static const struct {
		const char *name;
		const char *text; /* NULL: it is no mangled name */
	} rows[] = {
	    {"_Z1fv", "f"},
	    {"_ZN2ns5ClassIiE6methodEd", "ns::Class<int>::method"},
	    {"_ZNSt6vectorIiSaIiEE9push_backERKi",
	     "std::vector<int, std::allocator<int> >::push_back"},
	    {"_ZNK3fooplERKS_", "foo::operator+"},
	    {"_ZN3fooD1Ev", "foo::~foo"},
	    {"_ZN12_GLOBAL__N_16hiddenEv", "(anonymous namespace)::hidden"},
	    {"_Z3addii.cold", "add"},
	    {"_Z3addii.constprop.0", "add"},
	    {"_GLOBAL__sub_I_main", NULL},
	    /* Rust, legacy and v0 */
	    {"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
	     "core::fmt::Write::write_fmt"},
	    {"_ZN4test17h0123456789abcdefE", "test"},
	    {"_RNvC6_123foo3bar", "123foo::bar"},
	    {"_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar"},
	    {"_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>"},
	    {"main", NULL},
	    {"_start", NULL},
	    {"__libc_start_main", NULL},
	    {"_Z", NULL},
	    {"_ZN", NULL},
	    {"_R", NULL},
	    {"_Znonsense", NULL},
	    {"", NULL},
	    {"i", NULL},
	};
	char text[256];

	(void)state;
	if (is_missing())
		SKIP_BECAUSE("this build has no libiberty");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		int code = demangle(rows[i].name, text, sizeof(text));

		assert_int_equal(code, rows[i].text ? PLIM_OK : PLIM_ENAME);
		if (rows[i].text)
			assert_string_equal(text, rows[i].text);
	}
	/* Bytes behind the name are not looked at; a NUL is in no name. */
	size_t length = 0;

	assert_int_equal(plimp_demangle((plim_bytes){"_Z1fvX", 5}, text,
					sizeof(text), &length),
			 PLIM_OK);
	assert_int_equal(length, 1);
	assert_int_equal(plimp_demangle((plim_bytes){"_Z1fv\0v", 7}, text,
					sizeof(text), &length),
			 PLIM_ENAME);
}

/* Nothing of what is too long comes out. */
static void test_bounds(void **state)
{
	char name[PLIMP_DEMANGLE_INPUT + 2];
	char text[PLIMP_DEMANGLE_OUTPUT + 1];
	size_t length = 77;

	(void)state;
	if (is_missing())
		SKIP_BECAUSE("this build has no libiberty");
	assert_int_equal(
	    plimp_demangle((plim_bytes){"_Z6abcdefv", 10}, text, 6, &length),
	    PLIM_OK);
	assert_int_equal(length, 6);
	length = 77;
	assert_int_equal(
	    plimp_demangle((plim_bytes){"_Z6abcdefv", 10}, text, 5, &length),
	    PLIM_ELIMIT);
	assert_int_equal(length, 77);
	memset(name, 'a', sizeof(name));
	memcpy(name, "_Z1000", 6);
	name[1006] = 'v';
	assert_int_equal(plimp_demangle((plim_bytes){name, 1007}, text,
					sizeof(text), &length),
			 PLIM_OK);
	assert_int_equal(length, 1000);
	assert_int_equal(
	    plimp_demangle((plim_bytes){name, PLIMP_DEMANGLE_INPUT + 1}, text,
			   sizeof(text), &length),
	    PLIM_ELIMIT);
}

/* Each pair doubles the one before: 2^40 words. */
static void test_explosion(void **state)
{
	char name[512] = "_Z1fI4PairIiiE";
	char text[PLIMP_DEMANGLE_OUTPUT];
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t size = strlen(name);
	size_t length = 0;

	(void)state;
	if (is_missing())
		SKIP_BECAUSE("this build has no libiberty");
	/* S0_ is Pair, S1_ Pair<int, int>, S2_ Pair<S1_, S1_>, ... */
	for (int i = 1; i < 30; i++) {
		name[size++] = 'S';
		name[size++] = '0';
		name[size++] = '_';
		name[size++] = 'I';
		for (int k = 0; k < 2; k++) {
			name[size++] = 'S';
			name[size++] = digits[i];
			name[size++] = '_';
		}
		name[size++] = 'E';
	}
	memcpy(name + size, "EvT_", 5);
	int code = plimp_demangle((plim_bytes){name, strlen(name)}, text,
				  sizeof(text), &length);

	/* Without its parameters, but with those of the template. */
	assert_int_equal(code, PLIM_ELIMIT);
	/* As deep as the bound on the length lets it be. */
	static const char *const deep[] = {"_ZP",   "_Z1fPP",	 "_RI",
					   "_RNvB", "_Z1fIXadL", "_RYYY"};

	for (size_t i = 0; i < sizeof(deep) / sizeof(*deep); i++) {
		char long_name[PLIMP_DEMANGLE_INPUT];
		size_t part = strlen(deep[i]);

		memcpy(long_name, deep[i], part);
		for (size_t k = part; k < sizeof(long_name); k++)
			long_name[k] = deep[i][2 + k % (part - 2)];
		code =
		    plimp_demangle((plim_bytes){long_name, sizeof(long_name)},
				   text, sizeof(text), &length);
		assert_true(code == PLIM_ENAME || code == PLIM_ELIMIT ||
			    code == PLIM_OK);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_names),
	    cmocka_unit_test(test_bounds),
	    cmocka_unit_test(test_explosion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
