/* The answers of a query on two neighbouring databases. */
#include "audit/query/query_subject_parts.h"

#include <stdlib.h>

#include "audit/query/answer_features.h"
#include "base/error.h"
#include "query/release/ask.h"

void brume_lane_pool_close(brume_lane_pool *pool)
{
    if (!pool)
        return;
    pthread_cond_destroy(&pool->freed);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

void brume_query_subject_close(brume_query_subject *subject)
{
    if (!subject)
        return;
    brume_neighbours_close(subject->neighbours);
    brume_score_close(subject->score);
    if (subject->owns_pool)
        brume_lane_pool_close(subject->pool);
    free(subject);
}

brume_lane_pool *brume_lane_pool_open(const brume_query_lane *lanes, size_t count)
{
    brume_lane_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    pool->lanes = lanes;
    pool->count = count < BRUME_NEIGHBOUR_LANES ? count : BRUME_NEIGHBOUR_LANES;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->freed, NULL);
    return pool;
}

static size_t take_lane(brume_lane_pool *pool)
{
    size_t lane = 0;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        for (lane = 0; lane < pool->count && pool->taken[lane]; lane++)
            ;
        if (lane < pool->count)
            break;
        pthread_cond_wait(&pool->freed, &pool->lock);
    }
    pool->taken[lane] = true;
    pthread_mutex_unlock(&pool->lock);
    return lane;
}

static void free_lane(brume_lane_pool *pool, size_t lane)
{
    pthread_mutex_lock(&pool->lock);
    pool->taken[lane] = false;
    pthread_cond_signal(&pool->freed);
    pthread_mutex_unlock(&pool->lock);
}

/* Is it something that an analyst is told, and not a fault of the machine? */
static bool is_refusal(brume_status status)
{
    return status != BRUME_OK && status != BRUME_ECANCELLED && status != BRUME_EMEMORY &&
           status != BRUME_EDISK;
}

brume_status brume_query_subject_answer(const brume_query_subject *subject, size_t lane,
                                        bool second, brume_bits *bits, brume_query_answer **answer,
                                        brume_error *refused, brume_error *error)
{
    const brume_watch *watch = subject->watch;
    const char *why = watch ? watch->stopped(watch->context) : NULL;
    if (why)
        return brume_fail(error, BRUME_ECANCELLED, NULL, "%s; nothing was spent", why);
    const brume_query_lane *of = &subject->pool->lanes[lane];
    brume_engine *engine = NULL;
    BRUME_TRY(brume_neighbours_engine(subject->neighbours, lane, second, &engine, error));
    *refused = (brume_error){0};
    brume_released released = {0};
    brume_status status =
        brume_draw_answer(of->question, of->terms, engine, bits, NULL, &released, refused);
    *answer = released.answer;
    brume_terms_close(released.terms);
    if (status == BRUME_OK || is_refusal(status)) {
        refused->status = status;
        return BRUME_OK;
    }
    if (error)
        *error = *refused;
    return status;
}

brume_status brume_query_subject_score_in(const brume_query_subject *subject, size_t lane,
                                          bool second, brume_bits *bits, int64_t *out, size_t n,
                                          brume_error *error)
{
    for (size_t i = 0; i < n; i++) {
        brume_query_answer *answer = NULL;
        brume_error refused;
        BRUME_TRY(
            brume_query_subject_answer(subject, lane, second, bits, &answer, &refused, error));
        brume_answered seen = {answer, &refused, subject->pool->lanes[lane].terms->plan};
        out[i] = brume_score_of(subject->score, brume_features_visit, &seen);
        brume_query_answer_close(answer);
    }
    return BRUME_OK;
}

brume_status brume_query_subject_draw(const void *context, bool second, brume_bits *bits,
                                      int64_t *out, size_t n, brume_error *error)
{
    const brume_query_subject *subject = context;
    size_t lane = take_lane(subject->pool);
    brume_status status = brume_query_subject_score_in(subject, lane, second, bits, out, n, error);
    free_lane(subject->pool, lane);
    return status;
}

json_t *brume_query_subject_score(const brume_query_subject *subject)
{
    return brume_score_to_json(subject->score);
}

brume_status brume_query_subject_save(const brume_query_subject *subject, const char *folder,
                                      brume_error *error)
{
    return brume_neighbours_save(subject->neighbours, folder, error);
}

const char *brume_query_subject_neighbours(const brume_query_subject *subject)
{
    return brume_neighbours_words(subject->neighbours);
}

const char *brume_query_subject_outcome(void)
{
    return "a score of the released table, in 64ths";
}
