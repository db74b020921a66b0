/* Discrete Gaussian, small sigma, by inversion of a certified table: one word a draw.
 *
 * With F(k) = P[|X| <= k] and U uniform, |X| is the first k with U < F(k); the sign is a bit of its
 * own (on 0 it says nothing). The table holds T_k = floor(2^b F(k)), each certified by a ball that
 * has one floor, up to the first k with T_k = 2^b - 1. With u the first b bits of U, the first k
 * with T_k >= u is the answer if T_k > u: then U < (u + 1) 2^-b <= F(k), and
 * U >= u 2^-b >= (T_(k-1) + 1) 2^-b > F(k - 1). If T_k = u (probability below 2^-53), more bits of
 * U are compared with balls of F, without limit on k: no tail is cut. proofs/discrete_gaussian.md.
 */
#include "sample/gaussian_table.h"

#include <stdlib.h>

#include "base/error.h"
#include "sample/cell.h"
#include "sample/noise_law.h"

#ifndef GAUSSIAN_TABLE_BITS
#define GAUSSIAN_TABLE_BITS 63
#endif
#ifndef GAUSSIAN_TABLE_GUIDE_BITS
#define GAUSSIAN_TABLE_GUIDE_BITS 10
#endif

enum { GUIDE = 1 << GAUSSIAN_TABLE_GUIDE_BITS, MOST_PRECISION = 1 << 14 };
#define LARGEST (UINT64_MAX >> (64 - GAUSSIAN_TABLE_BITS))

typedef struct table_noise {
    brume_noise noise;
    brume_sigma sigma;
    uint64_t *threshold;   /* T_0 < ... < T_last = 2^b - 1, or equal */
    uint16_t guide[GUIDE]; /* the first k with T_k >= the least u of this guide cell */
} table_noise;

/* The sums S_k = 1 + 2 sum_(1 <= j <= k) q^(j^2), q = exp(-1 / 2 sigma^2), one after another, and
 * their limit. */
typedef struct theta {
    slong precision;
    arb_t total;   /* the limit */
    arb_t sum;     /* S_k */
    arb_t term;    /* q^(k^2) */
    arb_t ratio;   /* q^(2k + 1) */
    arb_t step;    /* q^2 */
    slong k, last; /* beyond k = last the terms are below the precision of `total` */
} theta;

static void theta_begin(theta *s, const brume_sigma *sigma)
{
    fmpz_t one;
    fmpz_init_set_ui(one, 1);
    arb_one(s->sum);
    arb_one(s->term);
    brume_sigma_bell(s->ratio, sigma, one, s->precision);
    arb_sqr(s->step, s->ratio, s->precision);
    s->k = 0;
    fmpz_clear(one);
}

static void theta_next(theta *s)
{
    arb_mul(s->term, s->term, s->ratio, s->precision);
    arb_mul(s->ratio, s->ratio, s->step, s->precision);
    arb_addmul_ui(s->sum, s->term, 2, s->precision);
    s->k++;
}

static void theta_open(theta *s, const brume_sigma *sigma, slong precision)
{
    s->precision = precision;
    arb_init(s->total);
    arb_init(s->sum);
    arb_init(s->term);
    arb_init(s->ratio);
    arb_init(s->step);
    theta_begin(s, sigma);
    do {
        theta_next(s);
    } while (arf_cmpabs_2exp_si(arb_midref(s->term), -precision) > 0 ||
             arf_cmpabs_2exp_si(arb_midref(s->ratio), -2) > 0);
    s->last = s->k;
    /* What is left: 2 sum_(j > k) q^(j^2) <= 2 q^(k^2) r / (1 - r), r = q^(2k + 1). Here r <= 1/2
     * (its middle is at most 1/4), so it is at most 2 q^(k^2). */
    arb_t rest;
    arb_init(rest);
    arb_set(s->total, s->sum);
    arb_mul_2exp_si(rest, s->term, 1);
    arb_add_error(s->total, rest);
    arb_clear(rest);
    theta_begin(s, sigma);
}

static void theta_close(theta *s)
{
    arb_clear(s->total);
    arb_clear(s->sum);
    arb_clear(s->term);
    arb_clear(s->ratio);
    arb_clear(s->step);
}

/* |X| for a cell of U that the table leaves open. false: the source failed. */
static bool find_deep(const table_noise *t, uint64_t u, brume_bits *bits, int64_t *k)
{
    brume_cell cell;
    brume_cell_open(&cell, u, GAUSSIAN_TABLE_BITS);
    bool found = false;
    while (!found && brume_cell_extend(&cell, bits)) {
        theta s;
        arb_t place;
        arb_init(place);
        theta_open(&s, &t->sigma, brume_cell_precision(&cell));
        brume_cell_ball(place, &cell);
        arb_mul(place, place, s.total, s.precision); /* U Z */
        while (s.k < s.last && arb_ge(place, s.sum)) /* U >= F(k) on the whole cell */
            theta_next(&s);
        if (arb_lt(place, s.sum)) {
            found = true;
            *k = s.k;
        }
        arb_clear(place);
        theta_close(&s);
    }
    brume_cell_close(&cell);
    return found;
}

