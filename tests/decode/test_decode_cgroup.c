/*
 * test_decode_cgroup.c - /proc/PID/cgroup: version 1, version 2 and both, in
 * any order; the right line is found by what it lists.
 */
#include "fixture.h"
#include "host/linux/decode.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

/* Decodes; what is not stored must be as it was. */
static int decode(plim_bytes text, const char *controller, plim_bytes *path)
{
	static const char nowhere;

	*path = (plim_bytes){.data = &nowhere, .size = 77};
	int result = plimp_decode_cgroup(text, controller, path);
	if (result != 1) {
		assert_true(result == 0 || result == PLIM_EMALFORMED);
		assert_ptr_equal(path->data, &nowhere);
		assert_int_equal(path->size, 77);
	}
	return result;
}

struct row {
	const char *text; /* or the name of a fixture */
	const char *controller;
	int result;
	const char *path;
};

static void check_row(const struct row *row, plim_bytes text)
{
	plim_bytes path;
	int result = decode(text, row->controller, &path);

	if (result != row->result || (result == 1 && !text_is(path, row->path)))
		fail_msg("%d for %s in %s", result,
			 row->controller ? row->controller : "(version 2)",
			 row->text);
	text_free(text);
}

static void test_files(void **state)
{
	static const struct row rows[] = {
	    {"linux-6.18-cgroup/hybrid", NULL, 1, "/"},
	    {"linux-6.18-cgroup/hybrid", "memory", 1, "/batch:1"},
	    {"linux-6.18-cgroup/hybrid", "cpu", 1, "/"},
	    {"linux-6.18-cgroup/hybrid", "io", 0, NULL},
	    {"linux-6.18-cgroup/hybrid", "name=systemd", 1, "/"},
	    {"synthetic-cgroup/v1", NULL, 0, NULL},
	    {"synthetic-cgroup/v1", "cpu", 1, "/user.slice/a:b"},
	    {"synthetic-cgroup/v1", "cpuacct", 1, "/user.slice/a:b"},
	    {"synthetic-cgroup/v1", "cpu,cpuacct", 0, NULL},
	    {"synthetic-cgroup/v1", "cpua", 0, NULL},
	    {"synthetic-cgroup/v1", "net_prio", 1, "/"},
	    {"synthetic-cgroup/v1", "memory", 1, "/user.slice/m"},
	    {"synthetic-cgroup/v1", "", 0, NULL},
	    {"synthetic-cgroup/v2", NULL, 1,
	     "/user.slice/user-1000.slice/app.scope"},
	    {"synthetic-cgroup/v2", "cpu", 0, NULL},
	    {"synthetic-cgroup/v2", "", 0, NULL},
	    {"synthetic-cgroup/hybrid-last", NULL, 1, "/user.slice/two"},
	    {"synthetic-cgroup/hybrid-last", "memory", 1, "/user.slice/m"},
	    {"synthetic-cgroup/hybrid-first", NULL, 1, "/user.slice/two"},
	    {"synthetic-cgroup/hybrid-first", "memory", 1, "/user.slice/m"},
	    {"synthetic-cgroup/net-cls-first", NULL, 1,
	     "/system.slice/x.service"},
	    {"synthetic-cgroup/net-cls-first", "net_cls", 1, "/"},
	    {"synthetic-cgroup/deleted", NULL, 1, "/gone.scope (deleted)"},
	    {"synthetic-cgroup/no-path", "cpu", PLIM_EMALFORMED, NULL},
	    {"synthetic-cgroup/no-path", NULL, PLIM_EMALFORMED, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_row(&rows[i], text_fixture(rows[i].text));
}

static void test_texts(void **state)
{
	static const struct row rows[] = {
	    {"", NULL, 0, NULL},
	    {"0::/\n", NULL, 1, "/"},
	    {"0::/a\n0::/b\n", NULL, 1, "/a"},
	    {"0::/../outside\n", NULL, 1, "/../outside"},
	    {"0::/\xff\x1b[31m\n", NULL, 1, "/\xff\x1b[31m"},
	    {"0:cpu:/\n", NULL, 0, NULL},
	    {"1::/\n", NULL, 0, NULL},
	    {"00::/\n", NULL, 1, "/"},
	    {"0::/", NULL, PLIM_EMALFORMED, NULL},
	    {"0::\n", NULL, PLIM_EMALFORMED, NULL},
	    {"0::a\n", NULL, PLIM_EMALFORMED, NULL},
	    {"0:/\n", NULL, PLIM_EMALFORMED, NULL},
	    {"0\n", NULL, PLIM_EMALFORMED, NULL},
	    {"::/\n", NULL, PLIM_EMALFORMED, NULL},
	    {"x::/\n", NULL, PLIM_EMALFORMED, NULL},
	    {"-1::/\n", NULL, PLIM_EMALFORMED, NULL},
	    {" 0::/\n", NULL, PLIM_EMALFORMED, NULL},
	    {"18446744073709551616::/\n", NULL, PLIM_EMALFORMED, NULL},
	    {"\n", NULL, PLIM_EMALFORMED, NULL},
	    {"0::/\n\n", NULL, PLIM_EMALFORMED, NULL},
	    {"0::/\nx", NULL, PLIM_EMALFORMED, NULL},
	    {"1:a,,cpu,:/p\n", "cpu", 1, "/p"},
	    {"1:a,,cpu,:/p\n", "", 0, NULL},
	    {"1:xcpu,cpux:/p\n", "cpu", 0, NULL},
	    {"1:a:/cpu:/p\n", "cpu", 0, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_row(&rows[i], text_string(rows[i].text));
}

static void check_path(const char *string, const char *expected,
		       int expect_version)
{
	static const char nowhere;
	plim_bytes text = text_string(string);
	plim_bytes path = {&nowhere, 77};
	int version = 77;
	int result = plimp_decode_cgroup_path(text, &path, &version);

	if (expected == NULL) {
		assert_int_equal(result, expect_version);
		assert_ptr_equal(path.data, &nowhere);
		assert_int_equal(version, 77);
	} else if (result != 1 || !text_is(path, expected) ||
		   version != expect_version) {
		fail_msg("%s: %d", string, result);
	}
	text_free(text);
}

/* Every order of three lines gives the same. */
static void check_orders(const char *a, const char *b, const char *c,
			 const char *expected, int version)
{
	const char *lines[3] = {a, b, c};
	char text[512];

	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			if (i != j) {
				snprintf(text, sizeof(text), "%s%s%s", lines[i],
					 lines[j], lines[3 - i - j]);
				check_path(text, expected, version);
			}
}

static void test_path(void **state)
{
	(void)state;
	check_path("0::/a.slice/b.service\n", "/a.slice/b.service", 2);
	check_path("0::/\n", "/", 2);
	check_path("", NULL, 0);
	check_path("0::/a", NULL, PLIM_EMALFORMED);
	check_path("0::/a\nx\n", NULL, PLIM_EMALFORMED);
	/* Version 1 alone. */
	check_orders("3:cpu,cpuacct:/c\n", "2:memory:/m\n",
		     "1:name=systemd:/s.service\n", "/s.service", 1);
	check_orders("3:cpu,cpuacct:/c\n", "2:memory:/m\n", "1:pids:/p\n", "/m",
		     1);
	check_orders("3:cpu,cpuacct:/c\n", "2:net_cls:/n\n", "1:pids:/p\n",
		     "/p", 1);
	check_orders("3:freezer:/c\n", "2:net_cls:/n\n", "1:name=x:/p\n", "/p",
		     1);
	/* Version 2 is mounted, and nobody uses it. */
	check_orders("1:net_cls:/\n", "0::/\n", "2:memory:/docker/x\n",
		     "/docker/x", 1);
	check_orders("1:net_cls:/\n", "0::/\n", "2:name=systemd:/s\n", "/s", 1);
	/* A root says nothing while another line does. */
	check_orders("1:net_cls:/n\n", "0::/u\n", "2:name=systemd:/\n", "/u",
		     2);
	check_orders("1:memory:/m\n", "0::/u\n", "2:pids:/p\n", "/u", 2);
	check_orders("1:net_cls:/n\n", "0::/\n", "2:name=systemd:/\n", "/n", 1);
	check_orders("1:net_cls:/\n", "0::/\n", "2:name=systemd:/\n", "/", 1);
	check_orders("1:net_cls:/\n", "0::/\n", "2:memory:/\n", "/", 2);
	/* The engine's group is not the container's. */
	check_orders("5:memory:/docker/x\n", "0::/e.service\n",
		     "1:name=systemd:/docker/x\n", "/docker/x", 1);
}

static void check_any(plim_bytes text)
{
	plim_bytes path;

	if (decode(text, NULL, &path) == 1)
		assert_true(path.size && path.data[0] == '/');
	if (decode(text, "memory", &path) == 1)
		assert_true(path.size && path.data[0] == '/');
}

static void check_prefix(plim_bytes text)
{
	plim_bytes path;

	if (decode(text, "memory", &path) == 1)
		assert_true(text_is(path, "/batch:1"));
}

static void check_nonsense(plim_bytes text)
{
	plim_bytes path;

	assert_int_equal(decode(text, NULL, &path),
			 text.size ? PLIM_EMALFORMED : 0);
}

static void test_hostile(void **state)
{
	plim_bytes text = text_fixture("linux-6.18-cgroup/hybrid");

	(void)state;
	text_every_prefix(text, check_prefix);
	text_every_change(text, check_any);
	text_every_nonsense(check_nonsense);
	text_free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_files),
	    cmocka_unit_test(test_texts),
	    cmocka_unit_test(test_path),
	    cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests_name("decode_cgroup", tests, NULL, NULL);
}
