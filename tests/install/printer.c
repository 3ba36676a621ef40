/*
 * printer.c - a program that prints its own RESULT lines with nothing but
 * <plimsoll-result.h>: compiled as C99, C11, C++11 and C++17, and run in the
 * locale of its environment. run.sh compares what it prints to the byte.
 */
#include <plimsoll-result.h>

#include <locale.h>
#include <math.h>

int main(void)
{
	struct plim_print_gate gate;
	struct plim_print_line line;
	int failed = 0;

	setlocale(LC_ALL, "");
	failed |= plim_print_count(stdout, "requests", UINT64_MAX, "requests");
	failed |= plim_print_real(stdout, "latency_p99", 12.3456, 3, "ms");
	failed |= plim_print_real(stdout, "change", -0.0004, 3, "percent");
	failed |= plim_print_real(stdout, "loss", NAN, 3, "percent");
	failed |= plim_print_unavailable(stdout, "gpu_bytes", "no_gpu");
	failed |= plim_print_text(stdout, "scope", "synthetic");
	failed |=
	    plim_print_text(stdout, "note", "two \"words\"\n\x1b[31m\xff");
	failed |= plim_print_scale(stdout, 100, "connections,\nall idle");

	plim_print_begin(&line, "cache");
	plim_print_add_text(&line, "name", "caf\xc3\xa9 \\ tea");
	plim_print_add_word(&line, "kind", "lru");
	plim_print_add_count(&line, "hits", 0);
	plim_print_add_real(&line, "ratio", 0.5, 0);
	plim_print_add_unavailable(&line, "misses");
	failed |= plim_print_end(&line, stdout);

	memset(&gate, 0, sizeof(gate));
	gate.crate = "demo";
	gate.version = "1.4.2";
	gate.resident_bytes.known = 1;
	gate.resident_bytes.value = 94371840;
	gate.idle_cpu_percent.known = 1;
	gate.idle_cpu_percent.value = 0.5128;
	gate.scale_unit = "connections";
	gate.scale_count = 100;
	plim_print_begin_gate(&line, &gate);
	plim_print_add_word(&line, "build", "release");
	failed |= plim_print_end(&line, stdout);

	/* What is no key, and a line that is too long, print nothing. */
	if (plim_print_count(stdout, "no key", 1, NULL) == 0)
		failed = 1;
	plim_print_begin(&line, "long");
	while (!line.failed)
		plim_print_add_text(&line, "a", "0123456789");
	if (plim_print_end(&line, stdout) == 0)
		failed = 1;
	return failed != 0 || fflush(stdout) != 0;
}
