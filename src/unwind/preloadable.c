/*
 * preloadable.c - whether a program can have an object preloaded, judged by its
 * file before it is started.
 *
 * A program for which the loader does nothing (it is static), does not take it
 * from the environment (it gives privileges), or would refuse to start (another
 * machine, another C library, a sanitizer that must be first) is named with the
 * reason. A script is judged by its interpreter. The file's bytes are hostile.
 */
#include "unwind/preloadable.h"

#include "core/fail.h"
#include "elf/elf.h"
#include "host/target.h"

#include <string.h>

/* An interpreter of a script may be one itself (BINPRM_BUF_SIZE, and 4 times,
 * in fs/exec.c and fs/binfmt_script.c). */
#define PRELOAD_SCRIPTS 4
#define PRELOAD_LINE	256u
/* Entries of a dynamic segment that are looked at. */
#define PRELOAD_ENTRIES 1024u
#define PRELOAD_NEEDED	1u /* DT_NEEDED */
#define PRELOAD_STRTAB	5u /* DT_STRTAB */

/* What is looked at of one file. */
struct preload_look {
	plim_host *host;
	const char *path;
	struct plimp_file file;
	struct plimp_elf elf;
};

static int preload_refuse(const struct preload_look *look, const char *why,
			  plim_error *error)
{
	return plimp_fail(error, PLIM_EUNSUPPORTED, 0, "preload", look->path,
			  "%s", why);
}

/* The path in the program's segment INTERPRETER: PLIM_ENAME where it is
 * static. */
static int preload_loader(const struct plimp_elf *elf, char *path, size_t size)
{
	struct plimp_elf_segment segment;
	int code = plimp_elf_segment_find(elf, PLIMP_ELF_INTERPRETER, &segment);

	if (code != PLIM_OK)
		return code;
	if (segment.file_size == 0 || segment.file_size >= size)
		return PLIM_EMALFORMED;
	code = plimp_elf_bytes(elf, segment.offset, path,
			       (size_t)segment.file_size);
	if (code == PLIM_OK)
		path[segment.file_size] = '\0';
	return code;
}

/* Ours is the C library that the object was linked with. */
static int preload_own_loader(plim_host *host, char *path, size_t size)
{
	struct plimp_file file;
	struct plimp_elf elf;
	int code;

	memset(&file, 0, sizeof file);
	code = plimp_system_file_open(host, PLIMP_OWN_PROGRAM, &file, NULL);
	if (code != PLIM_OK)
		return code;
	code = plimp_elf_open(&elf, &file.reader, 0, file.size);
	if (code == PLIM_OK)
		code = preload_loader(&elf, path, size);
	plimp_system_file_close(host, &file);
	return code;
}

/* PLIM_ENAME: they are two, or there is none. */
static int preload_same_file(plim_host *host, const char *a, const char *b)
{
	struct plimp_file first;
	struct plimp_file second;
	int code;

	if (strcmp(a, b) == 0)
		return PLIM_OK;
	memset(&first, 0, sizeof first);
	memset(&second, 0, sizeof second);
	code = plimp_system_file_open(host, a, &first, NULL);
	if (code == PLIM_OK)
		code = plimp_system_file_open(host, b, &second, NULL);
	if (code == PLIM_OK &&
	    (first.device != second.device || first.inode != second.inode))
		code = PLIM_ENAME;
	plimp_system_file_close(host, &first);
	plimp_system_file_close(host, &second);
	return code == PLIM_OK || code == PLIM_ENOMEM ? code : PLIM_ENAME;
}

/* A dynamic entry: PLIM_ENAME from the last one on. */
static int preload_dynamic(const struct preload_look *look,
			   const struct plimp_elf_segment *segment, uint64_t at,
			   uint64_t pair[2])
{
	if (at >= PRELOAD_ENTRIES || (at + 1) * 16 > segment->file_size ||
	    plimp_elf_bytes(&look->elf, segment->offset + at * 16, pair, 16) !=
		PLIM_OK ||
	    pair[0] == 0)
		return PLIM_ENAME;
	return PLIM_OK;
}

/* A sanitizer's library, which looks whether it is the first of all and ends
 * the program where it is not. */
static int preload_has_sanitizer(const struct preload_look *look)
{
	struct plimp_elf_segment segment;
	uint64_t strings = 0;
	uint64_t pair[2];

	if (plimp_elf_segment_find(&look->elf, PLIMP_ELF_DYNAMIC, &segment) !=
	    PLIM_OK)
		return 0;
	for (uint64_t i = 0;
	     preload_dynamic(look, &segment, i, pair) == PLIM_OK; i++)
		if (pair[0] == PRELOAD_STRTAB &&
		    plimp_elf_place(&look->elf, pair[1], &strings) != PLIM_OK)
			return 0;
	for (uint64_t i = 0; strings != 0 && preload_dynamic(look, &segment, i,
							     pair) == PLIM_OK;
	     i++) {
		char name[64] = "";
		size_t size = sizeof name - 1;

		if (pair[0] != PRELOAD_NEEDED)
			continue;
		/* Less where the file ends before. */
		while (size > 8 &&
		       plimp_elf_bytes(&look->elf, strings + pair[1], name,
				       size) != PLIM_OK)
			size /= 2;
		name[size] = '\0';
		if (strstr(name, "asan") != NULL ||
		    strstr(name, "libtsan") != NULL ||
		    strstr(name, "rt.tsan") != NULL)
			return 1;
	}
	return 0;
}

