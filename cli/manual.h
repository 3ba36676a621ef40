/*
 * manual.h - the manual page, where there is one and a reader for it.
 */
#ifndef PLIM_MANUAL_H
#define PLIM_MANUAL_H

/* 1 if it was shown. */
int manual_show(void);

#endif
