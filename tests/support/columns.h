/* Columns as a text declares them: "who bigint, cost decimal(9,2)". */
#ifndef BRUME_TESTS_COLUMNS_H
#define BRUME_TESTS_COLUMNS_H

#include "engine/engine.h"

enum { COLUMNS_MOST = 16 };

typedef struct declared_columns {
    brume_column list[COLUMNS_MOST];
    char names[COLUMNS_MOST][32];
    size_t count;
} declared_columns;

/* Read the text; NULL: no columns. Names are words. A text that is none fails the test. */
void columns_read(const char *text, declared_columns *out);

/* A file with these declared columns, which live as long as it does. */
brume_source columns_source(const char *location, const declared_columns *declared);

#endif
