/*
 * term_windows.c - the console of Windows, and what stands in its place.
 *
 * All that we write is UTF-8. A console is given UTF-16 through its own call,
 * so that it needs no code page for that; what stdio writes to standard error
 * goes through the C library, for which the console's code page is UTF-8 while
 * we run. Lines end in a newline alone, also in files and pipes. Colours and
 * the moving of the cursor need a console that knows the sequences of a
 * terminal (Windows 10); an older one is none to us.
 */
#include "cmd.h"
#include "term.h"
#include "wide.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include <shellapi.h>

/* Since Windows 10 1511; older headers do not have it. */
#define TERM_SEQUENCES 0x0004

#define TERM_PIECE 4096

static UINT term_page; /* the console's own, 0: it has none */
static int term_console[TERM_ERROR + 1];

/* What has come of a character that is not whole yet. */
static struct {
	char bytes[4];
	size_t size;
} term_rest[TERM_ERROR + 1];

static HANDLE term_handle(int stream)
{
	return GetStdHandle(stream == TERM_INPUT    ? STD_INPUT_HANDLE
			    : stream == TERM_OUTPUT ? STD_OUTPUT_HANDLE
						    : STD_ERROR_HANDLE);
}

static void term_end(void)
{
	fflush(stderr);
	if (term_page != 0)
		SetConsoleOutputCP(term_page);
}

static void term_prepare(int stream)
{
	const HANDLE handle = term_handle(stream);
	DWORD mode;

	if (handle == NULL || handle == INVALID_HANDLE_VALUE ||
	    !GetConsoleMode(handle, &mode))
		return;
	if (stream == TERM_INPUT)
		term_console[stream] = 1;
	else
		term_console[stream] =
		    (mode & TERM_SEQUENCES) != 0 ||
		    SetConsoleMode(handle, mode | TERM_SEQUENCES);
}

/* Arguments come as one text of UTF-16, which the system cuts. */
static int term_arguments(int *argc, char ***argv)
{
	int count;
	wchar_t **wide = CommandLineToArgvW(GetCommandLineW(), &count);
	char **made;
	int i;

	if (wide == NULL)
		return 0;
	made = calloc((size_t)count + 1, sizeof *made);
	for (i = 0; made != NULL && i < count; i++) {
		made[i] = wide_to(wide[i]);
		if (made[i] == NULL) {
			made = NULL; /* we end */
			break;
		}
	}
	LocalFree(wide);
	if (made == NULL)
		return 0;
	*argc = count;
	*argv = made;
	return 1;
}

int term_begin(int *argc, char ***argv)
{
	static char texts[TERM_PIECE];
	static char errors[TERM_PIECE];

	_setmode(_fileno(stdin), _O_BINARY);
	_setmode(_fileno(stdout), _O_BINARY);
	_setmode(_fileno(stderr), _O_BINARY);
	/* Unbuffered, each byte of a character would be written alone. What is
	 * in them is handed out whenever we wait, start something, or end. */
	setvbuf(stdout, texts, _IOFBF, sizeof texts);
	setvbuf(stderr, errors, _IOFBF, sizeof errors);
	term_prepare(TERM_INPUT);
	term_prepare(TERM_OUTPUT);
	term_prepare(TERM_ERROR);
	if (term_console[TERM_OUTPUT] || term_console[TERM_ERROR]) {
		term_page = GetConsoleOutputCP();
		SetConsoleOutputCP(CP_UTF8);
	}
	atexit(term_end);
	return term_arguments(argc, argv);
}

const char *term_setting(const char *name)
{
	wchar_t *wide = wide_from(name);
	wchar_t *value = NULL;
	char *text = NULL;
	DWORD size = 0;

	if (wide != NULL)
		size = GetEnvironmentVariableW(wide, NULL, 0);
	if (size > 0)
		value = malloc(size * sizeof *value);
	if (value != NULL && GetEnvironmentVariableW(wide, value, size) < size)
		text = wide_to(value); /* stays until the end */
	free(value);
	free(wide);
	return text;
}

