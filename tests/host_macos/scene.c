/*
 * scene.c - the made-up Mac that the command is run on: an observer, an
 * application of the user with a child, one of root's, a zombie. It is there
 * before main() begins.
 */
#include "fake.h"

#include <string.h>

static struct fake_thread scene_threads[] = {
    {.id = 5001, .user_ns = 8000000, .state = 3, .name = "main"},
    {.id = 5002, .user_ns = 9000000, .state = 1, .name = "wor\033[31mker"},
    {.id = 5003, .state = 4},
};

static const char scene_line[] =
    "\3\0\0\0/Applications/Mail.app/Mail\0\0\0\0\0Mail\0--inbox\0a b\0HOME=/";

static void scene_app(void)
{
	struct fake_process *app = fake_add(200, 1, "Mail");

	app->path = "/Applications/Mail.app/Mail";
	app->arguments = scene_line;
	app->arguments_size = sizeof scene_line;
	app->threads = scene_threads;
	app->thread_count = 3;
	app->rusage.user_ticks = 24000000 * UINT64_C(90);
	app->rusage.system_ticks = 24000000 * UINT64_C(30);
	app->rusage.interrupt_wakeups = 4711;
	app->rusage.resident_size = UINT64_C(300) << 20;
	app->rusage.footprint = UINT64_C(200) << 20;
	app->rusage.lifetime_max_footprint = UINT64_C(250) << 20;
	app->rusage.disk_read = UINT64_C(10) << 20;
	app->rusage.disk_written = UINT64_C(5) << 20;
	app->faults = 5000;
	app->nice = -1;
}

__attribute__((constructor)) static void scene_begin(void)
{
	fake_reset();
	fake_add(1, 0, "launchd")->uid = 0;
	scene_app();
	fake_add(201, 200, "MailHelper\n");
	fake_end(fake_add(202, 200, "ended"));
	fake_add(300, 1, "WindowServer")->uid = 88;
}
