/*
 * test_decode_mount.c - /proc/self/mountinfo and its options: how /proc is
 * mounted, tags before the "-", escapes, an empty source, lines that are none.
 */
#include "fixture.h"
#include "host/linux/decode.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

/* One step; whatever happens the offset moves on, but for the end. */
static int step(plim_bytes text, size_t *offset, struct plimp_mount *mount)
{
	struct plimp_mount poison;
	size_t before = *offset;

	memset(&poison, 0xa5, sizeof(poison));
	*mount = poison;
	int result = plimp_decode_mount(text, offset, mount);
	assert_true(*offset <= text.size);
	if (result == 0)
		assert_int_equal(*offset, before);
	else
		assert_true(*offset > before);
	if (result != 1)
		assert_memory_equal(mount, &poison, sizeof(poison));
	if (result < 0)
		assert_int_equal(result, PLIM_EMALFORMED);
	return result;
}

struct row {
	int result;
	const char *root, *point, *type, *options;
};

static void walk(const char *file, const struct row *rows, size_t count)
{
	plim_bytes text = text_fixture(file);
	struct plimp_mount mount;
	size_t offset = 0;

	for (size_t i = 0; i < count; i++) {
		assert_int_equal(step(text, &offset, &mount), rows[i].result);
		if (rows[i].result != 1)
			continue;
		assert_true(text_is(mount.root, rows[i].root));
		assert_true(text_is(mount.point, rows[i].point));
		assert_true(text_is(mount.type, rows[i].type));
		assert_true(text_is(mount.options, rows[i].options));
	}
	assert_int_equal(step(text, &offset, &mount), 0);
	text_free(text);
}

static void test_proc_options(void **state)
{
	static const struct row rows[] = {
	    {1, "/", "/srv", "tmpfs", "rw"},
	    {1, "/", "/srv/p0", "proc", "rw"},
	    {1, "/", "/srv/p1", "proc", "rw,hidepid=noaccess"},
	    {1, "/", "/srv/p2", "proc", "rw,gid=27,hidepid=invisible"},
	    {1, "/", "/srv/p4", "proc", "rw,hidepid=ptraceable"},
	    {1, "/", "/srv/sub", "proc", "rw,subset=pid"},
	    {1, "/", "/srv/a\\040b", "tmpfs", "rw"},
	    {1, "/", "/srv/tab\\011new\\012line", "tmpfs", "rw"},
	    {1, "/", "/srv/back\\134slash", "tmpfs", "rw"},
	    {1, "/", "/srv/rslave", "tmpfs", "rw"},
	    {1, "/", "/srv/empty", "tmpfs", "rw"},
	};

	(void)state;
	walk("linux-6.18-mount/proc-options", rows, 11);
}

static void test_number(void **state)
{
	static const struct row rows[] = {
	    {1, "/", "/proc", "proc", "rw,hidepid=2"},
	    {1, "/", "/sys", "sysfs", "rw,seclabel"},
	    {1, "/", "/srv/proc", "proc", "rw,gid=4,hidepid=1"},
	    {1, "/", "/srv/tags", "tmpfs", "rw"},
	};

	(void)state;
	walk("synthetic-mount/hidepid-number", rows, 4);
}

static void test_odd_lines(void **state)
{
	static const struct row rows[] = {
	    {.result = PLIM_EMALFORMED}, /* empty */
	    {.result = PLIM_EMALFORMED}, /* no mount at all */
	    {.result = PLIM_EMALFORMED}, /* no "-" */
	    {.result = PLIM_EMALFORMED}, /* nothing behind the type */
	    {.result = PLIM_EMALFORMED}, /* no options */
	    {.result = PLIM_EMALFORMED}, /* empty options */
	    {.result = PLIM_EMALFORMED}, /* no number */
	    {.result = PLIM_EMALFORMED}, /* no device */
	    {.result = PLIM_EMALFORMED}, /* empty root */
	    {.result = PLIM_EMALFORMED}, /* empty tag */
	    {1, "/a\\040b", "/good", "fuse.x", "rw,one,two=2"},
	    {.result = PLIM_EMALFORMED}, /* cut */
	};

	(void)state;
	walk("synthetic-mount/odd-lines", rows, 12);
}

