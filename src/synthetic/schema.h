/* The inside of schemas that the parser of workloads uses. */
#ifndef BRUME_SYNTHETIC_SCHEMA_H
#define BRUME_SYNTHETIC_SCHEMA_H

#include <brume/synthetic/schema.h>

/* Is the text a decimal number, with spaces around at most? It may overflow to an infinity. */
bool brume_schema_number(const char *text, double *out);

#endif
