/*
 * names.c - prints what the library calls addresses of a program that runs:
 *
 *     names PROGRAM [ROOT] < ADDRESSES
 *
 * PROGRAM is started, with ROOT as its root; it writes a byte when it has come
 * to where it waits. Addresses are those of its file, hexadecimal, one a line.
 * For each a line of its own, and then two per frame, as addr2line -a -f -i
 * prints them: the linkage name, and FILE:LINE.
 */
#include <plimsoll.h>

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 128

static pid_t start(const char *program, const char *root)
{
	int ready[2];
	char byte;
	pid_t child;

	if (pipe(ready) != 0)
		return -1;
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (root != NULL && (chroot(root) != 0 || chdir("/") != 0))
			_exit(1);
		dup2(ready[1], STDOUT_FILENO);
		close(ready[0]);
		close(ready[1]);
		execl(program, program, (char *)NULL);
		_exit(1);
	}
	close(ready[1]);
	if (child > 0 && read(ready[0], &byte, 1) != 1)
		return -1;
	return child;
}

/* The program's own module, the first of that name. */
static int find(const plim_code *code, const char *program,
		plim_code_module *module)
{
	plim_bytes name =
	    plim_base_name((plim_bytes){program, strlen(program)});
	size_t i;

	for (i = 0; plim_code_module_at(code, i, module) == PLIM_OK; i++) {
		plim_bytes base = plim_base_name(module->path);

		if (module->kind == PLIM_CODE_FILE && base.size == name.size &&
		    memcmp(base.data, name.data, base.size) == 0)
			return 1;
	}
	return 0;
}

static void put(plim_bytes text)
{
	if (text.size == 0)
		fputs("??", stdout);
	else
		fwrite(text.data, 1, text.size, stdout);
}

static int print(plim_code *code, const plim_code_module *module,
		 uint64_t address, plim_error *error)
{
	plim_frame_name names[MOST];
	size_t count = 0;
	size_t i;
	int result = plim_code_name(code, address + module->bias, names, MOST,
				    &count, error);

	if (result != PLIM_OK)
		return result;
	printf("0x%" PRIx64 "\n", address);
	for (i = 0; i < count && i < MOST; i++) {
		if (names[i].offset != address ||
		    names[i].is_inlined != (i + 1 < count))
			return PLIM_EMALFORMED;
		put(names[i].linkage);
		putchar('\n');
		put(names[i].file);
		printf(":%" PRIu32 "\n", names[i].line);
	}
	return PLIM_OK;
}

static int print_all(plim_host *host, pid_t child, const char *program,
		     plim_error *error)
{
	plim_code_module module;
	plim_target *target = NULL;
	plim_code *code = NULL;
	char text[64];
	int result = plim_target_open(&target, host, child, error);

	if (result == PLIM_OK)
		result = plim_code_open(&code, host, target, error);
	if (result == PLIM_OK && !find(code, program, &module)) {
		fprintf(stderr, "no module %s\n", program);
		result = PLIM_ENAME;
	}
	while (result == PLIM_OK && fgets(text, sizeof(text), stdin) != NULL)
		result = print(code, &module, strtoull(text, NULL, 16), error);
	plim_code_close(code);
	plim_target_close(target);
	return result;
}

int main(int argc, char **argv)
{
	plim_error error = {0};
	plim_host *host;
	char text[512];
	pid_t child;
	int result;

	if (argc < 2 || argc > 3)
		return 2;
	child = start(argv[1], argc > 2 ? argv[2] : NULL);
	if (child <= 0)
		return 2;
	result = plim_host_open(&host, NULL, &error);
	if (result == PLIM_OK) {
		result = print_all(host, child, argv[1], &error);
		plim_host_close(host);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	if (result == PLIM_OK)
		return 0;
	plim_error_message(&error, text, sizeof(text));
	fprintf(stderr, "%s\n", text);
	return 1;
}
