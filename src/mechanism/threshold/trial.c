/* The trial of the streams: queries at the threshold; on the second input all but the last are
 * lower by the sensitivity and the last is higher, or as it was where they move together.
 *
 * The outcome is the pattern of the answers "above", the first in the highest bit; where numbers
 * are released it is CELLS * pattern + a cell of their sum, those of queries that fall taken
 * negative. Promises: the law follows from the noise alone. */
#include "mechanism/threshold/threshold.h"

#include <math.h>

#include <brume/mechanism/mechanism.h>

#include "base/error.h"
#include "mechanism/noise/tail.h"
#include "number/rounding.h"

enum { NOISES = 4096, CELLS = 64 };

/* Twelve queries reach most of epsilon, fewer are likelier to be below. */
static const int queries_of[] = {12, 8, 4, 1};

/* P[above] and P[below] of a query that fell and of one that rose, given the threshold's noise. */
typedef struct threshold_row {
    brume_interval noise, chance[2][2]; /* chance[rose][above] */
} threshold_row;

typedef struct threshold_inputs {
    brume_sparse_vector_options options;
    int queries;
    double answer_scale; /* 0: no numbers */
    int64_t cell;        /* width */
    size_t rows[2];      /* 0: the noise is too wide for a law */
    int64_t reach;
    threshold_row table[2][NOISES]; /* [second][noise of the threshold + reach] */
} threshold_inputs;

static int64_t value_of(const threshold_inputs *of, bool second, int query)
{
    int64_t moved = second ? (int64_t)of->options.sensitivity : 0;
    if (query < of->queries - 1)
        return -moved;
    return of->options.monotone ? 0 : moved;
}

static brume_interval chance(double scale, int64_t least, bool above)
{
    arb_t p;
    arb_init(p);
    brume_reach_discrete_laplace(p, scale, above ? least : 1 - least); /* by symmetry */
    brume_interval out = brume_ball_probability(p);
    arb_clear(p);
    return out;
}

static void fill_table(threshold_inputs *of, double threshold, double query)
{
    of->reach = (int64_t)ceil(30 * threshold) + 1;
    if (2 * of->reach + 1 > NOISES)
        return;
    arb_t p;
    arb_init(p);
    for (int second = 0; second < 2; second++) {
        of->rows[second] = (size_t)(2 * of->reach + 1);
        for (int64_t noise = -of->reach; noise <= of->reach; noise++) {
            threshold_row *next = &of->table[second][noise + of->reach];
            brume_mass_discrete_laplace(p, threshold, noise);
            next->noise = brume_ball_probability(p);
            for (int i = 0; i < 4; i++) {
                int64_t value = value_of(of, second, i / 2 ? of->queries - 1 : 0);
                next->chance[i / 2][i % 2] = chance(query, noise - value, i % 2);
            }
        }
    }
    arb_clear(p);
}

static brume_status prepare(const brume_event *event, size_t pair, void *state, brume_error *error)
{
    const brume_threshold_family *family = brume_card_by_id(event->mechanism)->family;
    threshold_inputs *of = state;
    double threshold, query;
    if (event->sensitivity != floor(event->sensitivity))
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL,
                          "the sensitivity %g is not whole, queries of a stream are",
                          event->sensitivity);
    of->options = family->options(event);
    of->queries = queries_of[pair];
    brume_split split = {(double)of->options.hits, of->options.monotone, of->options.even_split};
    brume_split_scales(&split, of->options.epsilon, &threshold, &query);
    if (of->options.epsilon_answers > 0) {
        of->answer_scale = brume_multiply_up(
            brume_divide_up(split.hits, of->options.epsilon_answers), event->sensitivity);
        of->cell = of->answer_scale > 8 ? (int64_t)(of->answer_scale / 8) : 1;
    }
    fill_table(of, brume_multiply_up(threshold, event->sensitivity),
               brume_multiply_up(query, event->sensitivity));
    return BRUME_OK;
}

