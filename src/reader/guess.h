/* An owner's look at a text file: how its lines may be meant, and which fields JSON lines have.
 *
 * Everything here is read off rows. It is for `brume inspect`, which says so; nothing else may use
 * it. */
#ifndef BRUME_READER_GUESS_H
#define BRUME_READER_GUESS_H

#include "base/text.h"
#include "base/type.h"
#include "reader/format.h"
#include "reader/lines.h"

/* Which delimiter (comma, tab, semicolon or bar) parts the first lines into the same number of
 * fields, and whether the first line looks like names: no field of it a number or a date, none
 * twice. Only the fields of `format` that are asked for are set. `columns` (may be NULL): how many
 * fields the first line has. */
BRUME_MUST_USE brume_status brume_guess_format(const brume_text_file *file, bool delimiter,
                                               bool header, brume_text_format *format,
                                               size_t *columns, brume_error *error);

/* The names of fields that have a text, a number or a boolean on some line, in the order in which
 * they come; the caller frees each and the list. */
BRUME_MUST_USE brume_status brume_guess_fields(const brume_text_file *file, char ***names,
                                               size_t *count, brume_error *error);

/* EUNSUPPORTED if the file begins with '[': one array, of which no record is a line, so that every
 * query would read NULLs. One row decides it, hence `inspect` says it and no other command. */
BRUME_MUST_USE brume_status brume_refuse_array(const brume_text_file *file, brume_error *error);

/* ---- which type fits all values ---- */

typedef struct brume_type_guess {
    uint64_t values; /* texts that are not empty */
    bool not_boolean, not_number, not_double, not_date, not_timestamp;
    uint64_t numbers, dates, timestamps; /* so many of the texts are one */
    int before, behind;                  /* most digits before and behind the point of a number */
} brume_type_guess;

void brume_guess_see(brume_type_guess *guess, brume_text value);

/* The narrowest that every value was of: boolean, integer, bigint, decimal, double, date,
 * timestamp; else text, and text where there was no value. */
brume_type brume_guess_type(const brume_type_guess *guess);

/* The type that nine of ten values have, where brume_guess_type says text; *others: how many have
 * not. Text where there is none. */
brume_type brume_guess_nearly(const brume_type_guess *guess, uint64_t *others);

#endif
