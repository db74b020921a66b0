/* Fields of comma-separated values, written. */
#ifndef BRUME_BASE_CSV_WRITE_H
#define BRUME_BASE_CSV_WRITE_H

#include <stdio.h>

/* A field that reads back as `text`: in quotes always, or only where it needs them. */
void brume_csv_write_quoted(FILE *out, const char *text);
void brume_csv_write_field(FILE *out, const char *text);

#endif
