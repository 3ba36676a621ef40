/* pages.c - the same as the tests take. */
#include "../../tests/memory/pages.c"
