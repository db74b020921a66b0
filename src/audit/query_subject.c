/* The answers of a query on two neighbouring databases. */
#include "audit/query_subject.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "audit/neighbours.h"
#include "audit/score.h"
#include "base/error.h"
#include "number/ball.h"
#include "query/release/ask.h"

/* Examples of each database of a pair, at first and of the best; how many are the best. */
enum { LEAST_EXAMPLES = 8, MOST_EXAMPLES = 200, LEAST_LEARNED = 40, MOST_LEARNED = 1000, BEST = 4 };

/* Which lanes are free. */
typedef struct lane_pool {
    const brume_query_lane *lanes;
    size_t count;
    pthread_mutex_t lock;
    pthread_cond_t freed;
    bool taken[BRUME_NEIGHBOUR_LANES];
} lane_pool;

struct brume_query_subject {
    lane_pool *pool; /* of all subjects of a search */
    const brume_watch *watch;
    brume_neighbours *neighbours;
    brume_score *score;
    bool owns_pool;
};

static void close_pool(lane_pool *pool)
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
        close_pool(subject->pool);
    free(subject);
}

static lane_pool *open_pool(const brume_query_lane *lanes, size_t count)
{
    lane_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    pool->lanes = lanes;
    pool->count = count < BRUME_NEIGHBOUR_LANES ? count : BRUME_NEIGHBOUR_LANES;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->freed, NULL);
    return pool;
}

static size_t take_lane(lane_pool *pool)
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

static void free_lane(lane_pool *pool, size_t lane)
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
static brume_status draw(const brume_query_subject *subject, size_t lane, bool second,
                         brume_bits *bits, brume_query_answer **answer, brume_error *refused,
                         brume_error *error)
{
    const brume_watch *watch = subject->watch;
    if (watch && watch->stopped(watch->context))
        return brume_fail(error, BRUME_ECANCELLED, NULL, "interrupted; nothing was spent");
    const brume_query_lane *of = &subject->pool->lanes[lane];
    brume_engine *engine = NULL;
    BRUME_TRY(brume_neighbours_engine(subject->neighbours, lane, second, &engine, error));
    *refused = (brume_error){0};
    brume_status status =
        brume_draw_answer(of->question, of->plan, engine, bits, NULL, answer, refused);
    if (status == BRUME_OK || is_refusal(status)) {
        refused->status = status;
        return BRUME_OK;
    }
    if (error)
        *error = *refused;
    return status;
}

/* A score from `count` examples of each database; *separation says how well it does. */
static brume_status learn(brume_query_subject *subject, size_t lane, size_t count, brume_bits *bits,
                          double *separation, brume_error *error)
{
    size_t refusals = 0;
    brume_error refused = {.status = BRUME_EINTERNAL};
    brume_score_close(subject->score);
    subject->score = NULL;
    BRUME_TRY(brume_score_open(count, &subject->score, error));
    for (size_t i = 0; i < 2 * count; i++) {
        brume_query_answer *answer = NULL;
        bool second = i % 2 != 0;
        BRUME_TRY(draw(subject, lane, second, bits, &answer, &refused, error));
        refusals += !answer;
        brume_status status = brume_score_learn(subject->score, answer, &refused, second, error);
        brume_query_answer_close(answer);
        BRUME_TRY(status);
    }
    if (refusals == 2 * count) { /* there is nothing to audit */
        if (error)
            *error = refused;
        return refused.status;
    }
    *separation = brume_score_settle(subject->score);
    return BRUME_OK;
}

/* What the search knows. */
typedef struct search {
    const char *sql;
    const brume_audit_options *options;
    const brume_watch *watch;
    lane_pool *pool;
    brume_recipe_hints hints;
    brume_query_subject *best[BEST]; /* by falling separation; NULL: there is none yet */
    double separation[BEST];
} search;

static brume_recipe_hints hints_of(const brume_plan *plan, double epsilon)
{
    brume_recipe_hints hints = {.epsilon = epsilon};
    if (plan->shape.private_keys)
        hints.threshold = plan->price.threshold;
    for (size_t m = 0; m < plan->measurement_count; m++)
        for (size_t i = 0; i < plan->measure_count; i++)
            if (plan->measures[i].threshold > hints.threshold)
                hints.threshold = plan->measures[i].threshold;
    return hints;
}

/* Put it in its place among the best; the last falls out. */
static void rank(search *s, brume_query_subject *next, double separation)
{
    for (size_t i = 0; i < BEST; i++) {
        if (s->best[i] && s->separation[i] >= separation)
            continue;
        brume_query_subject *moved = s->best[i];
        double before = s->separation[i];
        s->best[i] = next;
        s->separation[i] = separation;
        next = moved;
        separation = before;
        if (!next)
            return;
    }
    brume_query_subject_close(next);
}

