/*
 * json_process.c - the objects of the documented schema.
 *
 * A figure is a number or null; what else is to be said of it stands in side
 * objects of the same object, so that a reader who wants numbers finds numbers
 * where he looks: `unavailable` says why a null is one, `method` where a
 * number comes from, `bound` that it is not exact. The side objects are
 * always there, empty or not. Each is filled by one more walk over the
 * same fields: a record is an array, and a walk is cheap.
 */
#include "export/json_writer.h"

#include <plimsoll/usage.h>

#include <assert.h>
#include <string.h>

const char *const plimp_json_side_names[] = {"unavailable", "method", "bound"};

struct plimp_json_note plimp_json_note_count(plim_count figure)
{
	struct plimp_json_note note = {figure.state, figure.bound,
				       figure.method, figure.code};

	return note;
}

struct plimp_json_note plimp_json_note_real(plim_real figure)
{
	struct plimp_json_note note = {figure.state, figure.bound,
				       figure.method, figure.code};

	return note;
}

struct plimp_json_note plimp_json_note_text(plim_text figure)
{
	struct plimp_json_note note = {figure.state, figure.bound,
				       figure.method, figure.code};

	return note;
}

static void json_unavailable(plim_json *json, const char *key,
			     struct plimp_json_note note)
{
	plim_json_object(json, key);
	plim_json_string(json, "state", plim_state_word(note.state));
	plim_json_string(json, "reason", plim_reason_word(note.method));
	if (note.code != 0)
		plim_json_string(json, "code",
				 plim_system_error_name(note.code));
	plim_json_end(json);
}

void plimp_json_side_entry(plim_json *json, enum plimp_json_side side,
			   const char *key, struct plimp_json_note note)
{
	int known = note.state == PLIM_STATE_KNOWN;

	if (side == PLIMP_JSON_UNAVAILABLE && !known)
		json_unavailable(json, key, note);
	else if (side == PLIMP_JSON_METHOD && known)
		plim_json_string(json, key, plim_method_word(note.method));
	else if (side == PLIMP_JSON_BOUND && known &&
		 note.bound != PLIM_BOUND_EXACT)
		plim_json_string(json, key, plim_bound_word(note.bound));
}

void plimp_json_count(plim_json *json, const char *key, plim_count count)
{
	if (count.state == PLIM_STATE_KNOWN)
		plim_json_whole(json, key, count.value);
	else
		plim_json_null(json, key);
}

void plimp_json_real(plim_json *json, const char *key, plim_real real)
{
	if (real.state == PLIM_STATE_KNOWN)
		plim_json_number(json, key, real.value);
	else
		plim_json_null(json, key);
}

void plimp_json_bytes(plim_json *json, const char *key, plim_text text)
{
	if (text.state != PLIM_STATE_KNOWN) {
		plim_json_null(json, key);
		return;
	}
	plim_json_text(json, key, text.bytes);
	if (!plim_is_utf8(text.bytes))
		plimp_json_hex(json, plimp_json_key(key, "_bytes").text,
			       text.bytes);
}

static struct plimp_json_note json_field_note(const plim_process *process,
					      const plim_field *field)
{
	if (field->kind == PLIM_KIND_TEXT)
		return plimp_json_note_text(
		    plim_process_text(process, field->id));
	return plimp_json_note_count(plim_process_count(process, field->id));
}

static void json_field(plim_json *json, const plim_process *process,
		       const plim_field *field)
{
	if (field->kind == PLIM_KIND_TEXT)
		plimp_json_bytes(json, field->name,
				 plim_process_text(process, field->id));
	else if (field->unit == PLIM_UNIT_SIGNED)
		plimp_json_real(
		    json, field->name,
		    plim_real_in_unit(plim_process_count(process, field->id),
				      field->unit));
	else
		plimp_json_count(json, field->name,
				 plim_process_count(process, field->id));
}

static void json_field_side(plim_json *json, enum plimp_json_side side,
			    const plim_process *process,
			    const plim_field_set *fields)
{
	plim_json_object(json, plimp_json_side_names[side]);
	for (size_t i = 0; i < plim_field_count(); i++) {
		const plim_field *field = plim_field_at(i);

		if (plim_field_set_has(fields, field->id))
			plimp_json_side_entry(json, side, field->name,
					      json_field_note(process, field));
	}
	plim_json_end(json);
}

