/* Values from text. Every function is total: a text that is no such value, or one that the type
 * cannot hold, gives false, which is NULL. Spaces and tabs around a value that is no text do not
 * count. No locale has a say.
 *
 *   numbers     [+-] digits [. digits] [e [+-] digits], with a digit somewhere before the e
 *   booleans    true t yes 1, false f no 0, in any case
 *   dates       2024-02-29
 *   timestamps  2024-02-29, or with T or a space and 12:30[:15[.123456]], and then a zone or none:
 *               Z, +02, +0200, +02:00, also behind a space. With a zone the time is turned to UTC.
 *               Digits of a second behind the sixth are dropped. */
#ifndef BRUME_READER_VALUE_H
#define BRUME_READER_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "base/type.h"
#include "reader/rows.h"

__extension__ typedef __int128 brume_units;

/* A number in units of 10^-scale, 0 <= scale <= 38, rounded half away from zero; exactly. False
 * also beyond 10^38 - 1 units in size. */
bool brume_value_decimal(brume_text text, int scale, brume_units *out);

/* The nearest double; false unless below 1e150 in size. */
bool brume_value_double(brume_text text, double *out);

bool brume_value_boolean(brume_text text, uint8_t *out);
bool brume_value_date(brume_text text, int32_t *days);
bool brume_value_timestamp(brume_text text, int64_t *microseconds);

/* A column of `count` <= BRUME_BATCH_ROWS values from texts; one without data is NULL. `plain`: all
 * texts are ASCII without NUL. For a TEXT column `texts` may be column->values. */
void brume_value_column(brume_type type, const brume_text *texts, size_t count, bool plain,
                        brume_batch_column *column);

/* Without the spaces and tabs around. */
brume_text brume_value_trim(brume_text text);

#endif
