/*
 * library.c - a library with a bit of code; MODULE_NUMBER tells one from
 * another that looks just like it.
 */
int module_number(void);
int module_number_of(int (*function)(void));

int module_number(void)
{
	return MODULE_NUMBER;
}

int module_number_of(int (*function)(void))
{
	volatile int number = function();

	return number + MODULE_NUMBER;
}
