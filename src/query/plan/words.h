/* What an answer calls a unit and a row: words of the data, so that its notes can be read by
 * somebody who has never heard of units ("patients" and their "visits").
 *
 * 1. A unit is called as the owner says (unit-name: patient, or patient/patients); else as its
 *    column without what marks a key: patient_id is a patient. Where the row is the unit it is a
 *    row.
 * 2. Rows are called as their table where that is a plural, else rows.
 * 3. They are for texts only: no number, price or key of a re-read depends on them. */
#ifndef BRUME_QUERY_WORDS_H
#define BRUME_QUERY_WORDS_H

#include "query/plan/policy.h"

enum { BRUME_WORD = 64 };

typedef struct brume_words {
    char unit[BRUME_WORD], units[BRUME_WORD], rows[BRUME_WORD];
} brume_words;

/* "unit", "units" and "rows". */
brume_words brume_words_plain(void);

/* Clause 1: of the first of the policies that has a name or a column for its units. */
void brume_words_set_units(brume_words *words, brume_policy *const *policies, size_t count);

/* Clause 2; NULL: rows of several tables. */
void brume_words_set_rows(brume_words *words, const char *table);

#endif