static void test_host(void **state)
{
	plim_bytes text = text_fixture("linux-6.18-mount/host");
	struct plimp_mount mount;
	size_t offset = 0, count = 0, proc = 0, groups = 0;

	(void)state;
	while (step(text, &offset, &mount) == 1) {
		count++;
		proc += (size_t)text_is(mount.type, "proc");
		if (text_is(mount.type, "cgroup2")) {
			groups++;
			assert_true(
			    text_is(mount.point, "/sys/fs/cgroup/unified"));
		}
	}
	assert_int_equal(offset, text.size);
	assert_int_equal(count, 20);
	assert_int_equal(proc, 2);
	assert_int_equal(groups, 1);
	text_free(text);
}

static void test_option(void **state)
{
	static const struct {
		const char *options, *name;
		int result;
		const char *value;
	} rows[] = {
	    {"rw,hidepid=2", "hidepid", 1, "2"},
	    {"hidepid=invisible,rw", "hidepid", 1, "invisible"},
	    {"rw,gid=27,hidepid=invisible", "gid", 1, "27"},
	    {"rw,hidepid=2", "rw", 1, ""},
	    {"rw,hidepid=", "hidepid", 1, ""},
	    {"rw,hidepid=1,hidepid=2", "hidepid", 1, "1"},
	    {"rw,a=b=c", "a", 1, "b=c"},
	    {"rw,xhidepid=2", "hidepid", 0, NULL},
	    {"rw,hidepidx=2", "hidepid", 0, NULL},
	    {"rw,hidepidx=2,hidepid=4", "hidepid", 1, "4"},
	    {"rw,hidepi", "hidepid", 0, NULL},
	    {"rw,x=hidepid=2", "hidepid", 0, NULL},
	    {"", "hidepid", 0, NULL},
	    {",", "hidepid", 0, NULL},
	    {",,rw,,", "rw", 1, ""},
	    {",,=x", "", 0, NULL},
	    {"rw", "", 0, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		plim_bytes options = text_string(rows[i].options);
		plim_bytes value = {.data = NULL, .size = 77};
		int result =
		    plimp_decode_mount_option(options, rows[i].name, &value);
		if (result != rows[i].result)
			fail_msg("%d for %s in %s", result, rows[i].name,
				 rows[i].options);
		if (result)
			assert_true(text_is(value, rows[i].value));
		else
			assert_int_equal(value.size, 77);
		text_free(options);
	}
	plim_bytes value;
	assert_int_equal(
	    plimp_decode_mount_option((plim_bytes){.size = 0}, "rw", &value),
	    0);
}

static void check_walk(plim_bytes text)
{
	struct plimp_mount mount;
	size_t offset = 0;
	int result;

	while ((result = step(text, &offset, &mount))) {
		if (result != 1)
			continue;
		assert_true(mount.root.data > text.data);
		assert_true(mount.options.data + mount.options.size <
			    text.data + text.size);
		assert_true(mount.root.size && mount.point.size &&
			    mount.type.size && mount.options.size);
	}
	assert_int_equal(offset, text.size);
}

static void test_hostile(void **state)
{
	plim_bytes text = text_fixture("linux-6.18-mount/proc-options");

	(void)state;
	text_every_prefix(text, check_walk);
	text_every_change(text, check_walk);
	text_every_nonsense(check_walk);
	text_free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_proc_options), cmocka_unit_test(test_number),
	    cmocka_unit_test(test_odd_lines),	 cmocka_unit_test(test_host),
	    cmocka_unit_test(test_option),	 cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests_name("decode_mount", tests, NULL, NULL);
}
