/* Expressions: `laplace(scale=10)*5 + gaussian(sigma=2, sensitivity=1)*100` as events.
 *
 *   expression := term { "+" term }
 *   term       := call [ "*" COUNT ]                        COUNT: 1 .. 2^63-1, digits only
 *   call       := MECHANISM "(" [ argument { "," argument } ] ")"
 *   argument   := PARAMETER "=" ( NUMBER | "true" | "false" | "?" )
 *               | call                                      the inner mechanism of poisson
 *
 * 1. NUMBER is a decimal (2, -1, .5, 1e-6), taken as the nearest double. Blanks are free.
 * 2. `sensitivity` is a parameter of every mechanism whose card has one; it is 1 unless given.
 * 3. At most one `?` stands for a number that is not known yet (calibration).
 * 4. Every other number is checked against its card; messages name the position of the fault,
 *    counted from 1, and an unknown name gets the nearest one as its hint. */
#ifndef BRUME_EXPRESSION_H
#define BRUME_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>

#include <brume/mechanism/event.h>
#include <brume/mechanism/mechanism.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The slot of the unknown if it is the sensitivity or the count of the term; otherwise it is an
 * index of event.parameter. */
enum { BRUME_SLOT_SENSITIVITY = -1, BRUME_SLOT_COUNT = -3 };

typedef struct brume_unknown {
    size_t event;                     /* index of the term */
    int slot;                         /* where its value goes */
    const brume_parameter *parameter; /* what it is: name, range, direction */
} brume_unknown;

typedef struct brume_expression {
    brume_event *events; /* one per term, in the order written */
    size_t count;
    bool has_unknown; /* then its value in the event is NaN (a count: 1); `unknown` says where */
    brume_unknown unknown;
} brume_expression;

/* Parse `text` under `adjacency`; free the result with brume_expression_free.
 * Errors: BRUME_ESYNTAX, BRUME_EUNKNOWN for a name, BRUME_EARGUMENT for a value out of range,
 * BRUME_EMEMORY. *out is untouched then. At most 100,000 terms. */
BRUME_API BRUME_MUST_USE brume_status brume_expression_parse(const char *text,
                                                             brume_adjacency adjacency,
                                                             brume_expression *out,
                                                             brume_error *error);

/* Free what the expression owns and empty it; NULL is allowed. */
BRUME_API void brume_expression_free(brume_expression *expression);

/* Put `value` where `?` stood. It may be called again with another value.
 * Errors: BRUME_EARGUMENT if there was no `?` or the value is out of range; nothing changes then.
 */
BRUME_API BRUME_MUST_USE brume_status brume_expression_solve(brume_expression *expression,
                                                             double value, brume_error *error);

#ifdef __cplusplus
}
#endif

#endif
