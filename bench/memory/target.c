/* target.c - the same as the tests take. */
#include "../../tests/memory/target.c"
