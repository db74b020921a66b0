/* A finite universe of records: the product of the domains of a few columns. */
#include <brume/synthetic/universe.h>

#include "base/error.h"

brume_status brume_universe_make(const uint32_t *sizes, size_t columns, brume_universe *out,
                                 brume_error *error)
{
    if (columns < 1 || columns > BRUME_UNIVERSE_COLUMNS)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "a universe of %zu columns, must be 1 to %d", columns,
                          BRUME_UNIVERSE_COLUMNS);
    brume_universe universe = {.columns = columns, .cells = 1};
    double cells = 1; /* for the message: never overflows */
    for (size_t c = columns; c-- > 0;) {
        if (sizes[c] < 1)
            return brume_fail(error, BRUME_EARGUMENT, NULL, "column %zu has an empty domain",
                              c + 1);
        cells *= sizes[c];
        universe.size[c] = sizes[c];
        universe.stride[c] = universe.cells;
        if (cells <= (double)BRUME_UNIVERSE_CELLS)
            universe.cells *= sizes[c];
    }
    if (cells > (double)BRUME_UNIVERSE_CELLS)
        return brume_fail(error, BRUME_EOVERFLOW, "take fewer columns, or coarser domains",
                          "a universe of %.6g cells, at most %llu are possible", cells,
                          (unsigned long long)BRUME_UNIVERSE_CELLS);
    *out = universe;
    return BRUME_OK;
}

brume_status brume_universe_cell(const brume_universe *universe, const uint32_t *record,
                                 uint64_t *cell, brume_error *error)
{
    uint64_t number = 0;
    for (size_t c = 0; c < universe->columns; c++) {
        if (record[c] >= universe->size[c])
            return brume_fail(error, BRUME_EARGUMENT, NULL,
                              "a value of column %zu is outside its domain", c + 1);
        number += record[c] * universe->stride[c];
    }
    *cell = number;
    return BRUME_OK;
}

void brume_universe_record(const brume_universe *universe, uint64_t cell, uint32_t *record)
{
    for (size_t c = 0; c < universe->columns; c++) {
        record[c] = (uint32_t)(cell / universe->stride[c]);
        cell %= universe->stride[c];
    }
}
