/*
 * plugin.c - an object to be loaded: work() computes for some 10 us. Built
 * twice, as two files with two build ids, so that one can be loaded where the
 * other was.
 */
#define PLUGIN_TEXT_OF(name) #name
#define PLUGIN_TEXT(name)    PLUGIN_TEXT_OF(name)

extern const char plugin_name[];
void work(void);

const char plugin_name[] = PLUGIN_TEXT(PLUGIN);
static volatile unsigned long plugin_sink;

void work(void)
{
	for (unsigned i = 0; i < 10000; i++)
		plugin_sink += i;
}