static int preload_judge_elf(struct preload_look *look, uint16_t machine,
			     plim_error *error)
{
	char loader[PRELOAD_LINE];
	char own[PRELOAD_LINE];
	struct plimp_elf_section section;
	int is_other = 0;
	int code;

	if (look->elf.machine != machine)
		return preload_refuse(look,
				      "it is of another machine than the "
				      "object that would be preloaded",
				      error);
	code = preload_loader(&look->elf, loader, sizeof loader);
	if (code == PLIM_ENAME)
		return preload_refuse(look,
				      "it is linked statically, so that "
				      "nothing can be preloaded; link it "
				      "dynamically",
				      error);
	if (code != PLIM_OK)
		return preload_refuse(look,
				      "its file cannot be read as a "
				      "program",
				      error);
	code = preload_own_loader(look->host, own, sizeof own);
	if (code == PLIM_OK) {
		code = preload_same_file(look->host, loader, own);
		is_other = code == PLIM_ENAME;
	}
	if (code == PLIM_ENOMEM)
		return plimp_fail(error, code, 0, "preload", NULL, NULL);
	if (is_other)
		return preload_refuse(look,
				      "it has another C library than plim; "
				      "use a plim that is built with it",
				      error);
	if (preload_has_sanitizer(look))
		return preload_refuse(look,
				      "its sanitizer must be loaded first; "
				      "build it without",
				      error);
	if (plimp_elf_section_find(&look->elf, ".go.buildinfo", &section) ==
	    PLIM_OK)
		return preload_refuse(look,
				      "it has a Go runtime, which keeps the "
				      "signal for itself; use its own "
				      "profiler",
				      error);
	return PLIM_OK;
}

/* The interpreter in the first line of a script: 1, or 0 where it is none. */
static int preload_script(const unsigned char *head, size_t size,
			  char path[PRELOAD_LINE])
{
	size_t at = 2;
	size_t end;

	if (size < 3 || head[0] != '#' || head[1] != '!')
		return 0;
	while (at < size && (head[at] == ' ' || head[at] == '\t'))
		at++;
	for (end = at; end < size; end++)
		if (head[end] == ' ' || head[end] == '\t' ||
		    head[end] == '\n' || head[end] == '\0')
			break;
	/* The kernel's buffer is as long, and has zeros behind a file that is
	 * shorter (load_script() in its fs/binfmt_script.c): a last line needs
	 * no newline there, and a longer one is cut off. */
	if (end == at || end == PRELOAD_LINE)
		return 0;
	memcpy(path, head + at, end - at);
	path[end - at] = '\0';
	return 1;
}

static int preload_judge(plim_host *host, const char *path, uint16_t machine,
			 int depth, plim_error *error);

/* What the file's first bytes say. */
static int preload_judge_file(struct preload_look *look, uint16_t machine,
			      int depth, plim_error *error)
{
	unsigned char head[PRELOAD_LINE] = {0};
	char interpreter[PRELOAD_LINE];
	size_t size = sizeof head;

	if (look->file.size < size)
		size = (size_t)look->file.size;
	if (look->file.reader.read(look->file.reader.user, 0, head, size,
				   &size) != PLIM_OK)
		return preload_refuse(look, "its file cannot be read", error);
	if (preload_script(head, size, interpreter)) {
		if (depth == PRELOAD_SCRIPTS)
			return preload_refuse(look, "scripts of scripts",
					      error);
		return preload_judge(look->host, interpreter, machine,
				     depth + 1, error);
	}
	if (size > 4 && memcmp(head, "\177ELF\1", 5) == 0)
		return preload_refuse(look,
				      "it is a program of 32 bits, and the "
				      "object that would be preloaded is not",
				      error);
	if (plimp_elf_open(&look->elf, &look->file.reader, 0,
			   look->file.size) != PLIM_OK)
		return preload_refuse(
		    look, "its file cannot be read as a program", error);
	return preload_judge_elf(look, machine, error);
}

static int preload_judge(plim_host *host, const char *path, uint16_t machine,
			 int depth, plim_error *error)
{
	struct preload_look look = {.host = host, .path = path};
	int code;

	if (plimp_system_gives_privileges(host, path))
		return preload_refuse(&look,
				      "it gives privileges (set-uid, set-gid "
				      "or file capabilities), so that its "
				      "loader takes nothing from the "
				      "environment; run it as the user that "
				      "it becomes",
				      error);
	code = plimp_system_file_open(host, path, &look.file, error);
	if (code != PLIM_OK)
		return code;
	code = preload_judge_file(&look, machine, depth, error);
	plimp_system_file_close(host, &look.file);
	return code;
}

/* The object itself: a file that its loader can take by this name. */
static int preload_object(plim_host *host, const char *path, uint16_t *machine,
			  plim_error *error)
{
	struct preload_look look = {.host = host, .path = path};
	int code;

	if (path[0] != '/' || strpbrk(path, ": \t\n") != NULL)
		return preload_refuse(&look,
				      "a loader cannot be given this path: it "
				      "is not absolute, or has a space or a "
				      "colon in it",
				      error);
	code = plimp_system_file_open(host, path, &look.file, error);
	if (code != PLIM_OK)
		return code;
	code = plimp_elf_open(&look.elf, &look.file.reader, 0, look.file.size);
	*machine = look.elf.machine;
	plimp_system_file_close(host, &look.file);
	return code == PLIM_OK
		   ? PLIM_OK
		   : preload_refuse(&look, "it is no object for a loader",
				    error);
}

int plimp_preloadable(plim_host *host, const char *program, const char *object,
		      plim_error *error)
{
	uint16_t machine = 0;
	int code = preload_object(host, object, &machine, error);

	return code == PLIM_OK ? preload_judge(host, program, machine, 0, error)
			       : code;
}
