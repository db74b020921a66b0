/* All measurements of a plan, from rows to a presented answer: collect each, draw each, present.
 *
 * True numbers exist in here only, between collecting and drawing. Nothing is charged: that is done
 * by those who call this (ask.c), or need not be (prepare.c, audits). */
#ifndef BRUME_QUERY_COLLECT_AND_DRAW_H
#define BRUME_QUERY_COLLECT_AND_DRAW_H

#include "query/collect/collect.h"
#include "query/plan/plan_terms.h"
#include "query/release/answer.h"
#include "query/release/choice.h"

/* Collect for one measurement: from an engine, or from nothing. */
typedef brume_status (*brume_collector)(void *context, const brume_measurement *measurement,
                                        brume_bits *bits, brume_collected **out,
                                        brume_error *error);

/* What comes out: the answer, which has no cost yet, and the terms that it was drawn on. */
typedef struct brume_released {
    brume_query_answer *answer;
    brume_terms *terms;
} brume_released;

/* What both hold. */
void brume_released_close(brume_released *released);

/* Limits that the terms do not know are chosen on the way; `keeper` is told before anything else is
 * drawn. Errors: those of `collect`, of the keeper, of the samplers and of brume_present. */
BRUME_MUST_USE brume_status brume_collect_and_draw(const brume_terms *terms,
                                                   brume_collector collect, void *context,
                                                   brume_bits *bits,
                                                   const brume_choice_keeper *keeper,
                                                   brume_released *out, brume_error *error);

#endif
