/*
 * test_decode_unit.c - the unit of systemd in the path of a cgroup, as
 * systemd's own rules have it.
 */
#include "fixture.h"
#include "host/linux/decode.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

/* What is not stored must be as it was. */
static int decode(plim_bytes path, plim_bytes *unit)
{
	static const char nowhere;

	*unit = (plim_bytes){.data = &nowhere, .size = 77};
	int result = plimp_decode_unit(path, unit);
	if (result != 1) {
		assert_int_equal(result, 0);
		assert_ptr_equal(unit->data, &nowhere);
		assert_int_equal(unit->size, 77);
		return 0;
	}
	assert_true(unit->size > 0);
	assert_in_range((uintptr_t)unit->data, (uintptr_t)path.data,
			(uintptr_t)(path.data + path.size - unit->size));
	return 1;
}

static void check(const char *string, const char *expected)
{
	plim_bytes path = text_string(string);
	plim_bytes unit;
	int found = decode(path, &unit);

	if (found != (expected != NULL) || (found && !text_is(unit, expected)))
		fail_msg("%s: %.*s", string, found ? (int)unit.size : 4,
			 found ? unit.data : "none");
	text_free(path);
}

static void test_system(void **state)
{
	(void)state;
	check("/system.slice/ssh.service", "ssh.service");
	check("/system.slice/system-getty.slice/getty@tty1.service",
	      "getty@tty1.service");
	check("/system.slice/a@b@c.service", "a@b@c.service");
	check("/init.scope", "init.scope");
	check("/system.slice/docker.service/inner.scope", "docker.service");
	check("/system.slice/a.service/b.service", "a.service");
	check("/system.slice/dev-disk-by\\x2dlabel-a.swap",
	      "dev-disk-by\\x2dlabel-a.swap");
	check("/system.slice/run-user-1000.mount", "run-user-1000.mount");
	check("/system.slice/ssh.socket", "ssh.socket");
	check("//system.slice//ssh.service/", "ssh.service");
	check("/machine.slice/libpod-ab.scope/container", "libpod-ab.scope");
	/* Escaped, since "cgroup.service" could be a file of the kernel's. */
	check("/system.slice/_cgroup.service", "cgroup.service");
	check("/_system.slice/__a.service", "_a.service");
	/* Out of our own namespace, and removed. */
	check("/../../system.slice/ssh.service", "ssh.service");
	check("/system.slice/ssh.service (deleted)", "ssh.service");
}

static void test_slices(void **state)
{
	(void)state;
	check("/system.slice", "system.slice");
	check("/user.slice/user-1000.slice", "user-1000.slice");
	check("/-.slice", "-.slice");
	check("/..a.slice", "..a.slice");
	check("/user.slice (deleted)", "user.slice");
	/* The group below is no unit. */
	check("/kubepods.slice/pod12", "kubepods.slice");
	check("/a.slice/b@c.slice", "a.slice");
}

static void test_user(void **state)
{
	(void)state;
	check("/user.slice/user-1000.slice/session-2.scope", "session-2.scope");
	check("/user.slice/user-1000.slice/user@1000.service/app.slice/"
	      "app-gnome.scope",
	      "app-gnome.scope");
	check("/user.slice/user-1000.slice/user@1000.service/init.scope",
	      "init.scope");
	check("/user.slice/user-0.slice/user@0.service", "user@0.service");
	check("/user.slice/user-0.slice/user@0.service/app.slice",
	      "user@0.service");
	check("/user.slice/user-0.slice/session-c1.scope/x.service",
	      "x.service");
	/* Another template is no user's manager. */
	check("/system.slice/user@root.service/x.service", "user@root.service");
	check("/system.slice/getty@1.service/x.service", "getty@1.service");
}

static void test_none(void **state)
{
	(void)state;
	check("", NULL);
	check("/", NULL);
	check("/..", NULL);
	check("/../..", NULL);
	check("/user/1000", NULL);
	check("/docker/0123", NULL);
	check("/docker/x.service", NULL);
	check("/.service", NULL);
	check("/service", NULL);
	check("/a.services", NULL);
	check("/a.b", NULL);
	check("/ssh@.service", NULL);
	check("/@x.service", NULL);
	check("/a b.service", NULL);
	check("/a\x1b.service", NULL);
	check("/\xff.scope", NULL);
	check("/_.service", NULL);
	check("/_", NULL);
	check(" (deleted)", NULL);
}

static void test_length(void **state)
{
	char path[400];
	plim_bytes unit;

	(void)state;
	/* systemd's longest name has 255 bytes. */
	for (size_t size = 254; size <= 257; size++) {
		memset(path, 'a', sizeof(path));
		path[0] = '/';
		memcpy(path + 1 + size - 8, ".service", 8);
		plim_bytes text = text_copy(path, 1 + size);
		int found = decode(text, &unit);
		assert_int_equal(found, size <= 255);
		text_free(text);
	}
}

static void check_any(plim_bytes text)
{
	plim_bytes unit;

	decode(text, &unit);
}

static void test_hostile(void **state)
{
	plim_bytes text = text_string("/../user.slice/user-1.slice/"
				      "user@1.service/_a.slice/x@y.scope/z "
				      "(deleted)");

	(void)state;
	text_every_prefix(text, check_any);
	text_every_change(text, check_any);
	text_every_nonsense(check_any);
	text_free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_system), cmocka_unit_test(test_slices),
	    cmocka_unit_test(test_user),   cmocka_unit_test(test_none),
	    cmocka_unit_test(test_length), cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests_name("decode_unit", tests, NULL, NULL);
}
