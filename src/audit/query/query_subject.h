/* What an audit of a SQL query draws: the answer that analysts would get, on two neighbouring
 * databases that are made for it.
 *
 * A draw is the release path from the engine to the presented table (brume_draw_answer): printed
 * SQL, rows, bounding, sums, noise, thresholds, post-processing; a fresh key and fresh noise each
 * time. Neither the sources of the datasets nor their budgets are touched: neighbours.h. Proof of
 * the bound: proofs/audit.md. */
#ifndef BRUME_AUDIT_QUERY_SUBJECT_H
#define BRUME_AUDIT_QUERY_SUBJECT_H

#include <jansson.h>

#include "audit/epsilon.h"
#include "query/plan/question.h"
#include "query/plan/plan_terms.h"
#include "query/release/spend.h"
#include "audit/query/neighbours.h"
#include "audit/query/score.h"

typedef struct brume_query_subject brume_query_subject;

/* What a thread draws with: the question, opened for it alone, and the terms of its plan. */
typedef struct brume_query_lane {
    const brume_question *question;
    const brume_terms *terms;
} brume_query_lane;

/* Among many pairs of neighbours, keep the one that the answers tell apart best: a few examples of
 * each, more of the best three, and the score of these decides. `lanes` are the same question at
 * the same price, once for each thread: 1 .. BRUME_NEIGHBOUR_LANES. `options` are those of the
 * audit that will follow, with as many threads at most. All arguments are to outlive the subject.
 * Errors: those of brume_neighbours_open; what brume_draw_answer refuses, if it always does (a
 * refusal that comes at times is an outcome); BRUME_ECANCELLED, here and in draws, as soon as
 * `watch` (NULL: nobody) says that somebody wants to stop. */
BRUME_MUST_USE brume_status brume_query_subject_open(const brume_query_lane *lanes,
                                                     size_t lane_count, const char *sql,
                                                     const brume_audit_options *options,
                                                     brume_bits *bits, const brume_watch *watch,
                                                     brume_query_subject **out, brume_error *error);
void brume_query_subject_close(brume_query_subject *subject);

/* Draw: a brume_audit_draw whose context is the subject. Threads wait for a lane that is free. */
brume_status brume_query_subject_draw(const void *context, bool second, brume_bits *bits,
                                      int64_t *out, size_t n, brume_error *error);

/* How an answer becomes an outcome: brume_score_to_json. */
json_t *brume_query_subject_score(const brume_query_subject *subject);

/* Keep the databases: brume_neighbours_save. */
BRUME_MUST_USE brume_status brume_query_subject_save(const brume_query_subject *subject,
                                                     const char *folder, brume_error *error);

const char *brume_query_subject_neighbours(const brume_query_subject *subject);
const char *brume_query_subject_outcome(void);

/* An answer takes about a millisecond: draws that take seconds. */
enum { BRUME_QUERY_SUBJECT_SAMPLES = 2000 };

/* What drawing and searching share of the subject of a query. */

/* Which lanes are free. */
typedef struct brume_lane_pool {
    const brume_query_lane *lanes;
    size_t count;
    pthread_mutex_t lock;
    pthread_cond_t freed;
    bool taken[BRUME_NEIGHBOUR_LANES];
} brume_lane_pool;

struct brume_query_subject {
    brume_lane_pool *pool; /* of all subjects of a search */
    const brume_watch *watch;
    brume_neighbours *neighbours;
    brume_score *score;
    bool owns_pool;
};

#endif