static inline bool find(const table_noise *t, uint64_t word, brume_bits *bits, int64_t *out)
{
    word >>= 63 - GAUSSIAN_TABLE_BITS;
    uint64_t u = word >> 1;
    size_t at = t->guide[u >> (GAUSSIAN_TABLE_BITS - GAUSSIAN_TABLE_GUIDE_BITS)];
    while (t->threshold[at] < u)
        at++;
    int64_t k = (int64_t)at;
    if (__builtin_expect(t->threshold[at] == u, 0) && !find_deep(t, u, bits, &k))
        return false;
    int64_t sign = -(int64_t)(word & 1);
    *out = (k ^ sign) - sign;
    return true;
}

static bool draw(const brume_noise *noise, brume_bits *bits, int64_t *out)
{
    uint64_t word;
    return brume_bits_word(bits, bits->main, &word) &&
           find((const table_noise *)noise, word, bits, out);
}

static bool fill(const brume_noise *noise, brume_bits *bits, int64_t *out, size_t n)
{
    for (size_t done = 0; done < n;) {
        size_t got;
        uint64_t *words = brume_bits_run(bits, bits->main, n - done, &got);
        if (!words)
            return false;
        bool ok = true;
        for (size_t i = 0; i < got && ok; i++)
            ok = find((const table_noise *)noise, words[i], bits, out + done + i);
        brume_bits_done(words, got);
        if (!ok)
            return false;
        done += got;
    }
    return true;
}

static void close_table(brume_noise *noise)
{
    free(((table_noise *)noise)->threshold);
}

static const brume_noise_law law = {"discrete Gaussian", draw, fill, close_table};

/* *out = floor(ball) if that is one number of [0, 2^b), where F < 1 rules out 2^b itself. */
static bool certify(uint64_t *out, const arb_t ball)
{
    fmpz_t low, high;
    arf_t end;
    fmpz_init(low);
    fmpz_init(high);
    arf_init(end);
    arb_get_lbound_arf(end, ball, 256); /* rounds down */
    arf_get_fmpz(low, end, ARF_RND_FLOOR);
    arb_get_ubound_arf(end, ball, 256); /* rounds up */
    arf_get_fmpz(high, end, ARF_RND_FLOOR);
    if (fmpz_cmp_ui(high, LARGEST) > 0)
        fmpz_set_ui(high, LARGEST);
    bool one = fmpz_equal(low, high);
    *out = fmpz_get_ui(high);
    arf_clear(end);
    fmpz_clear(low);
    fmpz_clear(high);
    return one;
}

/* Every threshold at this precision. BRUME_EINTERNAL: it is too small. */
static brume_status build(table_noise *t, slong precision, brume_error *error)
{
    theta s;
    arb_t scaled, factor;
    theta_open(&s, &t->sigma, precision);
    arb_init(scaled);
    arb_init(factor);
    arb_ui_div(factor, 1, s.total, precision);
    arb_mul_2exp_si(factor, factor, GAUSSIAN_TABLE_BITS);
    brume_status status = BRUME_OK;
    uint64_t *table = malloc((size_t)(s.last + 1) * sizeof *table);
    if (!table)
        status =
            brume_fail(error, BRUME_EMEMORY, NULL, "no memory for a table of the Gaussian law");
    slong k = 0;
    while (status == BRUME_OK) {
        arb_mul(scaled, s.sum, factor, precision);
        if (!certify(&table[k], scaled) || k == s.last) {
            status = BRUME_EINTERNAL;
        } else if (table[k] == LARGEST) {
            break;
        } else {
            theta_next(&s);
            k++;
        }
    }
    theta_close(&s);
    arb_clear(scaled);
    arb_clear(factor);
    if (status != BRUME_OK) {
        free(table);
        return status;
    }
    t->threshold = table;
    size_t at = 0;
    for (uint64_t i = 0; i < GUIDE; i++) {
        while (table[at] < i << (GAUSSIAN_TABLE_BITS - GAUSSIAN_TABLE_GUIDE_BITS))
            at++;
        t->guide[i] = (uint16_t)at;
    }
    return BRUME_OK;
}

brume_status brume_gaussian_table_open(const brume_sigma *sigma, brume_noise **out,
                                       brume_error *error)
{
    table_noise *t = brume_noise_open_as(&law, sizeof *t, error);
    if (!t)
        return BRUME_EMEMORY;
    t->sigma = *sigma;
    brume_status status = BRUME_EINTERNAL;
    for (slong precision = 192; status == BRUME_EINTERNAL && precision <= MOST_PRECISION;
         precision *= 2)
        status = build(t, precision, error);
    if (status != BRUME_OK) {
        if (status == BRUME_EINTERNAL)
            (void)brume_fail(error, status, "use a sigma that differs in its last digit",
                             "the table of the discrete Gaussian could not be certified");
        brume_noise_close(&t->noise);
        return status;
    }
    *out = &t->noise;
    return BRUME_OK;
}
