/*
 * table.c - a table for people.
 *
 * Cells are escaped into one buffer as they come and remembered by place and
 * width; the rows follow from the number of columns. Printing measures the
 * columns, then writes line by line without further memory: blanks are owed
 * until something follows them, so that no line ends in one, and a line stops
 * before the first character that would not fit.
 */
#include "export/sink.h"
#include "export/width.h"
#include "core/buffer.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/text.h"

#include <assert.h>
#include <string.h>

#define TABLE_GAP 2

struct table_cell {
	size_t start;
	size_t size;
	size_t width;
};

struct table_column {
	struct table_cell title; /* in the titles */
	int right;
	size_t width; /* while printing */
};

struct plim_table {
	plim_allocator allocator;
	int ascii;
	int column_failed; /* a column or a cell was lost: PLIM_E... */
	int cell_failed;
	struct table_column *columns;
	size_t column_count;
	size_t column_capacity;
	struct table_cell *cells;
	size_t cell_count;
	size_t cell_capacity;
	struct plimp_buffer titles;
	struct plimp_buffer text;
};

/* One line on its way out. */
struct table_line {
	struct plimp_sink *sink;
	size_t limit; /* columns of the terminal */
	size_t column;
	size_t owed; /* blanks before what comes next */
	int full;
};

int plim_table_new(plim_table **table, const plim_allocator *allocator,
		   plim_error *error)
{
	plim_table *made;

	if (table == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "table", "", NULL);
	made = plimp_allocate(allocator, 1, sizeof(*made));
	if (made == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "table", "", NULL);
	if (allocator != NULL)
		made->allocator = *allocator;
	plimp_buffer_init(&made->titles, &made->allocator);
	plimp_buffer_init(&made->text, &made->allocator);
	*table = made;
	return PLIM_OK;
}

void plim_table_free(plim_table *table)
{
	plim_allocator allocator;

	if (table == NULL)
		return;
	allocator = table->allocator;
	plimp_buffer_release(&table->titles);
	plimp_buffer_release(&table->text);
	plimp_release(&allocator, table->columns, table->column_capacity,
		      sizeof(*table->columns));
	plimp_release(&allocator, table->cells, table->cell_capacity,
		      sizeof(*table->cells));
	plimp_release(&allocator, table, 1, sizeof(*table));
}

void plim_table_clear(plim_table *table)
{
	plimp_buffer_clear(&table->text);
	table->cell_count = 0;
	table->cell_failed = PLIM_OK;
}

void plim_table_ascii(plim_table *table, int ascii)
{
	table->ascii = ascii;
}

static size_t table_width(const struct plimp_buffer *buffer, size_t start)
{
	plim_bytes text = {NULL, 0};

	if (buffer->size == start)
		return 0;
	text.data = buffer->data + start;
	text.size = buffer->size - start;
	return plim_text_width(text);
}

/* Escapes a mark and a text, one after the other, to the end of a buffer. */
static struct table_cell table_write(const plim_table *table,
				     struct plimp_buffer *buffer,
				     const char *mark, plim_bytes text)
{
	struct table_cell cell = {buffer->size, 0, 0};

	plimp_buffer_string(buffer, mark);
	plimp_buffer_escaped(
	    buffer, table->ascii ? PLIM_ESCAPE_ASCII : PLIM_ESCAPE_TERMINAL,
	    text);
	cell.size = buffer->size - cell.start;
	cell.width = table_width(buffer, cell.start);
	return cell;
}

static int table_add_column(plim_table *table, plim_bytes title, int right)
{
	struct table_column column = {{0, 0, 0}, right != 0, 0};
	void *columns = table->columns;
	int code;

	if (table->cell_count > 0)
		return PLIM_EINVAL;
	code =
	    plimp_reserve(&table->allocator, &columns, &table->column_capacity,
			  table->column_count + 1, 16, sizeof(column));
	if (code != PLIM_OK)
		return code;
	table->columns = columns;
	column.title = table_write(table, &table->titles, "", title);
	table->columns[table->column_count++] = column;
	return table->titles.failed;
}

void plim_table_column(plim_table *table, const char *title, int right)
{
	plim_bytes text = {title, strlen(title)};

	if (table->column_failed == PLIM_OK)
		table->column_failed = table_add_column(table, text, right);
}

static int table_add_cell(plim_table *table, const char *mark, plim_bytes text)
{
	void *cells = table->cells;
	struct table_cell cell;
	int code;

	if (table->column_count == 0)
		return PLIM_EINVAL;
	code = plimp_reserve(&table->allocator, &cells, &table->cell_capacity,
			     table->cell_count + 1, 64, sizeof(cell));
	if (code != PLIM_OK)
		return code;
	table->cells = cells;
	cell = table_write(table, &table->text, mark, text);
	table->cells[table->cell_count++] = cell;
	return table->text.failed;
}

static void table_append(plim_table *table, const char *mark, plim_bytes text)
{
	if (table->cell_failed == PLIM_OK)
		table->cell_failed = table_add_cell(table, mark, text);
}