static size_t between(size_t least, size_t count, size_t most)
{
    return count < least ? least : count > most ? most : count;
}

/* ---- searching, on as many threads as there are lanes ---- */

/* Piece `number` of some work, in a lane. */
typedef brume_status piece(search *s, size_t number, size_t lane, brume_bits *bits,
                           brume_error *error);

typedef struct crew {
    search *s;
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
static brume_status run_crew(search *s, piece *work, size_t count, brume_bits *bits,
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

static brume_status try_pair(search *s, size_t number, size_t lane, brume_bits *bits,
                             brume_error *error)
{
    const brume_query_lane *of = &s->pool->lanes[lane];
    brume_query_subject *next = calloc(1, sizeof *next);
    double separation = 0;
    if (!next)
        return brume_no_memory(error, "an audit");
    next->pool = s->pool;
    next->watch = s->watch;
    size_t examples = between(LEAST_EXAMPLES, s->options->samples / 40, MOST_EXAMPLES);
    /* the tables are those of the first lane's question, which outlives this thread */
    brume_status status = brume_neighbours_open(s->pool->lanes[0].question, of->plan->adjacency,
                                                s->sql, &s->hints, number, &next->neighbours,
                                                error);
    if (status == BRUME_OK)
        status = learn(next, lane, examples, bits, &separation, error);
    if (status != BRUME_OK) {
        brume_query_subject_close(next);
        return status;
    }
    pthread_mutex_lock(&s->pool->lock);
    rank(s, next, separation);
    pthread_mutex_unlock(&s->pool->lock);
    return BRUME_OK;
}

static size_t learned(const search *s)
{
    return between(LEAST_LEARNED, s->options->samples / 8, MOST_LEARNED);
}

static brume_status learn_more(search *s, size_t number, size_t lane, brume_bits *bits,
                               brume_error *error)
{
    double unused;
    return s->best[number] ? learn(s->best[number], lane, learned(s), bits, &unused, error)
                           : BRUME_OK;
}

/* The best of the best: each learns from more examples, and draws that are scored decide. */
static brume_status decide(search *s, brume_bits *bits, size_t *chosen, brume_error *error)
{
    double most = -INFINITY;
    *chosen = 0;
    BRUME_TRY(run_crew(s, learn_more, BEST, bits, error));
    for (size_t i = 0; i < BEST && s->best[i]; i++) {
        double epsilon, delta;
        BRUME_TRY(brume_audit_guess(brume_query_subject_draw, s->best[i], s->options, learned(s),
                                    bits, &epsilon, &delta, error));
        if (epsilon > most) {
            most = epsilon;
            *chosen = i;
        }
    }
    return BRUME_OK;
}

static brume_status find_pair(search *s, brume_bits *bits, size_t *chosen, brume_error *error)
{
    size_t pairs = brume_neighbours_count(s->pool->lanes[0].question, &s->hints);
    BRUME_TRY(run_crew(s, try_pair, pairs ? pairs : 1, bits, error));
    return decide(s, bits, chosen, error);
}

brume_status brume_query_subject_open(const brume_query_lane *lanes, size_t lane_count,
                                      const char *sql, const brume_audit_options *options,
                                      brume_bits *bits, const brume_watch *watch,
                                      brume_query_subject **out, brume_error *error)
{
    size_t chosen = 0;
    search s = {.sql = sql,
                .options = options,
                .watch = watch,
                .pool = open_pool(lanes, lane_count),
                .hints = hints_of(lanes[0].plan, options->epsilon)};
    if (!s.pool)
        return brume_no_memory(error, "an audit");
    brume_status status = find_pair(&s, bits, &chosen, error);
    if (status == BRUME_OK) {
        *out = s.best[chosen];
        (*out)->owns_pool = true;
        s.best[chosen] = NULL;
    }
    for (size_t i = 0; i < BEST; i++)
        brume_query_subject_close(s.best[i]);
    if (status != BRUME_OK)
        close_pool(s.pool);
    return status;
}

static brume_status draw_in_lane(const brume_query_subject *subject, size_t lane, bool second,
                                 brume_bits *bits, int64_t *out, size_t n, brume_error *error)
{
    for (size_t i = 0; i < n; i++) {
        brume_query_answer *answer = NULL;
        brume_error refused;
        BRUME_TRY(draw(subject, lane, second, bits, &answer, &refused, error));
        out[i] = brume_score_of(subject->score, answer, &refused);
        brume_query_answer_close(answer);
    }
    return BRUME_OK;
}

brume_status brume_query_subject_draw(const void *context, bool second, brume_bits *bits,
                                      int64_t *out, size_t n, brume_error *error)
{
    const brume_query_subject *subject = context;
    size_t lane = take_lane(subject->pool);
    brume_status status = draw_in_lane(subject, lane, second, bits, out, n, error);
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
    return "a weighted sum of the released table, in 64ths of its deviation";
}
