/*
 * mem_sheet.c - the page of plim mem -o: the frame around what mem_tell()
 * tells, and how it looks, in light and dark. It is one file, needs no script
 * and nothing from elsewhere, and the same samples give the same bytes.
 */
#include "mem.h"

#include <string.h>

/* Colours that differ in lightness too, and lines that differ in their dashes,
 * for who sees no colours. */
static const char sheet_style[] =
    "<style>\n"
    ":root{color-scheme:light dark;--ink:#1b1f24;--soft:#59636e;--rule:"
    "#d1d9e0;--paper:#fff;--gap:#8c959f33;\n"
    "--f1:#0969da;--f2:#bc4c00;--f3:#6e7781;--f12:#1b7c83;--f21:#8250df;"
    "--f6:#bf3989;\n"
    "--p1:#0969da;--p2:#8250df;--p3:#d4a72c;--p4:#bc4c00;--p5:#fa8f3e;"
    "--p6:#bf3989;--p7:#6e7781;--p8:#57ab5a;--p9:#1b7c83;--p10:#116329;--p11:#"
    "afb8c1}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9198a1;"
    "--rule:#3d444d;--paper:#0d1117;--gap:#9198a133;\n"
    "--f1:#58a6ff;--f2:#f0883e;--f3:#9198a1;--f12:#39c5cf;--f21:#bc8cff;"
    "--f6:#f778ba;\n"
    "--p1:#388bfd;--p2:#a371f7;--p3:#e3b341;--p4:#db6d28;--p5:#f0b072;"
    "--p6:#db61a2;--p7:#768390;--p8:#3fb950;--p9:#39c5cf;--p10:#7ee787;--p11:#"
    "545d68}}\n"
    "body{max-width:60rem;margin:2rem auto;padding:0 1rem;font:15px/1.5 "
    "system-ui,sans-serif;color:var(--ink);background:var(--paper)}\n"
    "h1{font-size:1.5rem;overflow-wrap:anywhere}h2{font-size:1.1rem;margin:"
    "2rem 0 .5rem;border-bottom:1px solid var(--rule)}\n"
    "p{margin:.3rem 0;overflow-wrap:anywhere}.aside{margin-left:1.5rem;"
    "color:var(--soft)}\n"
    ".wide{overflow-x:auto}table{border-collapse:collapse;margin:.5rem 0;"
    "font-size:.85rem}\n"
    "th,td{padding:.15rem .7rem .15rem 0;text-align:left;vertical-align:top}"
    "th{color:var(--soft);font-weight:600;border-bottom:1px solid "
    "var(--rule)}\n"
    ".n{text-align:right;white-space:nowrap;font-variant-numeric:"
    "tabular-nums}.none{color:var(--soft)}\n"
    "svg{width:100%;height:auto;font:11px system-ui,sans-serif;fill:"
    "var(--soft)}\n"
    ".grid{stroke:var(--rule);stroke-width:.5}.tick{stroke:var(--soft)}"
    ".gap{fill:var(--gap)}.end{stroke:var(--ink);stroke-dasharray:2 3}\n"
    ".line{fill:none;stroke-width:2;stroke-linecap:round;stroke-linejoin:"
    "round}.name{font-weight:600}\n"
    ".line.f1{stroke:var(--f1)}.line.f2{stroke:var(--f2);stroke-dasharray:6 "
    "5}.line.f3{stroke:var(--f3)}.line.f12{stroke:var(--f12);"
    "stroke-dasharray:1 5}\n"
    ".line.f21{stroke:var(--f21);stroke-dasharray:6 5}.line.f6{stroke:"
    "var(--f6)}\n"
    ".name.f1{fill:var(--f1)}.name.f2{fill:var(--f2)}.name.f3{fill:"
    "var(--f3)}.name.f12{fill:var(--f12)}.name.f21{fill:var(--f21)}"
    ".name.f6{fill:var(--f6)}\n"
    ".part{stroke:var(--paper)}.legend{list-style:none;padding:0;margin:"
    ".3rem 0;display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;font-size:.85rem}\n"
    ".legend i{display:inline-block;width:.8rem;height:.8rem;margin-right:"
    ".4rem;vertical-align:-1px}\n"
    ".p1{fill:var(--p1);background:var(--p1)}.p2{fill:var(--p2);background:"
    "var(--p2)}.p3{fill:var(--p3);background:var(--p3)}\n"
    ".p4{fill:var(--p4);background:var(--p4)}.p5{fill:var(--p5);background:"
    "var(--p5)}.p6{fill:var(--p6);background:var(--p6)}\n"
    ".p7{fill:var(--p7);background:var(--p7)}.p8{fill:var(--p8);background:"
    "var(--p8)}.p9{fill:var(--p9);background:var(--p9)}\n"
    ".p10{fill:var(--p10);background:var(--p10)}.p11{fill:var(--p11);"
    "background:var(--p11)}\n"
    "@media print{body{margin:0;max-width:none}}\n"
    "</style>\n";

static void sheet_head(struct sheet *sheet, const struct mem_view *view)
{
	sheet_text(sheet, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
			  "<meta charset=\"utf-8\"/>\n"
			  "<meta name=\"viewport\" content=\"width="
			  "device-width, initial-scale=1\"/>\n"
			  "<meta name=\"generator\" content=\"plim ");
	sheet_string(sheet, plim_version());
	sheet_text(sheet, "\"/>\n<title>Memory of ");
	if (view->target != NULL)
		sheet_escaped(sheet,
			      plim_process_text(plim_usage_process(view->usage),
						PLIM_FIELD_NAME)
				  .bytes);
	else
		sheet_text(sheet, "a core file");
	sheet_text(sheet, "</title>\n");
	sheet_text(sheet, sheet_style);
	sheet_text(sheet, "</head>\n<body>\n");
}

int mem_sheet(const struct mem_view *view, const char *path)
{
	struct sheet sheet;
	struct telling telling = {.options = view->options, .sheet = &sheet};
	int status = sheet_open(&sheet, path);

	if (status != EXIT_DONE)
		return status;
	sheet_head(&sheet, view);
	mem_tell(&telling, view);
	sheet_text(&sheet, "</body>\n</html>\n");
	return sheet_close(&sheet);
}