int term_is(int stream)
{
	return term_console[stream];
}

size_t term_width(void)
{
	CONSOLE_SCREEN_BUFFER_INFO about;

	if (!term_console[TERM_OUTPUT])
		return 0;
	if (!GetConsoleScreenBufferInfo(term_handle(TERM_OUTPUT), &about) ||
	    about.srWindow.Right <= about.srWindow.Left)
		return 80;
	return (size_t)(about.srWindow.Right - about.srWindow.Left) + 1;
}

/* Every file and pipe takes UTF-8, and the console what we make of it. */
int term_takes_utf8(void)
{
	return 1;
}

/* `\x5c` is the only escape of a backslash (plim_escape()). */
void term_show_folders(char *text)
{
	char *to = text;

	while (*text != '\0') {
		if (strncmp(text, "\\x5c", 4) == 0 && text[4] != 'x') {
			*to++ = '\\';
			text += 4;
		} else {
			*to++ = *text++;
		}
	}
	*to = '\0';
}

static int term_bytes(HANDLE handle, const char *data, size_t size)
{
	while (size > 0) {
		const DWORD part =
		    size < TERM_PIECE ? (DWORD)size : (DWORD)TERM_PIECE;
		DWORD written = 0;

		if (!WriteFile(handle, data, part, &written, NULL))
			return wide_errno(GetLastError());
		data += written;
		size -= written;
	}
	return 0;
}

/* How many of these bytes are whole characters: all but the beginning of one,
 * which is three bytes at most. */
static size_t term_whole(const char *data, size_t size)
{
	size_t back;

	for (back = 1; back <= 3 && back <= size; back++) {
		const unsigned char byte = (unsigned char)data[size - back];

		if ((byte & 0xc0) == 0x80)
			continue;
		if ((byte >= 0xc0 && back < 2) || (byte >= 0xe0 && back < 3) ||
		    (byte >= 0xf0 && back < 4))
			return size - back;
		break;
	}
	return size;
}

static int term_wide(HANDLE handle, const char *data, size_t size)
{
	wchar_t wide[TERM_PIECE + 8];
	const int count =
	    MultiByteToWideChar(CP_UTF8, 0, data, (int)size, wide,
				(int)(sizeof wide / sizeof wide[0]));
	int done = 0;

	while (done < count) {
		DWORD written = 0;

		if (!WriteConsoleW(handle, wide + done, (DWORD)(count - done),
				   &written, NULL))
			return wide_errno(GetLastError());
		done += (int)written;
	}
	return 0;
}

static int term_characters(int stream, const char *data, size_t size)
{
	char piece[TERM_PIECE];
	size_t used = term_rest[stream].size;
	int problem = 0;

	memcpy(piece, term_rest[stream].bytes, used);
	while (size > 0 && problem == 0) {
		size_t part = sizeof piece - used;
		size_t whole;

		if (part > size)
			part = size;
		memcpy(piece + used, data, part);
		data += part;
		size -= part;
		used += part;
		whole = term_whole(piece, used);
		problem = term_wide(term_handle(stream), piece, whole);
		used -= whole;
		memmove(piece, piece + whole, used);
	}
	memcpy(term_rest[stream].bytes, piece, used);
	term_rest[stream].size = used;
	return problem;
}

int term_write(int stream, const char *data, size_t size)
{
	const HANDLE handle = term_handle(stream);

	if (stream == TERM_ERROR)
		fflush(stderr);
	if (size == 0)
		return 0;
	if (handle == NULL || handle == INVALID_HANDLE_VALUE)
		return EBADF;
	return term_console[stream] ? term_characters(stream, data, size)
				    : term_bytes(handle, data, size);
}

void term_pass_on(int stream, const char *data, size_t size)
{
	term_write(stream, data, size);
}
