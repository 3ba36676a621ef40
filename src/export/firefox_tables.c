/*
 * firefox_tables.c - libraries, stacks, frames, functions and texts of a
 * processed profile of version 66 (firefox-devtools/profiler:
 * src/types/profile.ts; docs-developer/CHANGELOG-formats.md).
 *
 * A frame's address is relative to its library, and that of a caller lies in
 * its call already; the library is its function's resource's. Texts are told
 * by index: here each table has its own stretch of the one array of texts, in
 * the order of its rows, so that a text may be in it twice, which readers
 * allow, and no index has to be looked up.
 */
#include "export/firefox.h"
#include "core/memory.h"

static const plim_profile_function *
firefox_function(const struct plimp_firefox *f, size_t index)
{
	return plim_profile_function_at(f->profile, index);
}

/* --- stacks --------------------------------------------------------------- */

/* Rows for each line of a frame, the outermost first; the first of them. */
static uint32_t firefox_rows(struct plimp_firefox *firefox, uint32_t index,
			     int activity)
{
	const plim_profile_frame *frame =
	    plim_profile_frame_at(firefox->profile, index);
	const int inlines =
	    (firefox->options.flags & PLIM_EXPORT_NO_INLINES) == 0;
	const uint32_t count = inlines ? frame->line_count : 1;
	uint32_t *first =
	    &firefox->first_frame[(size_t)index * 3 + (size_t)activity - 1];
	void *rows = firefox->frames;

	if (*first != 0)
		return *first - 1;
	if (firefox->frame_count > UINT32_MAX / 2 ||
	    plimp_reserve(firefox->options.allocator, &rows,
			  &firefox->frame_capacity,
			  firefox->frame_count + count, 256,
			  sizeof *firefox->frames) != PLIM_OK) {
		firefox->failed = PLIM_ENOMEM;
		return 0;
	}
	firefox->frames = rows;
	*first = (uint32_t)firefox->frame_count + 1;
	for (uint32_t i = 0; i < count; i++)
		firefox->frames[firefox->frame_count++] =
		    (struct plimp_firefox_frame){
			.frame = index,
			.line = frame->first_line + frame->line_count - 1 - i,
			.activity = activity,
			.depth = i};
	return *first - 1;
}

uint32_t plimp_firefox_stack(struct plimp_firefox *firefox, uint32_t index)
{
	const plim_profile_stack *stack =
	    plim_profile_stack_at(firefox->profile, index);
	const int inlines =
	    (firefox->options.flags & PLIM_EXPORT_NO_INLINES) == 0;
	uint32_t node = PLIMP_NO_NODE;

	if (firefox->leaves[index] != 0)
		return firefox->leaves[index] - 1;
	for (size_t i = stack->frame_count; i-- > 0;) {
		const plim_profile_frame *frame =
		    plim_profile_frame_at(firefox->profile, stack->frames[i]);
		const uint32_t first =
		    firefox_rows(firefox, stack->frames[i], stack->activity);
		const uint32_t count = inlines ? frame->line_count : 1;

		for (uint32_t k = 0; k < count && firefox->failed == PLIM_OK;
		     k++)
			firefox->failed = plimp_stack_tree_add(
			    &firefox->tree, node, first + k, &node);
	}
	firefox->leaves[index] = node + 1;
	return node;
}

/* --- libraries ------------------------------------------------------------ */

void plimp_firefox_find_libs(struct plimp_firefox *firefox)
{
	const size_t count = plim_profile_function_count(firefox->profile);

	for (size_t i = 0; i < count; i++) {
		const uint32_t module = firefox_function(firefox, i)->module;

		if (module != PLIM_NO_INDEX && firefox->libs[module] == 0)
			firefox->libs[module] = ++firefox->lib_count;
	}
}

