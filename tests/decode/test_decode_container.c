/*
 * test_decode_container.c - the container in the path of a cgroup: the forms
 * that engines use, and what only looks like one.
 */
#include "fixture.h"
#include "host/linux/decode.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#define ID_A  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID_B  "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define UPPER "FEDCBA9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define POD   "pod3c2e6f1a_9d1e_4e0c_8a3b_0f3a5d7c9e11"

static int decode(plim_bytes path, plim_bytes *id)
{
	static const char nowhere;

	*id = (plim_bytes){.data = &nowhere, .size = 77};
	int result = plimp_decode_container(path, id);
	if (result != 1) {
		assert_int_equal(result, 0);
		assert_ptr_equal(id->data, &nowhere);
		assert_int_equal(id->size, 77);
		return 0;
	}
	assert_true(id->size > 0);
	assert_in_range((uintptr_t)id->data, (uintptr_t)path.data,
			(uintptr_t)(path.data + path.size - id->size));
	return 1;
}

static void check(const char *string, const char *expected)
{
	plim_bytes path = text_string(string);
	plim_bytes id;
	int found = decode(path, &id);

	if (found != (expected != NULL) || (found && !text_is(id, expected)))
		fail_msg("%s: %.*s", string, found ? (int)id.size : 4,
			 found ? id.data : "none");
	text_free(path);
}

static void test_ids(void **state)
{
	(void)state;
	check("/docker/" ID_A, ID_A);
	check("/system.slice/docker-" ID_A ".scope", ID_A);
	check("/system.slice/docker-" ID_A ".scope/init.scope", ID_A);
	check("/system.slice/docker-" ID_A ".scope (deleted)", ID_A);
	check("/machine.slice/libpod-" ID_B ".scope/container", ID_B);
	check("/user.slice/user-1000.slice/user@1000.service/user.slice/"
	      "libpod-" ID_B ".scope",
	      ID_B);
	check("/libpod_parent/libpod-" ID_B, ID_B);
	check("/kubepods.slice/kubepods-burstable.slice/"
	      "kubepods-burstable-" POD ".slice/cri-containerd-" ID_A ".scope",
	      ID_A);
	check("/kubepods.slice/kubepods-" POD ".slice/crio-" ID_B ".scope",
	      ID_B);
	check("/kubepods/besteffort/" POD "/" ID_A, ID_A);
	check("/kubepods/" POD "/" ID_A "/child", ID_A);
	check("/system.slice/containerd.service/kubepods-burstable-" POD
	      ".slice:cri-containerd:" ID_A,
	      ID_A);
	check("/user.slice/nerdctl-" ID_A ".scope", ID_A);
	/* The innermost. */
	check("/docker/" ID_A "/docker/" ID_B, ID_B);
	check("/docker/" ID_A "/kubepods/burstable/" POD "/" ID_B, ID_B);
	check("/../docker/" ID_A, ID_A);
}

static void test_names(void **state)
{
	(void)state;
	check("/lxc.payload.web", "web");
	check("/lxc.payload.web/system.slice/ssh.service", "web");
	check("/lxc/web", "web");
	check("/lxc.payload/web/init.scope", "web");
	check("/machine.slice/systemd-nspawn@deb.service/payload/init.scope",
	      "deb");
	check("/machine.slice/machine-deb\\x2d12.scope/payload", "deb\\x2d12");
	check("/lxc.payload.a b\x1b", "a b\x1b");
}

static void test_none(void **state)
{
	(void)state;
	check("", NULL);
	check("/", NULL);
	check("/system.slice/docker.service", NULL);
	check("/system.slice/docker-0123456789ab.scope", NULL);
	check("/system.slice/docker-" UPPER ".scope", NULL);
	check("/system.slice/docker-" ID_A "0.scope", NULL);
	check("/system.slice/docker-" ID_A, NULL);
	check("/mydocker-" ID_A ".scope", NULL);
	check("/" ID_A, NULL);
	check("/user.slice/" ID_A, NULL);
	check("/docker", NULL);
	check("/docker/buildkit", NULL);
	/* What watches a container is not in it. */
	check("/machine.slice/libpod-conmon-" ID_A ".scope", NULL);
	check("/system.slice/crio-conmon-" ID_A ".scope", NULL);
	check("/lxc.monitor.web", NULL);
	check("/lxc.payload.", NULL);
	check("/lxc", NULL);
	check("/machine.slice/systemd-nspawn@deb.service/supervisor", NULL);
	check("/machine.slice/systemd-nspawn@deb.service", NULL);
	/* A virtual machine. */
	check("/machine.slice/machine-qemu\\x2d1\\x2dvm.scope/libvirt", NULL);
	check("/machine.slice/machine-qemu\\x2d1\\x2dvm.scope", NULL);
	check("/kubepods.slice", NULL);
	check("/kubepods/" POD, NULL);
}

static void check_any(plim_bytes text)
{
	plim_bytes id;

	decode(text, &id);
}

static void test_hostile(void **state)
{
	plim_bytes text = text_string("/docker/" ID_A "/lxc/a/libpod-" ID_B
				      "/x:cri-containerd:" ID_A);

	(void)state;
	text_every_prefix(text, check_any);
	text_every_change(text, check_any);
	text_every_nonsense(check_any);
	text_free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_ids),
	    cmocka_unit_test(test_names),
	    cmocka_unit_test(test_none),
	    cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests_name("decode_container", tests, NULL,
					   NULL);
}
