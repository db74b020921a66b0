/* argmax(a_i + E_i) with a_i = coefficient * score_i exact, for Gumbel, exponential and Laplace E.
 *
 * One word a candidate. Coarse logarithms, many at once, give each sum with a proven error
 * (proofs/selection.md); candidates whose upper bound reaches the best lower bound contend. Where
 * there are several, better logarithms bound their sums again, and where there still are, balls
 * over more and more bits of their uniforms settle it (probability below n 2^-40 for scores of
 * ordinary size). Ties of real keys have probability 0. Any number may contend. */
#include <brume/noise/select.h>

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "sample/cell.h"
#include "sample/clones.h"
#include "sample/kernel.h"

/* Twice the share of a cell of U on a logarithm: 1.2164 * 2^-(PREFIX+1) / x, x >= 0.7071 * 2^e. */
#define CELL (2.0 / (double)(UINT64_C(1) << BRUME_PREFIX))

/* 1: doubles may decide; 2: balls decide everything. Tests set it. */
#ifndef SELECT_FIRST_TIER
#define SELECT_FIRST_TIER 1
#endif

enum { BLOCK = 256 }; /* candidates at a time */

/* Coarse bounds are those of whole words. */
#define SIFTING (SELECT_FIRST_TIER == 1 && BRUME_PREFIX == 52)

typedef struct contender {
    size_t index;
    uint64_t word;
    double upper; /* of its key */
} contender;

typedef struct race {
    brume_select_noise noise;
    double coefficient;
    const double *scores;
    contender *list;
    size_t count, room;
    double best;    /* the greatest lower bound of a key so far */
    contender *few; /* the list that need not be freed */
} race;

/* lower <= a_i + E_i <= upper for every U in the cell of this word. */
static void bound_key(const race *r, double score, uint64_t word, double *lower, double *upper)
{
    double product = r->coefficient * score, inverse_power;
    double x = brume_uniform_middle(word);
    double e = brume_neg_log(x, &inverse_power);
    double size = brume_absolute(product);
    double key, error;
    /* A zero prefix has no lower bound of U; a product this large is not worth a bound. */
    bool bounded = x > 1.0 / (double)(UINT64_C(1) << BRUME_PREFIX) && size < 0x1p900;
    if (r->noise == BRUME_SELECT_GUMBEL) {
        double unused;
        double log_e = -brume_neg_log(e > 0 ? e : 1.0, &unused);
        double relative = (0x1p-52 * (e + 1.1) + CELL * inverse_power) / e;
        bounded = bounded && e > 0 && relative <= 0.5;
        key = product - log_e;
        error = 0x1p-51 * (brume_absolute(log_e) + size + 1) + relative;
    } else {
        bool negative = r->noise == BRUME_SELECT_LAPLACE && (word >> (64 - BRUME_WORD_BITS) & 1);
        key = negative ? product - e : product + e;
        error = 0x1p-51 * (size + e + 1) + CELL * inverse_power;
    }
    *lower = bounded ? key - error : -INFINITY;
    *upper = bounded ? key + error : INFINITY;
}

/* What the bounds of a coarse key add to it: it is right to 2^-36 (Gumbel: 2^-19), for the words
 * that have one, and to the roundings of the product. */
static inline double coarse_error(double product, double of_logarithm)
{
    return of_logarithm + 0x1p-50 * (brume_absolute(product) + 16);
}

#define COARSE_GUMBEL 0x1p-18
#define COARSE        0x1p-35

/* Upper bounds of the keys, many at once; infinite for words that are not worth one. */
BRUME_CLONES static void sift(brume_select_noise noise, double coefficient,
                              const double *restrict scores, const uint64_t *restrict words,
                              double *restrict upper, size_t count)
{
    if (noise == BRUME_SELECT_GUMBEL) {
        for (size_t i = 0; i < count; i++) {
            double product = coefficient * scores[i], x = brume_uniform_middle(words[i]);
            double e = -brume_log_coarse(x);
            bool worth = (x >= 0x1p-16) & (e > 0x1p-16);
            double key = product - brume_log_coarse(worth ? e : 1.0);
            double most = key + coarse_error(product, COARSE_GUMBEL);
            upper[i] = worth ? most : INFINITY;
        }
    } else {
        const uint64_t signs = noise == BRUME_SELECT_LAPLACE ? BRUME_SIGN_BIT : 0;
        for (size_t i = 0; i < count; i++) {
            double product = coefficient * scores[i], x = brume_uniform_middle(words[i]);
            uint64_t sign = words[i] << (BRUME_WORD_BITS - 1) & signs;
            double e = brume_double_of_bits(brume_bits_of_double(-brume_log_coarse(x)) ^ sign);
            double most = product + e + coarse_error(product, COARSE);
            upper[i] = x >= 0x1p-16 ? most : INFINITY;
        }
    }
}