/* Modules are asked in the order of their places, which functions gave. */
static void firefox_libs_each(struct plimp_firefox *firefox,
			      void (*tell)(struct plimp_firefox *, uint32_t))
{
	const size_t count = plim_profile_function_count(firefox->profile);
	uint32_t next = 1;

	for (size_t i = 0; i < count; i++) {
		const uint32_t module = firefox_function(firefox, i)->module;

		if (module == PLIM_NO_INDEX || firefox->libs[module] != next)
			continue;
		tell(firefox, module);
		next++;
	}
}

static size_t firefox_hex(plim_bytes id, size_t at, const char *digits,
			  char *text)
{
	const unsigned byte = at < id.size ? (unsigned char)id.data[at] : 0;

	text[0] = digits[byte >> 4];
	text[1] = digits[byte & 15];
	return 2;
}

/* A build id as Breakpad has it: its first 16 bytes as a GUID, whose first
 * three parts are little-endian, and an age, which is 0 here. */
static void firefox_breakpad(plim_json *json, plim_bytes id)
{
	static const unsigned char order[16] = {3, 2, 1,  0,  5,  4,  7,  6,
						8, 9, 10, 11, 12, 13, 14, 15};
	char text[33];
	size_t size = 0;

	for (size_t i = 0; i < 16; i++)
		size +=
		    firefox_hex(id, order[i], "0123456789ABCDEF", text + size);
	text[size++] = '0';
	plim_json_text(json, "breakpadId",
		       (plim_bytes){text, id.size > 0 ? size : 0});
}

static void firefox_lib(struct plimp_firefox *firefox, uint32_t index)
{
	const plim_profile_module *module =
	    plim_profile_module_at(firefox->profile, index);
	const plim_bytes name =
	    plimp_export_module_name(firefox->profile, index);
	plim_json *json = firefox->json;

	plim_json_object(json, NULL);
	plim_json_string(json, "arch", "");
	plimp_export_text(json, &firefox->text, "name", name);
	plimp_export_text(json, &firefox->text, "path", module->path);
	plimp_export_text(json, &firefox->text, "debugName", name);
	plimp_export_text(json, &firefox->text, "debugPath", module->path);
	firefox_breakpad(json, module->build_id);
	if (module->build_id.size > 0)
		plimp_json_hex(json, "codeId", module->build_id);
	else
		plim_json_null(json, "codeId");
	plim_json_end(json);
}

void plimp_firefox_libs(struct plimp_firefox *firefox)
{
	plim_json_array(firefox->json, "libs");
	firefox_libs_each(firefox, firefox_lib);
	plim_json_end(firefox->json);
}

/* --- columns -------------------------------------------------------------- */

static void firefox_nulls(plim_json *json, const char *key, size_t count)
{
	plim_json_array(json, key);
	for (size_t i = 0; i < count; i++)
		plim_json_null(json, NULL);
	plim_json_end(json);
}

static void firefox_falses(plim_json *json, const char *key, size_t count)
{
	plim_json_array(json, key);
	for (size_t i = 0; i < count; i++)
		plim_json_boolean(json, NULL, 0);
	plim_json_end(json);
}

static void firefox_numbers(plim_json *json, const char *key, size_t count,
			    double number)
{
	plim_json_array(json, key);
	for (size_t i = 0; i < count; i++)
		plim_json_number(json, NULL, number);
	plim_json_end(json);
}

static void firefox_known(plim_json *json, uint64_t number)
{
	if (number == 0)
		plim_json_null(json, NULL);
	else
		plim_json_whole(json, NULL, number);
}

/* --- tables --------------------------------------------------------------- */

static void firefox_stack_table(struct plimp_firefox *firefox)
{
	const struct plimp_stack_tree *tree = &firefox->tree;
	plim_json *json = firefox->json;

	plim_json_object(json, "stackTable");
	plim_json_array(json, "frame");
	for (size_t i = 0; i < tree->count; i++)
		plim_json_whole(json, NULL, tree->nodes[i].item);
	plim_json_end(json);
	plim_json_array(json, "prefixOffset");
	for (size_t i = 0; i < tree->count; i++)
		plim_json_whole(json, NULL,
				tree->nodes[i].parent == PLIMP_NO_NODE
				    ? 0
				    : i - tree->nodes[i].parent);
	plim_json_end(json);
	plim_json_whole(json, "length", tree->count);
	plim_json_end(json);
}

