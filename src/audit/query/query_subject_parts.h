/* What drawing and searching share of the subject of a query. */
#ifndef BRUME_AUDIT_QUERY_SUBJECT_PARTS_H
#define BRUME_AUDIT_QUERY_SUBJECT_PARTS_H

#include <pthread.h>

#include "audit/query/neighbours.h"
#include "audit/query/query_subject.h"
#include "audit/query/score.h"
#include "query/release/answer.h"

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

brume_lane_pool *brume_lane_pool_open(const brume_query_lane *lanes, size_t count);
void brume_lane_pool_close(brume_lane_pool *pool);

/* One answer (NULL: it was refused, *refused says how), unless somebody wants to stop. */
BRUME_MUST_USE brume_status brume_query_subject_answer(const brume_query_subject *subject,
                                                       size_t lane, bool second, brume_bits *bits,
                                                       brume_query_answer **answer,
                                                       brume_error *refused, brume_error *error);

/* Its outcome is the score of the answer. */
BRUME_MUST_USE brume_status brume_query_subject_score_in(const brume_query_subject *subject,
                                                         size_t lane, bool second, brume_bits *bits,
                                                         int64_t *out, size_t n,
                                                         brume_error *error);

#endif