/* The lower bound that goes with an upper bound of sift: thrice the error below it, which is that
 * of the key, that of the upper bound, and more than all roundings. */
static double coarse_lower(const race *r, double score, double upper)
{
    double of_logarithm = r->noise == BRUME_SELECT_GUMBEL ? COARSE_GUMBEL : COARSE;
    return upper < INFINITY ? upper - 3 * coarse_error(r->coefficient * score, of_logarithm)
                            : -INFINITY;
}

static void prune(race *r)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->count; i++)
        if (!(r->list[i].upper < r->best)) /* NaN: an infinite product has no coarse bound */
            r->list[kept++] = r->list[i];
    brume_bits_wipe(r->list + kept, (r->count - kept) * sizeof *r->list);
    r->count = kept;
}

static void close_race(race *r)
{
    brume_bits_wipe(r->list, r->count * sizeof *r->list);
    if (r->list != r->few)
        free(r->list);
}

static bool make_room(race *r)
{
    if (r->count < r->room)
        return true;
    prune(r);
    if (r->count < r->room / 2)
        return true;
    contender *wider = malloc(2 * r->room * sizeof *wider);
    if (!wider)
        return false;
    memcpy(wider, r->list, r->count * sizeof *wider);
    size_t count = r->count;
    close_race(r);
    r->list = wider;
    r->count = count;
    r->room *= 2;
    return true;
}

/* The exact a_i - a_reference and the bits of noise below it. */
static void set_shift(arb_t shift, const race *r, size_t index, size_t reference)
{
    arf_t a, b;
    arf_init(a);
    arf_init(b);
    arf_set_d(a, r->scores[index]);
    arf_set_d(b, r->scores[reference]);
    arf_sub(a, a, b, ARF_PREC_EXACT, ARF_RND_DOWN);
    arf_set_d(b, r->coefficient);
    arf_mul(a, a, b, ARF_PREC_EXACT, ARF_RND_DOWN);
    arb_set_arf(shift, a);
    arf_clear(a);
    arf_clear(b);
}

/* key = a_i - a_reference + E_i over the cell of U. false: the cell gives no bound yet. */
static bool key_ball(arb_t key, const race *r, const contender *c, const brume_cell *u,
                     size_t reference)
{
    arb_t shift;
    arb_init(shift);
    set_shift(shift, r, c->index, reference);
    slong precision = brume_cell_precision(u);
    if (arf_cmpabs_2exp_si(arb_midref(shift), 0) > 0)
        precision += arf_abs_bound_lt_2exp_si(arb_midref(shift)); /* its digits before the point */
    brume_cell_ball(key, u);
    arb_log(key, key, precision);
    arb_neg(key, key); /* -ln U */
    if (r->noise == BRUME_SELECT_GUMBEL) {
        arb_log(key, key, precision); /* not finite if the ball of -ln U holds 0 */
        arb_neg(key, key);
    } else if (r->noise == BRUME_SELECT_LAPLACE && (c->word >> (64 - BRUME_WORD_BITS) & 1)) {
        arb_neg(key, key);
    }
    arb_add(key, key, shift, precision);
    arb_clear(shift);
    return arb_is_finite(key);
}

/* Settle a race of several by balls. */
static brume_status settle(race *r, brume_bits *bits, size_t *out, brume_error *error)
{
    size_t n = r->count;
    brume_cell *cells = malloc(n * sizeof *cells);
    if (!cells)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory to settle a selection");
    const int sign_bits = r->noise == BRUME_SELECT_LAPLACE;
    for (size_t i = 0; i < n; i++)
        brume_cell_open(&cells[i], r->list[i].word >> (64 - BRUME_WORD_BITS + sign_bits),
                        BRUME_WORD_BITS - sign_bits);
    arb_t key;
    arf_t best, end;
    arb_init(key);
    arf_init(best);
    arf_init(end);
    brume_status status = BRUME_OK;
    size_t left = n; /* cells[0..left) and r->list[0..left) still contend */
    const size_t reference = r->list[0].index;
    while (status == BRUME_OK && left > 1) {
        arf_neg_inf(best);
        for (size_t i = 0; i < left; i++) {
            if (!key_ball(key, r, &r->list[i], &cells[i], reference))
                continue;
            arb_get_lbound_arf(end, key, cells[i].bits + 8192); /* rounds down */
            if (arf_cmp(end, best) > 0)
                arf_set(best, end);
        }
        size_t kept = 0;
        for (size_t i = 0; i < left; i++) {
            bool bounded = key_ball(key, r, &r->list[i], &cells[i], reference);
            if (bounded)
                arb_get_ubound_arf(end, key, cells[i].bits + 8192); /* rounds up */
            if (bounded && arf_cmp(end, best) < 0) {
                brume_cell_close(&cells[i]);
            } else {
                cells[kept] = cells[i];
                r->list[kept++] = r->list[i];
            }
        }
        left = kept;
        for (size_t i = 0; i < left && left > 1 && status == BRUME_OK; i++)
            if (!brume_cell_extend(&cells[i], bits))
                status = brume_bits_failed(bits, error);
    }
    if (status == BRUME_OK)
        *out = r->list[0].index;
    for (size_t i = 0; i < left; i++)
        brume_cell_close(&cells[i]);
    free(cells);
    arb_clear(key);
    arf_clear(best);
    arf_clear(end);
    return status;
}

