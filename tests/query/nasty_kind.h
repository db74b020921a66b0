/* The kinds of columns and expressions of the nasty table. */
#ifndef BRUME_TESTS_NASTY_KIND_H
#define BRUME_TESTS_NASTY_KIND_H

/* Boolean, integer, bigint, smallint, double, real, decimal, text, date, timestamp, with zone. */
typedef enum kind { B, I, L, S, F, R, D, T, DT, TS, TZ } kind;

#endif