void plim_table_text(plim_table *table, plim_bytes text)
{
	table_append(table, "", text);
}

static const char *table_mark(const plim_table *table, int bound)
{
	if (bound == PLIM_BOUND_AT_LEAST)
		return table->ascii ? ">=" : "\xe2\x89\xa5";
	if (bound == PLIM_BOUND_AT_MOST)
		return table->ascii ? "<=" : "\xe2\x89\xa4";
	return "";
}

void plim_table_real(plim_table *table, plim_real real, int unit)
{
	char text[64] = "-";
	plim_bytes bytes = {text, 1};

	if (real.state != PLIM_STATE_KNOWN) {
		table_append(table, "", bytes);
		return;
	}
	bytes.size = plim_quantity_format(real.value, unit, text, sizeof(text));
	assert(bytes.size < sizeof(text));
	table_append(table, table_mark(table, real.bound), bytes);
}

void plim_table_count(plim_table *table, plim_count count, int unit)
{
	plim_table_real(table, plim_real_in_unit(count, unit), unit);
}

static void table_measure(plim_table *table, int header)
{
	for (size_t i = 0; i < table->column_count; i++)
		table->columns[i].width =
		    header ? table->columns[i].title.width : 0;
	for (size_t i = 0; i < table->cell_count; i++) {
		size_t width = table->cells[i].width;

		assert(table->column_count > 0); /* a cell has a column */
		size_t *widest = &table->columns[i % table->column_count].width;

		if (width > *widest)
			*widest = width;
	}
}

/* The bytes up to the first blank that are a column each. */
static size_t table_word(plim_bytes text)
{
	size_t size = plimp_text_plain(text);
	const char *blank = size > 0 ? memchr(text.data, ' ', size) : NULL;

	return blank != NULL ? (size_t)(blank - text.data) : size;
}

/* The next word if it is plain and fits whole, else the next character. */
static size_t table_step(const struct table_line *line, plim_bytes text,
			 size_t *columns)
{
	size_t word = table_word(text);

	if (word == 0 || word > line->limit - line->column)
		return plimp_width_step(text, columns);
	if (line->owed > line->limit - line->column - word)
		return plimp_width_step(text, columns);
	*columns = word;
	return word;
}

static void table_put(struct table_line *line, plim_bytes text)
{
	size_t columns, size;

	while (text.size > 0 && !line->full) {
		size = table_step(line, text, &columns);
		if (text.data[0] == ' ') {
			line->owed++;
		} else if (columns + line->owed > line->limit - line->column) {
			line->full = 1;
		} else {
			plimp_sink_fill(line->sink, ' ', line->owed);
			plimp_sink_put(line->sink, text.data, size);
			line->column += line->owed + columns;
			line->owed = 0;
		}
		text.data += size;
		text.size -= size;
	}
}

static void table_put_cell(struct table_line *line,
			   const struct table_column *column,
			   const struct plimp_buffer *buffer,
			   const struct table_cell *cell)
{
	plim_bytes text = {NULL, cell->size};
	size_t padding = column->width - cell->width;

	assert(cell->width <= column->width);
	if (cell->size > 0)
		text.data = buffer->data + cell->start;
	if (column->right)
		line->owed += padding;
	table_put(line, text);
	if (!column->right)
		line->owed += padding;
	line->owed += TABLE_GAP;
}

static void table_print_titles(const plim_table *table, struct table_line line)
{
	for (size_t i = 0; i < table->column_count; i++)
		table_put_cell(&line, &table->columns[i], &table->titles,
			       &table->columns[i].title);
	plimp_sink_put(line.sink, "\n", 1);
}

/* The row that begins with this cell; the last one may be short. */
static void table_print_row(const plim_table *table, struct table_line line,
			    size_t first)
{
	size_t count = table->cell_count - first;

	if (count > table->column_count)
		count = table->column_count;
	for (size_t i = 0; i < count; i++)
		table_put_cell(&line, &table->columns[i], &table->text,
			       &table->cells[first + i]);
	plimp_sink_put(line.sink, "\n", 1);
}

int plim_table_print(plim_table *table, size_t width, int header,
		     plim_write_fn *write, void *user, plim_error *error)
{
	struct plimp_sink sink;
	struct table_line line = {&sink, width > 0 ? width : SIZE_MAX, 0, 0, 0};
	int code = table->column_failed;

	if (code == PLIM_OK)
		code = table->cell_failed;
	if (code == PLIM_OK && write == NULL)
		code = PLIM_EINVAL;
	if (code != PLIM_OK)
		return plimp_fail(error, code, 0, "table", "", NULL);
	plimp_sink_init(&sink, write, user);
	table_measure(table, header);
	if (header)
		table_print_titles(table, line);
	for (size_t i = 0; i < table->cell_count; i += table->column_count)
		table_print_row(table, line, i);
	if (plimp_sink_flush(&sink) != PLIM_OK)
		return plimp_fail(error, PLIM_EOUTPUT, sink.system, "table", "",
				  NULL);
	return PLIM_OK;
}
