/*
 * signal_plim.c - signals a process through the library, as a program would
 * that has kept it: signal_plim PID prints `held`, waits for a line, sends
 * SIGKILL to the target and prints what became of that.
 */
#include <plimsoll.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	plim_host *host = NULL;
	plim_target *target = NULL;
	plim_error error;
	char line[16];

	if (argc != 2)
		return 2;
	if (plim_host_open(&host, NULL, &error) != PLIM_OK ||
	    plim_target_open(&target, host, atoi(argv[1]), &error) != PLIM_OK)
		return 1;
	puts("held");
	fflush(stdout);
	if (fgets(line, sizeof line, stdin) == NULL)
		return 1;
	if (plim_target_signal(target, SIGKILL, &error) == PLIM_OK)
		puts("sent");
	else
		puts(plim_error_word(error.code));
	plim_target_close(target);
	plim_host_close(host);
	return 0;
}