static int64_t cell_of(const threshold_inputs *of, int64_t sum)
{
    int64_t cell = (int64_t)floor((double)sum / (double)of->cell) + CELLS / 2;
    return cell < 0 ? 0 : cell >= CELLS ? CELLS - 1 : cell;
}

static brume_status ask_all(brume_sparse_vector *stream, const threshold_inputs *of, bool second,
                            brume_bits *bits, int64_t *outcome, brume_error *error)
{
    int64_t found = 0, sum = 0;
    BRUME_TRY(brume_sparse_vector_restart(stream, bits, error));
    for (int query = 0; query < of->queries; query++) {
        bool above = false;
        int64_t answer = 0;
        if (brume_sparse_vector_left(stream) > 0)
            BRUME_TRY(brume_sparse_vector_ask(stream, bits, value_of(of, second, query), &above,
                                              &answer, error));
        found = 2 * found + above;
        sum += above ? (query < of->queries - 1 ? -answer : answer) : 0;
    }
    *outcome = of->answer_scale > 0 ? CELLS * found + cell_of(of, sum) : found;
    return BRUME_OK;
}

static brume_status draw(const brume_event *event, const void *state, bool second, brume_bits *bits,
                         int64_t *out, size_t n, brume_error *error)
{
    (void)event;
    const threshold_inputs *of = state;
    brume_sparse_vector *stream = NULL;
    BRUME_TRY(brume_sparse_vector_open(&of->options, bits, &stream, error));
    brume_status status = BRUME_OK;
    for (size_t i = 0; status == BRUME_OK && i < n; i++)
        status = ask_all(stream, of, second, bits, &out[i], error);
    brume_sparse_vector_close(stream);
    return status;
}

/* ---- the law ---- */

static bool has_law(const brume_event *event, const void *state)
{
    (void)event;
    const threshold_inputs *of = state;
    return of->rows[0] > 0 && of->answer_scale == 0;
}

/* Products of 13 positive numbers at most and sums of NOISES of them: a relative 2^-40. */
static const double ROUNDING = 0x1p-40;

static brume_status mass(const brume_event *event, const void *state, bool second, int64_t outcome,
                         brume_interval *out, brume_error *error)
{
    (void)event;
    (void)error;
    const threshold_inputs *of = state;
    double lower = 0, upper = 0;
    int hits = __builtin_popcountll((unsigned long long)outcome);
    bool possible = hits < (int)of->options.hits || (uint64_t)hits == of->options.hits;
    for (size_t i = 0; possible && i < of->rows[second]; i++) {
        const threshold_row *at = &of->table[second][i];
        double low = at->noise.lower, high = at->noise.upper;
        uint64_t left = of->options.hits;
        for (int query = 0; left > 0 && query < of->queries; query++) {
            int above = outcome >> (of->queries - 1 - query) & 1;
            const brume_interval *p = &at->chance[query == of->queries - 1][above];
            low *= p->lower;
            high *= p->upper;
            left -= (uint64_t)above;
        }
        lower += low;
        upper += high;
    }
    *out = (brume_interval){lower * (1 - ROUNDING),
                            possible ? fmin(upper * (1 + ROUNDING) + 2e-13, 1) : 0};
    return BRUME_OK;
}

static void support(const brume_event *event, const void *state, int64_t *least, int64_t *most)
{
    (void)event;
    const threshold_inputs *of = state;
    *least = 0;
    *most = ((int64_t)1 << of->queries) - 1;
}

const brume_trial brume_threshold_trial = {
    .neighbours = "twelve queries at the threshold or fewer, moved against it",
    .outcome = "the pattern of answers, and the sum of the numbers where there are any",
    .step = 1,
    .pairs = sizeof queries_of / sizeof *queries_of,
    .state_size = sizeof(threshold_inputs),
    .prepare = prepare,
    .draw = draw,
    .has_law = has_law,
    .mass = mass,
    .support = support,
};
