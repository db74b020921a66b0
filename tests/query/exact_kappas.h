/* What quantiles cost, in exact rationals: a list of them is found by halves, and at each level of
 * the halving counts the worst relative place of a quantile between its neighbours
 * (proofs/query-price.md). */
#ifndef BRUME_TESTS_QUERY_EXACT_KAPPAS_H
#define BRUME_TESTS_QUERY_EXACT_KAPPAS_H

#include <gmp.h>

#include "query/price/price.h"

enum { KAPPA_LEVELS = 8 };

/* The fractions first .. last-1, between two others: at each level the worst relative place. */
static inline void find_kappas(const brume_measure *m, size_t first, size_t last, const mpq_t least,
                               const mpq_t most, size_t level, mpq_t *kappa)
{
    if (first >= last)
        return;
    size_t middle = (first + last) / 2;
    mpq_t q, width, part;
    mpq_inits(q, width, part, NULL);
    mpq_set_si(q, m->fractions[middle][0], (unsigned long)m->fractions[middle][1]);
    mpq_canonicalize(q);
    mpq_sub(width, most, least);
    for (int side = 0; side < 2; side++) {
        mpq_sub(part, side ? most : q, side ? q : least);
        mpq_div(part, part, width);
        if (mpq_cmp(part, kappa[level]) > 0)
            mpq_set(kappa[level], part);
    }
    find_kappas(m, first, middle, least, q, level + 1, kappa);
    find_kappas(m, middle + 1, last, q, most, level + 1, kappa);
    mpq_clears(q, width, part, NULL);
}

/* The sum of kappa^p over the levels; p is 1 or 2. */
static inline void sum_kappas(const brume_measure *m, int p, mpq_t sum)
{
    mpq_t kappa[KAPPA_LEVELS], zero, one;
    mpq_inits(zero, one, NULL);
    for (size_t i = 0; i < KAPPA_LEVELS; i++)
        mpq_init(kappa[i]);
    mpq_set_ui(one, 1, 1);
    find_kappas(m, 0, m->fraction_count, zero, one, 0, kappa);
    mpq_set_ui(sum, 0, 1);
    for (size_t i = 0; i < KAPPA_LEVELS; i++) {
        if (p == 2)
            mpq_mul(kappa[i], kappa[i], kappa[i]);
        mpq_add(sum, sum, kappa[i]);
        mpq_clear(kappa[i]);
    }
    mpq_clears(zero, one, NULL);
}

#endif
