/*
 * test_decode_mac_rusage.c - proc_pid_rusage() in the versions 2 to 6: each
 * number is its own, each version has its size, what a version lacks is told.
 */
#include "fixture.h"
#include "mac_bytes.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

/* Word i of the answer is 1000 + i: no two are alike, none is 0. */
static void make(char bytes[sizeof(struct plimp_mac_rusageinfo)])
{
	size_t i;

	memset(bytes, 0xee, 16);
	for (i = 2; i < sizeof(struct plimp_mac_rusageinfo) / 8; i++)
		mac_put(bytes, i * 8, 1000 + i, 8);
}

static int decode(const char *data, size_t size, int flavour,
		  struct plimp_mac_rusage *rusage)
{
	struct plimp_mac_rusage poison;
	plim_bytes bytes = text_copy(data, size);
	int result;

	memset(&poison, 0xa5, sizeof(poison));
	*rusage = poison;
	result = plimp_decode_mac_rusage(bytes, flavour, rusage);
	if (result != PLIM_OK) {
		assert_int_equal(result, PLIM_EMALFORMED);
		assert_memory_equal(rusage, &poison, sizeof(poison));
	}
	text_free(bytes);
	return result;
}

/* The sizes are those of the structures in XNU's bsd/sys/resource.h. */
static void test_sizes(void **state)
{
	static const size_t sizes[] = {96, 144, 160, 232, 296, 304, 464};

	(void)state;
	for (int i = 0; i < 7; i++)
		assert_int_equal(plimp_mac_rusage_size(i), sizes[i]);
	assert_int_equal(plimp_mac_rusage_size(-1), 0);
	assert_int_equal(plimp_mac_rusage_size(7), 0);
}

static void test_versions(void **state)
{
	char bytes[sizeof(struct plimp_mac_rusageinfo)];
	struct plimp_mac_rusage rusage;

	(void)state;
	make(bytes);
	for (int flavour = 2; flavour <= 6; flavour++) {
		size_t size = plimp_mac_rusage_size(flavour);

		assert_int_equal(decode(bytes, size, flavour, &rusage),
				 PLIM_OK);
		assert_int_equal(rusage.user_ticks, 1002);
		assert_int_equal(rusage.system_ticks, 1003);
		/* Word 4 is the package-idle count, which is not read. */
		assert_int_equal(rusage.interrupt_wakeups, 1005);
		assert_int_equal(rusage.pageins, 1006);
		assert_int_equal(rusage.resident_bytes, 1008);
		assert_int_equal(rusage.footprint_bytes, 1009);
		assert_int_equal(rusage.start_ticks, 1010);
		assert_int_equal(rusage.exit_ticks, 1011);
		assert_int_equal(rusage.child_user_ticks, 1012);
		assert_int_equal(rusage.child_system_ticks, 1013);
		assert_int_equal(rusage.child_interrupt_wakeups, 1015);
		assert_int_equal(rusage.disk_read_bytes, 1018);
		assert_int_equal(rusage.disk_written_bytes, 1019);
		assert_int_equal(rusage.has_peak, flavour >= 4);
		assert_int_equal(rusage.peak_footprint_bytes,
				 flavour >= 4 ? 1030 : 0);
	}
}

static void test_hostile(void **state)
{
	char bytes[sizeof(struct plimp_mac_rusageinfo)];
	struct plimp_mac_rusage rusage;

	(void)state;
	make(bytes);
	for (int flavour = -1; flavour <= 8; flavour++)
		for (size_t size = 0; size <= sizeof(bytes); size++)
			if (flavour < 2 || flavour > 6 ||
			    size != plimp_mac_rusage_size(flavour))
				assert_int_equal(
				    decode(bytes, size, flavour, &rusage),
				    PLIM_EMALFORMED);
	mac_put(bytes, 16, UINT64_MAX - 1002, 8);
	assert_int_equal(decode(bytes, 160, 2, &rusage), PLIM_EMALFORMED);
	mac_put(bytes, 16, UINT64_MAX - 1003, 8);
	assert_int_equal(decode(bytes, 160, 2, &rusage), PLIM_OK);
	mac_put(bytes, 13 * 8, UINT64_MAX, 8);
	assert_int_equal(decode(bytes, 160, 2, &rusage), PLIM_EMALFORMED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_sizes),
	    cmocka_unit_test(test_versions),
	    cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests_name("decode_mac_rusage", tests, NULL,
					   NULL);
}
