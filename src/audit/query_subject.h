/* What an audit of a SQL query draws: the answer that analysts would get, on two neighbouring
 * databases that are made for it.
 *
 * A draw is the release path from the engine to the presented table (brume_draw_answer): printed
 * SQL, rows, bounding, sums, noise, thresholds, post-processing; a fresh key and fresh noise each
 * time. Neither the sources of the datasets nor their budgets are touched: neighbours.h. Proof of
 * the bound: proofs/audit.md. */
#ifndef BRUME_AUDIT_QUERY_SUBJECT_H
#define BRUME_AUDIT_QUERY_SUBJECT_H

#include "audit/epsilon.h"
#include "query/plan/question.h"
#include "query/release/spend.h"

typedef struct brume_query_subject brume_query_subject;

/* Of some pairs of neighbours, keep the one that the answers tell apart best. `sharp` is a plan of
 * the same question at a much higher price, whose answers show what differs; `plan` is audited. All
 * are to outlive the subject. Errors: those of brume_neighbours_open and of brume_draw_answer;
 * BRUME_ECANCELLED, here and in draws, as soon as `watch` (NULL: nobody) says that somebody wants
 * to stop. */
BRUME_MUST_USE brume_status brume_query_subject_open(const brume_question *question,
                                                     brume_plan *plan, brume_plan *sharp,
                                                     const char *sql, brume_bits *bits,
                                                     const brume_watch *watch,
                                                     brume_query_subject **out, brume_error *error);
void brume_query_subject_close(brume_query_subject *subject);

/* Draw: a brume_audit_draw whose context is the subject. */
brume_status brume_query_subject_draw(const void *context, bool second, brume_bits *bits,
                                      int64_t *out, size_t n, brume_error *error);

const char *brume_query_subject_neighbours(const brume_query_subject *subject);
const char *brume_query_subject_outcome(void);

/* An answer takes about a millisecond: draws that take seconds. */
enum { BRUME_QUERY_SUBJECT_SAMPLES = 2000 };

#endif