static int json_has_rate(const plim_field_set *fields, const plim_field *field)
{
	return field->kind == PLIM_KIND_COUNTER &&
	       plim_field_set_has(fields, field->id);
}

static void json_rate_side(plim_json *json, enum plimp_json_side side,
			   const plim_process *first, const plim_process *last,
			   const plim_field_set *fields)
{
	plim_json_object(json, plimp_json_side_names[side]);
	plimp_json_side_entry(
	    json, side, "cpu_percent",
	    plimp_json_note_real(plim_process_cpu_percent(first, last)));
	for (size_t i = 0; i < plim_field_count(); i++) {
		const plim_field *field = plim_field_at(i);

		if (!json_has_rate(fields, field))
			continue;
		plimp_json_side_entry(
		    json, side, plimp_json_key(field->name, "_per_second").text,
		    plimp_json_note_real(
			plim_process_rate(first, last, field->id)));
	}
	plim_json_end(json);
}

static void json_rates(plim_json *json, const plim_process *first,
		       const plim_process *last, const plim_field_set *fields)
{
	plim_interval interval;

	if (plim_process_interval(first, last, &interval, NULL) != PLIM_OK) {
		plim_json_null(json, "rates");
		return;
	}
	plim_json_object(json, "rates");
	plim_json_whole(json, "interval_ns", interval.elapsed_ns);
	plim_json_whole(json, "suspended_ns", interval.suspended_ns);
	plimp_json_real(json, "cpu_percent",
			plim_process_cpu_percent(first, last));
	for (size_t i = 0; i < plim_field_count(); i++) {
		const plim_field *field = plim_field_at(i);

		if (json_has_rate(fields, field))
			plimp_json_real(
			    json,
			    plimp_json_key(field->name, "_per_second").text,
			    plim_process_rate(first, last, field->id));
	}
	json_rate_side(json, PLIMP_JSON_UNAVAILABLE, first, last, fields);
	json_rate_side(json, PLIMP_JSON_METHOD, first, last, fields);
	json_rate_side(json, PLIMP_JSON_BOUND, first, last, fields);
	plim_json_end(json);
}

void plim_json_process_members(plim_json *json, const plim_process *process,
			       const plim_process *earlier,
			       const plim_field_set *fields)
{
	assert(process != NULL && fields != NULL);
	for (size_t i = 0; i < plim_field_count(); i++) {
		const plim_field *field = plim_field_at(i);

		if (plim_field_set_has(fields, field->id))
			json_field(json, process, field);
	}
	json_field_side(json, PLIMP_JSON_UNAVAILABLE, process, fields);
	json_field_side(json, PLIMP_JSON_METHOD, process, fields);
	json_field_side(json, PLIMP_JSON_BOUND, process, fields);
	if (earlier != NULL)
		json_rates(json, earlier, process, fields);
}

void plim_json_process(plim_json *json, const char *key,
		       const plim_process *process, const plim_process *earlier,
		       const plim_field_set *fields)
{
	plim_json_object(json, key);
	plim_json_process_members(json, process, earlier, fields);
	plim_json_end(json);
}

static const struct {
	const char *name;
	int id;
} json_host_texts[] = {
    {"system", PLIM_HOST_SYSTEM},	{"kernel", PLIM_HOST_KERNEL},
    {"machine", PLIM_HOST_MACHINE},	{"boot_id", PLIM_HOST_BOOT_ID},
    {"proc_root", PLIM_HOST_PROC_ROOT},
};

static const struct {
	const char *name;
	int figure;
} json_host_counts[] = {
    {"cpus", PLIM_HOST_CPUS},
    {"page_bytes", PLIM_HOST_PAGE_BYTES},
    {"ticks_per_second", PLIM_HOST_TICKS_PER_SECOND},
    {"boot_unix_ms", PLIM_HOST_BOOT_UNIX_MS},
    {"swap_bytes", PLIM_HOST_SWAP_BYTES},
    {"pid_namespace", PLIM_HOST_PID_NAMESPACE},
    {"identity_rung", PLIM_HOST_IDENTITY_RUNG},
};

#define JSON_HOST_TEXTS (sizeof(json_host_texts) / sizeof(json_host_texts[0]))
#define JSON_HOST_COUNTS \
	(sizeof(json_host_counts) / sizeof(json_host_counts[0]))

/* What a host said, asked once: CPUS is read again at every question, and the
 * number and its side entry must agree. */
