/* What a series is: its grid, its shape, its noise and its cells, as they are recorded when it
 * opens and read back ever after. All of it is public. */
#ifndef BRUME_QUERY_SERIES_SPEC_H
#define BRUME_QUERY_SERIES_SPEC_H

#include <jansson.h>

#include "ledger/window.h"
#include "mechanism/series/running.h"
#include "query/series/limit.h"

enum { BRUME_SERIES_CELLS = 10000, BRUME_SERIES_NUMBERS = 1 << 24 };

typedef struct brume_series_spec {
    brume_window_grid grid;
    int64_t close_after; /* seconds after its end at which a window closes */
    int64_t first;       /* the window that is number 0 */
    brume_running_shape shape;
    brume_running_noise noise;
    brume_series_limit limit;
    bool is_count;     /* whole numbers, never below 0 in truth */
    double step;       /* one step of a total, in the units of the query */
    size_t cell_count; /* at least 1 */
} brume_series_spec;

/* {"grid","offset","close_after","first","horizon","radices","noise","limit",...}, into `terms`;
 * false without memory. */
bool brume_series_spec_write(const brume_series_spec *spec, json_t *terms);

/* EDAMAGED. */
BRUME_MUST_USE brume_status brume_series_spec_read(const json_t *terms, brume_series_spec *out,
                                                   brume_error *error);

/* The moment, in microseconds since 1970, at which window number `at` closes. */
int64_t brume_series_close_of(const brume_series_spec *spec, uint64_t at);

/* How many windows have closed at a moment. */
uint64_t brume_series_closed_at(const brume_series_spec *spec, int64_t moment);

/* A moment as "2026-03-05T00:00:00Z". */
enum { BRUME_SERIES_MOMENT = 32 };
const char *brume_series_moment(int64_t moment, char text[BRUME_SERIES_MOMENT]);

/* "2d", "12h" or "90m" in seconds; negative: it is none. And back. */
enum { BRUME_SERIES_LENGTH = 24 };
int64_t brume_series_seconds(const char *text);
const char *brume_series_length(int64_t seconds, char text[BRUME_SERIES_LENGTH]);

/* Half-width at 95 % of the total of a range of windows, in the units of the query, for one of
 * the series' numbers. */
BRUME_MUST_USE brume_status brume_series_error_95(const brume_series_spec *spec,
                                                  brume_running *running, uint64_t first,
                                                  uint64_t last, double *out, brume_error *error);

#endif
