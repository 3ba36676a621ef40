/*
 * gzip.h - bytes on their way out, squeezed where zlib was built in.
 *
 * What is put in comes out of the sink as one gzip member (RFC 1952) without
 * a name and a time, so that equal bytes give equal files. Without zlib, or
 * where `plain` is asked for, they come out as they are. Memory is taken when
 * it is made and not again; a failure of the output is kept in the sink.
 */
#ifndef PLIMP_GZIP_H
#define PLIMP_GZIP_H

#include "export/sink.h"

/* Was the library built with zlib? */
int plimp_gzip_is_there(void);

struct plimp_gzip;
int plimp_gzip_new(struct plimp_gzip **gzip, struct plimp_sink *sink, int plain,
		   const plim_allocator *allocator);
void plimp_gzip_free(struct plimp_gzip *gzip);
void plimp_gzip_put(struct plimp_gzip *gzip, const char *data, size_t size);
/* Ends the member and flushes the sink: PLIM_OK or PLIM_EOUTPUT. */
int plimp_gzip_finish(struct plimp_gzip *gzip);

#endif