/*
 * Readers keep these in 31 bits. A program that cannot move has no bias, and
 * lies at its addresses; what has no file begins where it was mapped.
 */
static void firefox_address(struct plimp_firefox *firefox, uint32_t index)
{
	const plim_profile_frame *frame =
	    plim_profile_frame_at(firefox->profile, index);
	const plim_profile_module *module;
	uint64_t address = UINT64_MAX;

	if (frame->module != PLIM_NO_INDEX) {
		module =
		    plim_profile_module_at(firefox->profile, frame->module);
		if (module->bias != 0 && frame->address >= module->bias)
			address = frame->address - module->bias;
		else if (module->start >= module->offset)
			address =
			    frame->address - (module->start - module->offset);
	}
	if (address > INT32_MAX)
		plim_json_number(firefox->json, NULL, -1);
	else
		plim_json_whole(firefox->json, NULL, address);
}

static const plim_profile_line *
firefox_line(const struct plimp_firefox *firefox, size_t row)
{
	return plim_profile_line_at(firefox->profile,
				    firefox->frames[row].line);
}

static void firefox_frame_table(struct plimp_firefox *firefox)
{
	const size_t count = firefox->frame_count;
	plim_json *json = firefox->json;

	plim_json_object(json, "frameTable");
	plim_json_array(json, "address");
	for (size_t i = 0; i < count; i++)
		firefox_address(firefox, firefox->frames[i].frame);
	plim_json_end(json);
	plim_json_array(json, "inlineDepth");
	for (size_t i = 0; i < count; i++)
		plim_json_whole(json, NULL, firefox->frames[i].depth);
	plim_json_end(json);
	plim_json_array(json, "category");
	for (size_t i = 0; i < count; i++)
		plim_json_whole(json, NULL,
				(uint64_t)firefox->frames[i].activity);
	plim_json_end(json);
	firefox_numbers(json, "subcategory", count, 0);
	plim_json_array(json, "func");
	for (size_t i = 0; i < count; i++)
		plim_json_whole(json, NULL, firefox_line(firefox, i)->function);
	plim_json_end(json);
	firefox_nulls(json, "nativeSymbol", count);
	firefox_numbers(json, "innerWindowID", count, 0);
	plim_json_array(json, "line");
	for (size_t i = 0; i < count; i++)
		firefox_known(json, firefox_line(firefox, i)->line);
	plim_json_end(json);
	firefox_nulls(json, "column", count);
	firefox_nulls(json, "originalLocation", count);
	plim_json_whole(json, "length", count);
	plim_json_end(json);
}

/* The texts: names of functions, names of libraries, source files. */
static uint64_t firefox_file_text(const struct plimp_firefox *firefox,
				  size_t place)
{
	return plim_profile_function_count(firefox->profile) +
	       firefox->lib_count + place;
}

static void firefox_func_table(struct plimp_firefox *firefox)
{
	const size_t count = plim_profile_function_count(firefox->profile);
	plim_json *json = firefox->json;
	uint64_t sources = 0;

	plim_json_object(json, "funcTable");
	plim_json_array(json, "name");
	for (size_t i = 0; i < count; i++)
		plim_json_whole(json, NULL, i);
	plim_json_end(json);
	firefox_falses(json, "isJS", count);
	firefox_falses(json, "relevantForJS", count);
	plim_json_array(json, "resource");
	for (size_t i = 0; i < count; i++) {
		const uint32_t module = firefox_function(firefox, i)->module;

		if (module == PLIM_NO_INDEX)
			plim_json_number(json, NULL, -1);
		else
			plim_json_whole(json, NULL, firefox->libs[module] - 1);
	}
	plim_json_end(json);
	plim_json_array(json, "source");
	for (size_t i = 0; i < count; i++) {
		if (firefox_function(firefox, i)->file.size > 0)
			plim_json_whole(json, NULL, sources++);
		else
			plim_json_null(json, NULL);
	}
	plim_json_end(json);
	plim_json_array(json, "lineNumber");
	for (size_t i = 0; i < count; i++)
		firefox_known(json, firefox_function(firefox, i)->line);
	plim_json_end(json);
	firefox_nulls(json, "columnNumber", count);
	firefox_nulls(json, "originalLocation", count);
	plim_json_whole(json, "length", count);
	plim_json_end(json);
}

