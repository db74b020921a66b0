/* What may be meant by SQL that cannot be parsed. */
#ifndef BRUME_BASE_SQL_HINT_H
#define BRUME_BASE_SQL_HINT_H

#include <stddef.h>

enum { BRUME_SQL_HINT = 160 };

/* A hint on a syntax error at the character `position`, counted from 1 (0: nobody knows where): a
 * keyword that is nearly what stands there or before it, a bracket that is not closed, a name in
 * the wrong quotes. Empty where nothing is likely. */
void brume_sql_hint(const char *sql, int position, char hint[BRUME_SQL_HINT]);

#endif
