/*
 * test_json_host.c - the host object of the schema, with a host made by hand:
 * the three questions that the writer asks are answered here, so this test is
 * linked with the static library, whose own answers are then left out.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "sample.h"

/* What the host of this test knows. */
static int host_is_open;
static uint64_t host_cpus;

plim_count plim_host_count(plim_host *host, int figure)
{
	(void)host;
	if (!host_is_open)
		return plim_count_missing(PLIM_REASON_NO_BACKEND, 0);
	switch (figure) {
	case PLIM_HOST_CPUS:
		return plim_count_known(host_cpus++, PLIM_METHOD_SYSTEM);
	case PLIM_HOST_PAGE_BYTES:
		return plim_count_known(4096, PLIM_METHOD_SYSTEM);
	case PLIM_HOST_TICKS_PER_SECOND:
		return plim_count_known(100, PLIM_METHOD_SYSTEM);
	case PLIM_HOST_BOOT_UNIX_MS:
		return plim_count_known(1700000000123, PLIM_METHOD_SYSTEM);
	case PLIM_HOST_SWAP_BYTES:
		return plim_count_known(0, PLIM_METHOD_SYSTEM);
	case PLIM_HOST_PID_NAMESPACE:
		return plim_count_missing(PLIM_REASON_OTHER_ROOT, 0);
	case PLIM_HOST_IDENTITY_RUNG:
		return plim_count_known(2, PLIM_METHOD_SYSTEM);
	case PLIM_HOST_IS_LIVE:
		return plim_count_known(0, PLIM_METHOD_SYSTEM);
	default:
		fail();
		return plim_count_missing(PLIM_REASON_NONE, 0);
	}
}

plim_real plim_host_usable_cpus(plim_host *host)
{
	(void)host;
	if (!host_is_open)
		return plim_real_missing(PLIM_REASON_NO_BACKEND, 0);
	return plim_real_known(1.5, PLIM_METHOD_SYSTEM);
}

plim_text plim_host_text(const plim_host *host, int id)
{
	static const char *const texts[] = {NULL,     "linux", "6.18.0\xff",
					    "x86_64", NULL,    "/proc\n\""};
	plim_text text = {
	    {NULL, 0}, PLIM_STATE_KNOWN, 0, PLIM_METHOD_SYSTEM, 0};

	(void)host;
	if (!host_is_open || texts[id] == NULL) {
		text.state =
		    host_is_open ? PLIM_STATE_DENIED : PLIM_STATE_UNSUPPORTED;
		text.method = host_is_open ? PLIM_REASON_NOT_PERMITTED
					   : PLIM_REASON_NO_BACKEND;
		text.code = host_is_open ? 13 : 0;
		return text;
	}
	text.bytes = sample_bytes(texts[id]);
	return text;
}

static void write_host(struct sample_output *output)
{
	plim_json *json = NULL;

	memset(output, 0, sizeof(*output));
	assert_int_equal(
	    plim_json_new(&json, sample_write, output, 0, NULL, NULL), PLIM_OK);
	plim_json_object(json, NULL);
	plim_json_host(json, "host", NULL);
	plim_json_end(json);
	assert_int_equal(plim_json_finish(json, NULL), PLIM_OK);
	plim_json_free(json);
}

static void a_host(void **state)
{
	static struct sample_output output;

	(void)state;
	host_is_open = 1;
	host_cpus = 8;
	write_host(&output);
	assert_string_equal(
	    output.text,
	    "{\"host\":{\"system\":\"linux\",\"kernel\":\"6.18.0\\\\xff\","
	    "\"kernel_bytes\":\"362e31382e30ff\",\"machine\":\"x86_64\","
	    "\"boot_id\":null,\"proc_root\":\"/proc\\n\\\"\",\"cpus\":8,"
	    "\"page_bytes\":4096,\"ticks_per_second\":100,"
	    "\"boot_unix_ms\":1700000000123,\"swap_bytes\":0,"
	    "\"pid_namespace\":null,\"identity_rung\":2,\"usable_cpus\":1.5,"
	    "\"is_live\":false,\"unavailable\":{\"boot_id\":"
	    "{\"state\":\"denied\",\"reason\":\"not_permitted\","
	    "\"code\":\"EACCES\"},\"pid_namespace\":"
	    "{\"state\":\"unsupported\",\"reason\":\"other_proc_root\"}}}}\n");
	/* Each figure was asked for once, so number and entry agree. */
	assert_int_equal(host_cpus, 9);
}

static void a_host_that_knows_nothing(void **state)
{
	static const char *const names[] = {
	    "system",		"kernel",	 "machine",
	    "boot_id",		"proc_root",	 "cpus",
	    "page_bytes",	"usable_cpus",	 "swap_bytes",
	    "ticks_per_second", "boot_unix_ms",	 "pid_namespace",
	    "is_live",		"identity_rung",
	};
	static struct sample_output output;
	char entry[128];

	(void)state;
	host_is_open = 0;
	write_host(&output);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		strcpy(entry, "\"");
		strcat(entry, names[i]);
		strcat(entry, "\":null,");
		assert_non_null(strstr(output.text, entry));
		entry[strlen(entry) - 5] = '\0';
		strcat(entry, "{\"state\":\"unsupported\","
			      "\"reason\":\"no_backend\"}");
		assert_non_null(strstr(output.text, entry));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_host),
	    cmocka_unit_test(a_host_that_knows_nothing),
	};

	return cmocka_run_group_tests_name("json_host", tests, NULL, NULL);
}
