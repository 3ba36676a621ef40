/*
 * gnu.h - included first by every capture file of this folder: the C
 * library then shows its Linux interfaces.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
