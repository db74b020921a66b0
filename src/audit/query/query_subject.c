/* The answers of a query on two neighbouring databases. */
#include "audit/query/query_subject.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include <jansson.h>
#include <stdatomic.h>

#include "audit/epsilon.h"
#include "audit/query/answer_features.h"
#include "audit/query/neighbours.h"
#include "audit/query/score.h"
#include "base/error.h"
#include "number/ball.h"
#include "query/plan/plan_limit.h"
#include "query/plan/plan_terms.h"
#include "query/plan/question.h"
#include "query/release/answer.h"
#include "query/release/ask.h"
#include "query/release/spend.h"

static void lane_pool_close(brume_lane_pool *pool)
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
        lane_pool_close(subject->pool);
    free(subject);
}

static brume_lane_pool *lane_pool_open(const brume_query_lane *lanes, size_t count)
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

/* One answer (NULL: it was refused, *refused says how), unless somebody wants to stop. */
static brume_status query_subject_answer(const brume_query_subject *subject, size_t lane,
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

/* Its outcome is the score of the answer. */
static brume_status query_subject_score_in(const brume_query_subject *subject, size_t lane,
                                           bool second, brume_bits *bits, int64_t *out, size_t n,
                                           brume_error *error)
{
    for (size_t i = 0; i < n; i++) {
        brume_query_answer *answer = NULL;
        brume_error refused;
        BRUME_TRY(query_subject_answer(subject, lane, second, bits, &answer, &refused, error));
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
    brume_status status = query_subject_score_in(subject, lane, second, bits, out, n, error);
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

/* Among many pairs of neighbouring databases, the one that the answers tell apart best: a few
 * examples of each pair, more of those that promise most, most of the last few. */

/* How many pairs are looked at again, and how many in the end. */
enum { CHOSEN = 10, LAST = 3 };

/* A pair and what is expected of it. */
typedef struct candidate {
    brume_query_subject *subject; /* NULL: there is none */
    double promise;
} candidate;

/* What the search knows. */
typedef struct subject_search {
    const char *sql;
    const brume_audit_options *options;
    const brume_watch *watch;
    brume_lane_pool *pool;
    brume_recipe_hints hints;
    size_t examples;              /* of each database of a pair, in this round */
    candidate candidates[CHOSEN]; /* by falling promise */
} subject_search;

static size_t between(size_t least, size_t count, size_t most)
{
    return count < least ? least : count > most ? most : count;
}

/* ---- pieces of work, on as many threads as there are lanes ---- */

/* Piece `number` of some work, in a lane. */
typedef brume_status piece(subject_search *s, size_t number, size_t lane, brume_bits *bits,
                           brume_error *error);

typedef struct crew {
    subject_search *s;
    piece *work;
    atomic_size_t next;
    size_t count;
    atomic_bool failed;
} crew;

typedef struct crew_member {
    crew *all;
    size_t lane;
    brume_bits *bits; /* NULL: opens its own */
    brume_status status;
    brume_error error;
    pthread_t thread;
} crew_member;

static void *run_member(void *context)
{
    crew_member *m = context;
    brume_bits *bits = m->bits;
    if (!bits)
        m->status = brume_bits_open(&bits, &m->error);
    while (m->status == BRUME_OK && !atomic_load(&m->all->failed)) {
        size_t number = atomic_fetch_add(&m->all->next, 1);
        if (number >= m->all->count)
            break;
        m->status = m->all->work(m->all->s, number, m->lane, bits, &m->error);
    }
    if (m->status != BRUME_OK)
        atomic_store(&m->all->failed, true);
    if (!m->bits) {
        brume_bits_close(bits);
        flint_cleanup(); /* what FLINT and MPFR keep for a thread */
    }
    return NULL;
}

/* Every piece once; the first error. */
static brume_status run_crew(subject_search *s, piece *work, size_t count, brume_bits *bits,
                             brume_error *error)
{
    crew all = {.s = s, .work = work, .count = count};
    crew_member members[BRUME_NEIGHBOUR_LANES] = {0};
    size_t started = 1, lanes = s->pool->count < count ? s->pool->count : count;
    for (size_t i = 0; i < BRUME_NEIGHBOUR_LANES; i++) {
        members[i].all = &all;
        members[i].lane = i;
    }
    for (; started < lanes; started++)
        if (pthread_create(&members[started].thread, NULL, run_member, &members[started]) != 0)
            break; /* the others do its work */
    members[0].bits = bits;
    run_member(&members[0]);
    for (size_t i = 1; i < started; i++)
        pthread_join(members[i].thread, NULL);
    for (size_t i = 0; i < started; i++)
        if (members[i].status != BRUME_OK) {
            if (error)
                *error = members[i].error;
            return members[i].status;
        }
    return BRUME_OK;
}

/* ---- learning ---- */

/* A score from `count` examples of each database. */
static brume_status learn(brume_query_subject *subject, size_t lane, size_t count, brume_bits *bits,
                          brume_error *error)
{
    size_t refusals = 0;
    brume_error refused = {.status = BRUME_EINTERNAL};
    brume_score_close(subject->score);
    subject->score = NULL;
    BRUME_TRY(brume_score_open(count, &subject->score, error));
    for (size_t i = 0; i < 2 * count; i++) {
        brume_query_answer *answer = NULL;
        bool second = i % 2 != 0;
        BRUME_TRY(query_subject_answer(subject, lane, second, bits, &answer, &refused, error));
        refusals += !answer;
        brume_answered seen = {answer, &refused, subject->pool->lanes[lane].terms->plan};
        brume_status status =
            brume_score_learn(subject->score, brume_features_visit, &seen, second, error);
        brume_query_answer_close(answer);
        BRUME_TRY(status);
    }
    if (refusals == 2 * count) { /* there is nothing to audit */
        if (error)
            *error = refused;
        return refused.status;
    }
    (void)brume_score_settle(subject->score);
    return BRUME_OK;
}

/* A subject in the lane of a piece of work: a brume_audit_draw. */
typedef struct in_lane {
    const brume_query_subject *subject;
    size_t lane;
} in_lane;

static brume_status draw_in_lane(const void *context, bool second, brume_bits *bits, int64_t *out,
                                 size_t n, brume_error *error)
{
    const in_lane *of = context;
    return query_subject_score_in(of->subject, of->lane, second, bits, out, n, error);
}

/* Learn, and foresee from as many other draws what an audit would find. */
static brume_status look(const subject_search *s, candidate *of, size_t lane, brume_bits *bits,
                         brume_error *error)
{
    double delta;
    BRUME_TRY(learn(of->subject, lane, s->examples, bits, error));
    brume_audit_options options = *s->options;
    options.threads = 1;
    options.ordered = true;
    in_lane drawn = {of->subject, lane};
    BRUME_TRY(brume_audit_guess(draw_in_lane, &drawn, &options, s->examples, bits, &of->promise,
                                &delta, error));
    if (options.delta > 0 && delta > options.delta) /* more than is claimed, it seems */
        of->promise = fmax(of->promise, options.epsilon + delta / options.delta);
    return BRUME_OK;
}

static brume_status look_again(subject_search *s, size_t number, size_t lane, brume_bits *bits,
                               brume_error *error)
{
    candidate *of = &s->candidates[number];
    return of->subject ? look(s, of, lane, bits, error) : BRUME_OK;
}

/* ---- pairs ---- */

static brume_recipe_hints hints_of(const brume_query_lane *lane, double epsilon)
{
    const brume_terms *terms = lane->terms;
    const brume_plan *plan = terms->plan;
    brume_recipe_hints hints = {.epsilon = epsilon,
                                .limits = brume_terms_choose(terms),
                                .replace = plan->adjacency == BRUME_REPLACE,
                                .shared = brume_neighbours_share(lane->question),
                                .window = lane->question->touched != NULL};
    if (plan->shape.private_keys)
        hints.threshold = terms->price.threshold;
    for (size_t i = 0; i < plan->measure_count; i++) {
        const brume_measure *measure = &terms->measures[i];
        hints.means = hints.means || measure->kind == BRUME_MEASURE_CENTRED;
        if (measure->kind == BRUME_MEASURE_QUANTILES && measure->fraction_count > 0) {
            hints.quantiles = true;
            hints.quantile = (double)measure->fractions[0][0] / (double)measure->fractions[0][1];
        }
        if (measure->threshold > hints.threshold)
            hints.threshold = measure->threshold;
    }
    return hints;
}

static void drop(candidate *of)
{
    brume_query_subject_close(of->subject);
    *of = (candidate){0};
}

/* Put it in its place; the last one falls out. Between equals the later one is better: recipes that
 * were made for what is measured come last. */
static void rank(subject_search *s, candidate next)
{
    for (size_t i = 0; i < CHOSEN; i++) {
        candidate here = s->candidates[i];
        if (here.subject && here.promise > next.promise)
            continue;
        s->candidates[i] = next;
        next = here;
        if (!next.subject)
            return;
    }
    drop(&next);
}

static brume_status try_pair(subject_search *s, size_t number, size_t lane, brume_bits *bits,
                             brume_error *error)
{
    const brume_query_lane *of = &s->pool->lanes[lane];
    candidate next = {calloc(1, sizeof *next.subject), 0};
    if (!next.subject)
        return brume_no_memory(error, "an audit");
    next.subject->pool = s->pool;
    next.subject->watch = s->watch;
    /* the tables are those of the first lane's question, which outlives this thread */
    brume_status status = brume_neighbours_open(s->pool->lanes[0].question,
                                                of->terms->plan->adjacency, s->sql, &s->hints,
                                                number, &next.subject->neighbours, error);
    if (status == BRUME_OK)
        status = look(s, &next, lane, bits, error);
    if (status != BRUME_OK) {
        drop(&next);
        return status;
    }
    pthread_mutex_lock(&s->pool->lock);
    rank(s, next);
    pthread_mutex_unlock(&s->pool->lock);
    return BRUME_OK;
}

static int by_promise(const void *left, const void *right)
{
    const candidate *a = left, *b = right;
    if (!a->subject || !b->subject)
        return !a->subject - !b->subject;
    return a->promise > b->promise ? -1 : a->promise < b->promise;
}

/* Look again with more examples, and keep the best so many. */
static brume_status choose(subject_search *s, size_t examples, size_t kept, brume_bits *bits,
                           brume_error *error)
{
    s->examples = examples;
    BRUME_TRY(run_crew(s, look_again, CHOSEN, bits, error));
    qsort(s->candidates, CHOSEN, sizeof *s->candidates, by_promise);
    for (size_t i = kept; i < CHOSEN; i++)
        drop(&s->candidates[i]);
    return BRUME_OK;
}

/* The first of the candidates is the best one then. */
static brume_status find_pair(subject_search *s, brume_bits *bits, brume_error *error)
{
    size_t samples = s->options->samples;
    size_t pairs = brume_neighbours_count(s->pool->lanes[0].question, &s->hints);
    s->examples = between(8, samples / 64, 150);
    BRUME_TRY(run_crew(s, try_pair, pairs ? pairs : 1, bits, error));
    BRUME_TRY(choose(s, between(20, samples / 20, 1000), LAST, bits, error));
    return choose(s, between(40, samples / 10, 8000), 1, bits, error);
}

brume_status brume_query_subject_open(const brume_query_lane *lanes, size_t lane_count,
                                      const char *sql, const brume_audit_options *options,
                                      brume_bits *bits, const brume_watch *watch,
                                      brume_query_subject **out, brume_error *error)
{
    subject_search s = {.sql = sql,
                        .options = options,
                        .watch = watch,
                        .pool = lane_pool_open(lanes, lane_count),
                        .hints = hints_of(&lanes[0], options->epsilon)};
    if (!s.pool)
        return brume_no_memory(error, "an audit");
    brume_status status = find_pair(&s, bits, error);
    if (status == BRUME_OK) {
        *out = s.candidates[0].subject;
        (*out)->owns_pool = true;
        s.candidates[0].subject = NULL;
    }
    for (size_t i = 0; i < CHOSEN; i++)
        brume_query_subject_close(s.candidates[i].subject);
    if (status != BRUME_OK)
        lane_pool_close(s.pool);
    return status;
}
