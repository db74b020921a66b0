/* Scalar expressions for one engine: arithmetic, functions, and conversions between types. */
#ifndef BRUME_PRINT_EXPRESSION_H
#define BRUME_PRINT_EXPRESSION_H

#include "query/print/print.h"

/* Arithmetic and functions of numbers; false: another operation. */
bool brume_print_number(brume_printer *printer, const brume_expression *node, brume_piece *piece);

/* How many let-steps must come before both. */
int brume_print_level(brume_piece a, brume_piece b);

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
