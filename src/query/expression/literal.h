/* Constants: what was typed, checked and in canonical text. */
#ifndef BRUME_QUERY_LITERAL_H
#define BRUME_QUERY_LITERAL_H

#include <stdbool.h>
#include <stdint.h>

#define BRUME_DAY INT64_C(86400000000) /* in microseconds */

/* Write the canonical form; false if `text` is not a constant of that kind. Leading and trailing
 * blanks are ignored. Only YYYY-MM-DD, years 0001 to 9999; never 'now', 'today' or 'infinity'. */
bool brume_literal_date(const char *text, char canonical[32]);
bool brume_literal_timestamp(const char *text, char canonical[32]);
bool brume_literal_boolean(const char *text, bool *value);

/* '1 year 2 months -3 days 04:05:06': months, days, microseconds. */
bool brume_literal_interval(const char *text, int64_t *months, int64_t *days,
                            int64_t *microseconds);

/* How far a canonical date or timestamp is from the start of 1970: days, microseconds. */
int64_t brume_literal_days(const char *canonical);
int64_t brume_literal_microseconds(const char *canonical);

/* A canonical timestamp moved by an interval; false: it is outside of the years 0001 to 9999. */
bool brume_literal_move(const char *canonical, int64_t months, int64_t days, int64_t microseconds,
                        char moved[32]);

#endif
