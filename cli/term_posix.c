/*
 * term_posix.c - the terminal of a system of POSIX: descriptors 0 to 2, the
 * environment as it is, and a locale that says what is understood.
 */
#include "cmd.h"
#include "term.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Whoever started us may have closed these; what we open must not take their
 * place. */
int term_begin(int *argc, char ***argv)
{
	int descriptor;

	(void)argc;
	(void)argv;
	do {
		/* Writing to it fails, as to a closed one. */
		descriptor = open("/dev/null", O_RDONLY);
	} while (descriptor >= 0 && descriptor <= STDERR_FILENO);
	if (descriptor >= 0)
		close(descriptor);
	return 1;
}

const char *term_setting(const char *name)
{
	return getenv(name);
}

int term_is(int stream)
{
	return isatty(stream);
}

size_t term_width(void)
{
	struct winsize window;

	if (!isatty(STDOUT_FILENO))
		return 0;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 ||
	    window.ws_col == 0)
		return 80;
	return window.ws_col;
}

int term_takes_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	const char *locale = NULL;
	int i;

	for (i = 0; i < 3 && locale == NULL; i++) {
		locale = getenv(names[i]);
		if (locale != NULL && *locale == '\0')
			locale = NULL;
	}
	return locale != NULL && (strstr(locale, "UTF-8") != NULL ||
				  strstr(locale, "utf8") != NULL ||
				  strstr(locale, "UTF8") != NULL ||
				  strstr(locale, "utf-8") != NULL);
}

void term_show_folders(char *text)
{
	(void)text;
}

int term_write(int stream, const char *data, size_t size)
{
	while (size > 0) {
		ssize_t count = write(stream, data, size);

		if (count < 0 && errno != EINTR)
			return errno;
		if (count > 0) {
			data += count;
			size -= (size_t)count;
		}
	}
	return 0;
}

void term_pass_on(int stream, const char *data, size_t size)
{
	while (size > 0) {
		ssize_t written = write(stream, data, size);

		if (written < 0 && errno == EINTR && !interrupted)
			continue;
		if (written <= 0)
			return;
		data += written;
		size -= (size_t)written;
	}
}
