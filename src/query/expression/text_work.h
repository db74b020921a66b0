/* How long the texts of one row can keep an engine busy: bounds that are known before any row is.
 *
 * 1. Work is the number of bytes of text that the operations of an expression read at most, each
 *    operand counted each time. It bounds a row's time, because every operation takes a bounded
 *    time a byte (bench/expression_time.c measures it).
 * 2. Where a text is searched for another one by trying at each place, as engines do, a byte is
 * looked at as often as parts of what is searched for can overlap there. That is how often it
 * repeats itself: 1 for 'abcdef', m for m times the same letter. */
#ifndef BRUME_QUERY_TEXT_WORK_H
#define BRUME_QUERY_TEXT_WORK_H

#include "query/expression/expression.h"

enum {
    BRUME_LIMIT_WORK = 8 * 1024 * 1024, /* bytes of text a row, of a query */
    BRUME_LIMIT_REPEATS = 16,           /* of what is searched for */
};

/* The work of the operation itself, without that of its arguments. */
size_t brume_text_work(brume_operation operation, const brume_expression *const *arguments,
                       size_t count);

/* The longest that LEFT, RIGHT or SUBSTRING of these arguments can be, in bytes. */
size_t brume_text_part(brume_operation operation, const brume_expression *const *arguments,
                       size_t count);

/* How often a text repeats itself, whether it is compared from its beginning or from its end. */
size_t brume_text_repeats(const char *text);

/* The same of the parts of a LIKE pattern between its %. */
size_t brume_pattern_repeats(const char *pattern);

#endif
