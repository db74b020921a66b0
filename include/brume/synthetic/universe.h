/* A finite universe of records: the product of the domains of a few columns.
 *
 * A record is one value per column, written as its index in the column's domain. Cells are numbered
 * row-major: the last column runs fastest. A database is then a histogram over the cells. */
#ifndef BRUME_UNIVERSE_H
#define BRUME_UNIVERSE_H

#include <stddef.h>
#include <stdint.h>

#include <brume/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BRUME_UNIVERSE_COLUMNS = 32 };

/* 2^32 cells of 8 bytes are 32 GiB: more than anybody who asks for it by mistake has. */
#define BRUME_UNIVERSE_CELLS (UINT64_C(1) << 32)

typedef struct brume_universe {
    size_t columns;
    uint32_t size[BRUME_UNIVERSE_COLUMNS];   /* values in the domain of each column, >= 1 */
    uint64_t stride[BRUME_UNIVERSE_COLUMNS]; /* cells between neighbours in that column */
    uint64_t cells;                          /* the product of the sizes */
} brume_universe;

/* Make a universe. Errors: BRUME_EARGUMENT for no columns, too many, or an empty domain;
 * BRUME_EOVERFLOW for more than BRUME_UNIVERSE_CELLS cells (the message says how many). */
BRUME_API BRUME_MUST_USE brume_status brume_universe_make(const uint32_t *sizes, size_t columns,
                                                          brume_universe *out, brume_error *error);

/* Number of the cell of a record. BRUME_EARGUMENT if a value is outside its domain. */
BRUME_API BRUME_MUST_USE brume_status brume_universe_cell(const brume_universe *universe,
                                                          const uint32_t *record, uint64_t *cell,
                                                          brume_error *error);

/* The record of a cell; `cell` must be below universe->cells. */
BRUME_API void brume_universe_record(const brume_universe *universe, uint64_t cell,
                                     uint32_t *record);

#ifdef __cplusplus
}
#endif

#endif