/* Take a candidate in that may win, as far as a coarse bound of its key says. false: out of memory.
 */
static bool enter(race *r, size_t index, uint64_t word, double upper)
{
    double score = r->scores[index];
    if (score == -INFINITY)
        return true; /* never chosen; its word is spent all the same */
    if (!make_room(r))
        return false;
    r->list[r->count++] = (contender){index, word, upper};
    double lower = coarse_lower(r, score, upper);
    if (lower > r->best)
        r->best = lower;
    return true;
}

/* Bound the keys of those that are left better. */
static void refine(race *r)
{
    for (size_t i = 0; i < r->count; i++) {
        contender *c = &r->list[i];
        double lower, upper;
        bound_key(r, r->scores[c->index], c->word, &lower, &upper);
        if (lower > r->best)
            r->best = lower;
        if (!(c->upper < upper))
            c->upper = upper;
    }
    prune(r);
}

static brume_status run(race *r, brume_bits *bits, size_t n, size_t *out, brume_error *error)
{
    double upper[BLOCK];
    bool room = true;
    for (size_t done = 0, got; done < n && room; done += got) {
        size_t most = n - done < BLOCK ? n - done : BLOCK;
        uint64_t *words = brume_bits_run(bits, bits->main, most, &got);
        if (!words)
            return brume_bits_failed(bits, error);
        if (SIFTING)
            sift(r->noise, r->coefficient, r->scores + done, words, upper, got);
        for (size_t i = 0; i < got && room; i++)
            if (!SIFTING || !(upper[i] < r->best))
                room = enter(r, done + i, words[i], SIFTING ? upper[i] : INFINITY);
        brume_bits_done(words, got);
    }
    if (SIFTING)
        brume_bits_wipe(upper, (n < BLOCK ? n : BLOCK) * sizeof *upper);
    if (!room)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for a selection");
    prune(r);
    if (SELECT_FIRST_TIER == 1 && r->count > 1)
        refine(r);
    if (r->count > 1)
        return settle(r, bits, out, error);
    *out = r->list[0].index;
    return BRUME_OK;
}

static brume_status check(const race *r, size_t n, brume_error *error)
{
    if (!(r->coefficient >= 0) || isinf(r->coefficient))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "the coefficient %.17g must be at least 0 and finite", r->coefficient);
    if (r->noise < BRUME_SELECT_GUMBEL || r->noise > BRUME_SELECT_LAPLACE)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "no such noise for a selection");
    if (!brume_rounds_to_nearest())
        return brume_fail(error, BRUME_EARGUMENT, "call fesetround(FE_TONEAREST) before drawing",
                          "the floating-point rounding mode is not to nearest");
    bool finite = false;
    for (size_t i = 0; i < n; i++) {
        if (isnan(r->scores[i]) || r->scores[i] == INFINITY)
            return brume_fail(error, BRUME_EARGUMENT, "a score is a finite number or -infinity",
                              "a score is not a number or infinite");
        finite = finite || r->scores[i] != -INFINITY;
    }
    if (!finite)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "no candidate has a finite score");
    return BRUME_OK;
}

brume_status brume_select_noisy_max(brume_bits *bits, brume_select_noise noise, double coefficient,
                                    const double *scores, size_t n, size_t *out, brume_error *error)
{
    if (!bits || !scores || n == 0 || !out)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "no bit source, no scores or no place for the choice");
    contender few[16];
    race r = {.noise = noise,
              .coefficient = coefficient,
              .scores = scores,
              .list = few,
              .room = sizeof few / sizeof *few,
              .best = -INFINITY,
              .few = few};
    BRUME_TRY(check(&r, n, error));
    if (n == 1) {
        *out = 0;
        return BRUME_OK;
    }
    brume_status status = run(&r, bits, n, out, error);
    close_race(&r);
    return status;
}