struct json_host_facts {
	plim_text texts[JSON_HOST_TEXTS];
	plim_count counts[JSON_HOST_COUNTS];
	plim_real usable_cpus;
	plim_count is_live;
};

static void json_host_ask(struct json_host_facts *facts, plim_host *host)
{
	for (size_t i = 0; i < JSON_HOST_TEXTS; i++)
		facts->texts[i] = plim_host_text(host, json_host_texts[i].id);
	for (size_t i = 0; i < JSON_HOST_COUNTS; i++)
		facts->counts[i] =
		    plim_host_count(host, json_host_counts[i].figure);
	facts->usable_cpus = plim_host_usable_cpus(host);
	facts->is_live = plim_host_count(host, PLIM_HOST_IS_LIVE);
}

static void json_host_side(plim_json *json, const struct json_host_facts *facts)
{
	plim_json_object(json, "unavailable");
	for (size_t i = 0; i < JSON_HOST_TEXTS; i++)
		plimp_json_side_entry(json, PLIMP_JSON_UNAVAILABLE,
				      json_host_texts[i].name,
				      plimp_json_note_text(facts->texts[i]));
	for (size_t i = 0; i < JSON_HOST_COUNTS; i++)
		plimp_json_side_entry(json, PLIMP_JSON_UNAVAILABLE,
				      json_host_counts[i].name,
				      plimp_json_note_count(facts->counts[i]));
	plimp_json_side_entry(json, PLIMP_JSON_UNAVAILABLE, "usable_cpus",
			      plimp_json_note_real(facts->usable_cpus));
	plimp_json_side_entry(json, PLIMP_JSON_UNAVAILABLE, "is_live",
			      plimp_json_note_count(facts->is_live));
	plim_json_end(json);
}

void plim_json_host(plim_json *json, const char *key, plim_host *host)
{
	struct json_host_facts facts;

	json_host_ask(&facts, host);
	plim_json_object(json, key);
	for (size_t i = 0; i < JSON_HOST_TEXTS; i++)
		plimp_json_bytes(json, json_host_texts[i].name, facts.texts[i]);
	for (size_t i = 0; i < JSON_HOST_COUNTS; i++)
		plimp_json_count(json, json_host_counts[i].name,
				 facts.counts[i]);
	plimp_json_real(json, "usable_cpus", facts.usable_cpus);
	if (facts.is_live.state == PLIM_STATE_KNOWN)
		plim_json_boolean(json, "is_live", facts.is_live.value != 0);
	else
		plim_json_null(json, "is_live");
	json_host_side(json, &facts);
	plim_json_end(json);
}

void plim_json_cost(plim_json *json, const char *key, const plim_cost *cost)
{
	assert(cost != NULL);
	plim_json_object(json, key);
	plim_json_whole(json, "system_calls", cost->system_calls);
	plim_json_whole(json, "bytes_read", cost->bytes_read);
	plimp_json_count(json, "cpu_ns", cost->cpu_ns);
	plimp_json_count(json, "wall_ns", cost->wall_ns);
	plim_json_whole(json, "present", cost->present);
	plim_json_whole(json, "read", cost->read);
	plim_json_whole(json, "vanished", cost->vanished);
	plim_json_whole(json, "refused", cost->refused);
	plim_json_object(json, plimp_json_side_names[PLIMP_JSON_UNAVAILABLE]);
	plimp_json_side_entry(json, PLIMP_JSON_UNAVAILABLE, "cpu_ns",
			      plimp_json_note_count(cost->cpu_ns));
	plimp_json_side_entry(json, PLIMP_JSON_UNAVAILABLE, "wall_ns",
			      plimp_json_note_count(cost->wall_ns));
	plim_json_end(json);
	plim_json_end(json);
}

void plim_json_error(plim_json *json, const char *key, const plim_error *error)
{
	/* Operation, path and detail, each byte escaped to four, and two
	 * sentences. A longer line would be cut. */
	char message[sizeof(plim_error) * 4 + 256];

	assert(error != NULL);
	plim_error_message(error, message, sizeof(message));
	plim_json_object(json, key);
	plim_json_string(json, "code", plim_error_word(error->code));
	plim_json_string(json, "message", message);
	plim_json_string(json, "path",
			 error->path[0] != '\0' ? error->path : NULL);
	plim_json_string(
	    json, "system",
	    error->system != 0 ? plim_system_error_name(error->system) : NULL);
	if (error->position >= 0)
		plim_json_whole(json, "position", (uint64_t)error->position);
	plim_json_end(json);
}
