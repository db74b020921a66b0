/* Conversions between types, and the small pieces that printing shares. */
#ifndef BRUME_QUERY_PRINT_CAST_H
#define BRUME_QUERY_PRINT_CAST_H

#include "query/print.h"

/* A CAST node. */
brume_piece brume_print_conversion(brume_printer *printer, const brume_expression *node);

/* Bind `piece` to a name, unless it is an atom. */
brume_piece brume_print_let(brume_printer *printer, brume_piece piece);

const char *brume_print_type(brume_printer *printer, brume_type type);
const char *brume_print_literal(brume_printer *printer, brume_type type, const char *text);
/* A quoted text as a value of the engine's type. */
const char *brume_print_typed(brume_printer *printer, const char *text, const char *type);
/* A plain cast that cannot fail. */
const char *brume_print_cast(brume_printer *printer, const char *value, const char *type);
/* ASCII letters only, on both engines. */
const char *brume_print_lower(brume_printer *printer, const char *text, bool upper);

#endif