/* One for each library; 1 is the type of a library. */
static void firefox_resource_table(struct plimp_firefox *firefox)
{
	const size_t first = plim_profile_function_count(firefox->profile);
	const size_t count = firefox->lib_count;
	plim_json *json = firefox->json;

	plim_json_object(json, "resourceTable");
	plim_json_array(json, "lib");
	for (size_t i = 0; i < count; i++)
		plim_json_whole(json, NULL, i);
	plim_json_end(json);
	plim_json_array(json, "name");
	for (size_t i = 0; i < count; i++)
		plim_json_whole(json, NULL, first + i);
	plim_json_end(json);
	firefox_nulls(json, "host", count);
	firefox_numbers(json, "type", count, 1);
	plim_json_whole(json, "length", count);
	plim_json_end(json);
	plim_json_object(json, "nativeSymbols");
	firefox_nulls(json, "libIndex", 0);
	firefox_nulls(json, "address", 0);
	firefox_nulls(json, "name", 0);
	firefox_nulls(json, "functionSize", 0);
	plim_json_whole(json, "length", 0);
	plim_json_end(json);
}

static void firefox_sources(struct plimp_firefox *firefox)
{
	const size_t functions = plim_profile_function_count(firefox->profile);
	plim_json *json = firefox->json;
	size_t count = 0;

	for (size_t i = 0; i < functions; i++)
		count += firefox_function(firefox, i)->file.size > 0;
	plim_json_object(json, "sources");
	firefox_nulls(json, "id", count);
	plim_json_array(json, "filename");
	for (size_t i = 0; i < count; i++)
		plim_json_whole(json, NULL, firefox_file_text(firefox, i));
	plim_json_end(json);
	firefox_numbers(json, "startLine", count, 1);
	firefox_numbers(json, "startColumn", count, 1);
	firefox_nulls(json, "sourceMapURL", count);
	firefox_nulls(json, "content", count);
	plim_json_whole(json, "length", count);
	plim_json_end(json);
	plim_json_object(json, "sourceLocationTable");
	firefox_nulls(json, "source", 0);
	firefox_nulls(json, "line", 0);
	firefox_nulls(json, "column", 0);
	plim_json_whole(json, "length", 0);
	plim_json_end(json);
}

static void firefox_lib_text(struct plimp_firefox *firefox, uint32_t module)
{
	plimp_export_text(firefox->json, &firefox->text, NULL,
			  plimp_export_module_name(firefox->profile, module));
}

static void firefox_texts(struct plimp_firefox *firefox)
{
	const size_t count = plim_profile_function_count(firefox->profile);

	plim_json_array(firefox->json, "stringArray");
	for (size_t i = 0; i < count; i++)
		plimp_export_text(firefox->json, &firefox->text, NULL,
				  firefox_function(firefox, i)->name);
	firefox_libs_each(firefox, firefox_lib_text);
	for (size_t i = 0; i < count; i++)
		if (firefox_function(firefox, i)->file.size > 0)
			plimp_export_text(firefox->json, &firefox->text, NULL,
					  firefox_function(firefox, i)->file);
	plim_json_end(firefox->json);
}

void plimp_firefox_shared(struct plimp_firefox *firefox)
{
	plim_json_object(firefox->json, "shared");
	firefox_stack_table(firefox);
	firefox_frame_table(firefox);
	firefox_func_table(firefox);
	firefox_resource_table(firefox);
	firefox_sources(firefox);
	firefox_texts(firefox);
	plim_json_end(firefox->json);
}
