/*
 * programs.c - all run until they are ended, or long enough; they need no
 * network, no home and no terminal.
 */
#include "programs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char python[] =
    "import re, json\n"
    "class A:\n"
    "    def f(self, n):\n"
    "        return n if n < 1 else self.f(n - 1) + 1\n"
    "def g(n):\n"
    "    if n == 0: raise ValueError(n)\n"
    "    return g(n - 1)\n"
    "while True:\n"
    "    x = {str(i): [i] * 3 for i in range(200)}\n"
    "    y = json.loads(json.dumps(x))\n"
    "    z = sorted(y, key=lambda k: (len(k), k))\n"
    "    re.sub('(1|2)+', lambda m: m.group(0) + 'x', ' '.join(z))\n"
    "    A().f(12)\n"
    "    try: g(9)\n"
    "    except ValueError: pass\n";

static const char perl[] =
    "sub f { my $n = shift; return $n < 1 ? 0 : 1 + f($n - 1) }\n"
    "while (1) { my %h; $h{$_ % 97} .= $_ for 1..400;\n"
    "my @s = sort { $h{$a} cmp $h{$b} } keys %h;\n"
    "my $t = join(',', @s); $t =~ s/(\\d)(\\d)/$2$1/g;\n"
    "f(9); eval { die 'x' }; sprintf('%s %.3f', $t, rand) }";

static const char shell[] =
    "f() { local x=$1; if ((x > 0)); then f $((x - 1)); fi; }\n"
    "while :; do f 6; a=(); for i in {1..40}; do a+=(\"k$i\"); done\n"
    "[[ \"${a[*]}\" =~ k([0-9]+)\\ k7 ]]; case ${a[3]} in k*) ;; esac\n"
    "printf -v t '%s-' \"${a[@]}\"; t=${t//k/K}; done";

static const char script[] =
    "const f = n => n < 1 ? 0 : 1 + f(n - 1);"
    "for (;;) { const o = {}; for (let i = 0; i < 300; i++) o['k' + i] = "
    "[i, f(9)]; JSON.parse(JSON.stringify(o)); Object.keys(o).sort()"
    ".join(',').replace(/(\\d)(\\d)/g, '$2$1'); }";

static const char query[] =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT "
    "3000000) SELECT i % 97, count(*), max(printf('%d', i * 7919 % 1000)) "
    "FROM n GROUP BY 1 ORDER BY 3;";

/* Name, time before the first look and between looks (us), words. */
#define PROGRAM(name_, skip, run, ...)                                         \
	{                                                                      \
		.name = (name_), .skip_us = (skip), .run_us = (run), .argv = { \
			__VA_ARGS__                                            \
		}                                                              \
	}
#define HEAVY(name_, skip, run, ...)                                 \
	{                                                            \
		.name = (name_), .skip_us = (skip), .run_us = (run), \
		.is_heavy = 1, .argv = {                             \
			__VA_ARGS__                                  \
		}                                                    \
	}

const struct program programs[] = {
    PROGRAM("C++, gcc -O2", 20000, 2000, "@mix-gcc-O2"),
    PROGRAM("C++, gcc -O0", 20000, 2000, "@mix-gcc-O0"),
    PROGRAM("C++, clang -Os", 20000, 2000, "@mix-clang-Os"),
    PROGRAM("Rust", 20000, 2000, "@mix-rust"),
    PROGRAM("C, handlers, gcc -O2", 5000, 1500, "@handlers-gcc-O2"),
    PROGRAM("C, handlers, clang -O1", 5000, 1500, "@handlers-clang-O1"),
    PROGRAM("python3", 100000, 2000, "/usr/bin/python3", "-c", python),
    PROGRAM("perl", 30000, 2000, "/usr/bin/perl", "-e", perl),
    PROGRAM("openssl speed", 30000, 20000, "/usr/bin/openssl", "speed",
	    "-seconds", "1", "rsa2048", "ecdsap256", "aes-256-cbc", "sha256",
	    "sha512"),
    PROGRAM("xz", 5000, 3000, "/usr/bin/xz", "-6", "-c", "@libc"),
    PROGRAM("bash", 20000, 2000, "/bin/bash", "-c", shell),
    PROGRAM("cc1plus -O2", 50000, 4000, "@cc1plus", "-quiet", "-imultiarch",
	    "x86_64-linux-gnu", "-D_GNU_SOURCE", "-std=c++17", "-O2",
	    "%mix.cpp", "-o", "/dev/null"),
    {.name = "ld.so, start of ls",
     .run_us = 100,
     .has_bare_root = 1,
     .argv = {"/bin/ls", "/"}},
    HEAVY("cc1 -O2", 3000, 1500, "@cc1", "-quiet", "-imultiarch",
	  "x86_64-linux-gnu", "-D_GNU_SOURCE", "-O2", "%handlers.c", "-o",
	  "/dev/null"),
    HEAVY("sqlite3", 20000, 2000, "/usr/bin/sqlite3", ":memory:", query),
    HEAVY("gdb", 200000, 4000, "/usr/bin/gdb", "-nx", "-batch", "-ex",
	  "info functions qsort", "-ex", "info types timer", "@mix-gcc-O0"),
    HEAVY("node", 300000, 4000, "node", "-e", script),
};
const size_t program_count = sizeof(programs) / sizeof(programs[0]);

/* What the compiler driver says where its pass is. */
static int program_pass(const char *name, char *path, size_t size)
{
	char command[128];
	FILE *pipe;

	snprintf(command, sizeof(command),
		 "gcc -print-prog-name=%s 2>/dev/null", name);
	pipe = popen(command, "r");
	path[0] = '\0';
	if (pipe == NULL)
		return -1;
	if (fgets(path, (int)size, pipe) == NULL)
		path[0] = '\0';
	pclose(pipe);
	path[strcspn(path, "\n")] = '\0';
	return path[0] == '/' ? 0 : -1;
}

/* @NAME: a program of ours, a compiler's pass, libc; %NAME: a source. */
static int program_word(const char *word, const char *folder,
			const char *sources, char *path, size_t size)
{
	if (word[0] != '@' && word[0] != '%') {
		snprintf(path, size, "%s", word);
		return 0;
	}
	if (strncmp(word, "@cc1", 4) == 0)
		return program_pass(word + 1, path, size);
	if (strcmp(word, "@libc") == 0)
		snprintf(path, size, "/usr/lib/x86_64-linux-gnu/libc.so.6");
	else
		snprintf(path, size, "%s/%s", word[0] == '%' ? sources : folder,
			 word + 1);
	return access(path, R_OK);
}

/* 1 where execvp() would find it. */
static int program_is_there(const char *name)
{
	const char *path = getenv("PATH");
	char candidate[4096];

	if (strchr(name, '/') != NULL)
		return access(name, X_OK) == 0;
	while (path != NULL && *path != '\0') {
		size_t length = strcspn(path, ":");

		snprintf(candidate, sizeof(candidate), "%.*s/%s", (int)length,
			 path, name);
		if (access(candidate, X_OK) == 0)
			return 1;
		path += length;
		path += *path == ':';
	}
	return 0;
}

const char *const *program_argv(const struct program *program,
				const char *folder, const char *sources)
{
	static char words[16][4096];
	static const char *argv[17];
	size_t i;

	for (i = 0; i < 16 && program->argv[i] != NULL; i++) {
		if (program_word(program->argv[i], folder, sources, words[i],
				 sizeof(words[i])) != 0)
			return NULL;
		argv[i] = words[i];
	}
	argv[i] = NULL;
	return program_is_there(argv[0]) ? argv : NULL;
}
