/*
 * cmd_doctor.c - plim doctor: the library's survey, as a page.
 */
#include "cmd.h"

#include <string.h>

struct doctor {
	const struct options *options;
	plim_json *json;
};

static plim_bytes doctor_bytes(const char *text)
{
	plim_bytes bytes = {text, strlen(text)};

	return bytes;
}

/* The library's list "a, b" as an array. */
static void doctor_figures(plim_json *json, const char *list)
{
	plim_json_array(json, "figures");
	while (*list != '\0') {
		size_t size = strcspn(list, ",");

		plim_json_text(json, NULL, (plim_bytes){list, size});
		list += size;
		list += strspn(list, ", ");
	}
	plim_json_end(json);
}

static int doctor_json(const plim_finding *finding, void *user)
{
	plim_json *json = ((struct doctor *)user)->json;

	plim_json_object(json, NULL);
	plim_json_string(json, "subject", finding->subject);
	plim_json_string(json, "state", plim_state_word(finding->state));
	plim_json_string(json, "text", finding->text);
	doctor_figures(json, finding->figures);
	if (finding->remedy[0] != '\0')
		plim_json_string(json, "remedy", finding->remedy);
	else
		plim_json_null(json, "remedy");
	plim_json_end(json);
	return 0;
}

static void doctor_field(const char *text, const char *end)
{
	char field[1024];

	plim_escape(PLIM_ESCAPE_CSV, doctor_bytes(text), field, sizeof field);
	output_text(field);
	output_text(end);
}

static int doctor_csv(const plim_finding *finding, void *user)
{
	(void)user;
	doctor_field(finding->subject, ",");
	doctor_field(plim_state_word(finding->state), ",");
	doctor_field(finding->text, ",");
	doctor_field(finding->figures, ",");
	doctor_field(finding->remedy, "\r\n");
	return 0;
}

static int doctor_page(const plim_finding *finding, void *user)
{
	const struct options *options = ((struct doctor *)user)->options;

	output_bold(options);
	output_format("%-28s %s", finding->subject,
		      plim_state_word(finding->state));
	output_bold_end();
	output_format("  %s\n", finding->text);
	if (finding->figures[0] != '\0')
		output_format("  figures: %s\n", finding->figures);
	if (finding->remedy[0] != '\0')
		output_format("  remedy:  %s\n", finding->remedy);
	return 0;
}

int cmd_doctor(const struct options *options)
{
	struct doctor doctor = {options, NULL};
	plim_host *host;
	plim_error error;
	int status = EXIT_DONE;

	if (host_open(options, &host, &error) != PLIM_OK)
		return fail_with(options, &error);
	if (options->format == FORMAT_JSON) {
		doctor.json = json_begin(options, host, 0);
		if (doctor.json == NULL) {
			plim_host_close(host);
			return fail_memory();
		}
		plim_json_array(doctor.json, "findings");
		plim_host_survey(host, doctor_json, &doctor, NULL);
		plim_json_end(doctor.json);
		status = json_finish(doctor.json, host);
	} else if (options->format == FORMAT_CSV) {
		output_text("subject,state,text,figures,remedy\r\n");
		plim_host_survey(host, doctor_csv, &doctor, NULL);
	} else {
		plim_host_survey(host, doctor_page, &doctor, NULL);
		output_cost(options, host, 0);
	}
	plim_host_close(host);
	return status;
}
