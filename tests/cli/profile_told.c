/*
 * profile_told.c - prints the invented profile (tests/support/invented.h) by
 * one of the library's writers: profile-told FORMAT [VIEW] [ascii] [plain]
 * [no-inlines] [width=N] [limit=N].
 */
#include "invented.h"

#include <plimsoll.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int to_stdout(const char *data, size_t size, void *user)
{
	(void)user;
	return fwrite(data, 1, size, stdout) == size ? 0 : 1;
}

static int option(plim_profile_export *how, const char *word)
{
	const plim_bytes bytes = {word, strlen(word)};

	if (plim_view_find(bytes) != 0)
		how->view = plim_view_find(bytes);
	else if (strcmp(word, "ascii") == 0)
		how->flags |= PLIM_EXPORT_ASCII;
	else if (strcmp(word, "plain") == 0)
		how->flags |= PLIM_EXPORT_PLAIN;
	else if (strcmp(word, "no-inlines") == 0)
		how->flags |= PLIM_EXPORT_NO_INLINES;
	else if (strncmp(word, "width=", 6) == 0)
		how->width = (uint32_t)atoi(word + 6);
	else if (strncmp(word, "limit=", 6) == 0)
		how->limit = (uint32_t)atoi(word + 6);
	else
		return 0;
	return 1;
}

static int json(const plim_profile *profile, const plim_profile_export *how)
{
	plim_json *out;
	int code = plim_json_new(&out, to_stdout, NULL, 2, NULL, NULL);

	if (code != PLIM_OK)
		return code;
	plim_json_object(out, NULL);
	plim_json_profile_members(out, profile, how);
	plim_json_end(out);
	code = plim_json_finish(out, NULL);
	plim_json_free(out);
	return code;
}

static int tell(const plim_profile *profile, const char *format,
		const plim_profile_export *how)
{
	if (strcmp(format, "json") == 0)
		return json(profile, how);
	if (strcmp(format, "text") == 0)
		return plim_text_profile(profile, how, to_stdout, NULL, NULL);
	if (strcmp(format, "head") == 0)
		return plim_text_profile_head(profile, how, to_stdout, NULL,
					      NULL);
	if (strcmp(format, "csv") == 0)
		return plim_csv_profile(profile, how, to_stdout, NULL, NULL);
	if (strcmp(format, "pprof") == 0)
		return plim_pprof_profile(profile, how, to_stdout, NULL, NULL);
	if (strcmp(format, "collapsed") == 0)
		return plim_collapsed_profile(profile, how, to_stdout, NULL,
					      NULL);
	if (strcmp(format, "speedscope") == 0)
		return plim_speedscope_profile(profile, how, to_stdout, NULL,
					       NULL);
	if (strcmp(format, "flame") == 0)
		return plim_flame_profile(profile, how, to_stdout, NULL, NULL);
	if (strcmp(format, "firefox") == 0)
		return plim_firefox_profile(profile, how, to_stdout, NULL,
					    NULL);
	return PLIM_ENAME;
}

int main(int argc, char **argv)
{
	plim_profile_export how = {.size = sizeof how};
	plim_profile *profile;
	int code;

	if (argc < 2)
		return 2;
	for (int i = 2; i < argc; i++)
		if (!option(&how, argv[i]))
			return 2;
	profile = invented_profile();
	code = tell(profile, argv[1], &how);
	invented_free(profile);
	return code == PLIM_OK && fflush(stdout) == 0 ? 0 : 1;
}
