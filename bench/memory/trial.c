/* trial.c - the same as the tests take. */
#include "../../tests/memory/trial.c"
