/*
 * report_words.c - what the page on a terminal and that of HTML say in the
 * same words: which figures there are, how the window came about, how it
 * ended, and what is missing.
 */
#include "report.h"

#include <string.h>
#include <time.h>

const int report_fields[] = {
    PLIM_FIELD_CPU,	 PLIM_FIELD_CPU_USER,	   PLIM_FIELD_CPU_SYSTEM,
    PLIM_FIELD_WAKEUPS,	 PLIM_FIELD_INVOLUNTARY,   PLIM_FIELD_RUNQUEUE,
    PLIM_FIELD_RESIDENT, PLIM_FIELD_PEAK_RESIDENT, PLIM_FIELD_ANONYMOUS,
    PLIM_FIELD_PRIVATE,	 PLIM_FIELD_FILE,	   PLIM_FIELD_SHMEM,
    PLIM_FIELD_SWAP,	 PLIM_FIELD_DISK_READ,	   PLIM_FIELD_DISK_WRITE,
    PLIM_FIELD_IO_CALLS, PLIM_FIELD_FAULTS_MINOR,  PLIM_FIELD_FAULTS_MAJOR,
    PLIM_FIELD_THREADS,	 PLIM_FIELD_DESCRIPTORS,   0};

plim_count report_count(const struct report *report, int field)
{
	return plim_process_count(plim_usage_process(report->last), field);
}

plim_real report_field_rate(const struct report *report, int field)
{
	return plim_process_rate(plim_usage_process(report->first),
				 plim_usage_process(report->last), field);
}

/* The detail of an error says what would allow it; else all there is. */
void report_reason(const plim_error *error, char *text, size_t size)
{
	if (error->detail[0] == '\0')
		plim_error_message(error, text, size);
	else
		plim_escape(PLIM_ESCAPE_TERMINAL,
			    (plim_bytes){error->detail, strlen(error->detail)},
			    text, size);
}

const char *report_time(const struct report *report, uint64_t ns)
{
	return show_count(report->options,
			  plim_count_known(ns, PLIM_METHOD_SYSTEM),
			  PLIM_UNIT_NS);
}

void report_started(const struct report *report, char *text, size_t size)
{
	const plim_count start = report_count(report, PLIM_FIELD_START_UNIX_MS);
	const time_t seconds = (time_t)(start.value / 1000);
	struct tm broken;

	snprintf(text, size, "-");
	if (start.state == PLIM_STATE_KNOWN &&
	    localtime_r(&seconds, &broken) != NULL)
		strftime(text, size, "%Y-%m-%d %H:%M:%S", &broken);
}

/* How the window came about; "" where there was none. */
void report_window(const struct report *report, char *text, size_t size)
{
	plim_interval interval;
	size_t used;

	text[0] = '\0';
	if (plim_process_interval(plim_usage_process(report->first),
				  plim_usage_process(report->last), &interval,
				  NULL) != PLIM_OK)
		return;
	snprintf(text, size, "%s",
		 report->first == report->last
		     ? "once"
		     : report_time(report, interval.elapsed_ns));
	used = strlen(text);
	if (interval.suspended_ns > 0)
		snprintf(text + used, size - used,
			 "; the machine slept %s meanwhile, so the rates are "
			 "of little worth",
			 report_time(report, interval.suspended_ns));
	used = strlen(text);
	if (report->quiet)
		snprintf(text + used, size - used, "; quiet after %s",
			 report_time(report, report->quiet_after_ns));
	else if (report->awaited && !report->ended)
		snprintf(text + used, size - used,
			 "; it did not become quiet first");
	used = strlen(text);
	if (report->ended)
		snprintf(text + used, size - used, "%s",
			 report->first == report->last ? ": it has ended"
						       : "; then it ended");
}

int report_is_missing(const struct report *report, int field)
{
	const plim_count figure = report_count(report, field);

	/* What the page does not ask for is not missing in it. */
	return plim_field_get(field)->kind != PLIM_KIND_TEXT &&
	       figure.method != PLIM_REASON_NOT_ASKED &&
	       figure.state != PLIM_STATE_KNOWN &&
	       plim_field_get(field)->linux_source != NULL;
}

int report_missing_again(const struct report *report, int field)
{
	int other;

	for (other = 1; other < field; other++)
		if (report_is_missing(report, other) &&
		    report_count(report, other).method ==
			report_count(report, field).method)
			return 1;
	return 0;
}

void report_missing_names(const struct report *report, int field, char *text,
			  size_t size)
{
	const uint16_t method = report_count(report, field).method;
	int other;

	text[0] = '\0';
	for (other = field; other <= PLIM_FIELD_LAST; other++) {
		const size_t used = strlen(text);

		if (report_is_missing(report, other) &&
		    report_count(report, other).method == method)
			snprintf(text + used, size - used, "%s%s",
				 used > 0 ? ", " : "",
				 plim_field_get(other)->name);
	}
}

int report_signalled(const struct report *report)
{
	return report->started && !report->ended && !report->options->leave;
}

void report_end(const struct report *report, char *text, size_t size)
{
	if (report_signalled(report))
		snprintf(text, size, "by us, after the report");
	else
		snprintf(text, size, "with status %u",
			 (unsigned)child_exit_status(report->child.status));
}
