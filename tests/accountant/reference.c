/* See the header. Plain sums; slow and simple on purpose. */
#include "accountant/reference.h"

#include <math.h>
#include <stdlib.h>

static mpfr_t *new_masses(size_t count)
{
    mpfr_t *mass = malloc(count * sizeof *mass);
    if (!mass)
        abort();
    for (size_t i = 0; i < count; i++) {
        mpfr_init2(mass[i], REFERENCE_BITS);
        mpfr_set_zero(mass[i], 1);
    }
    return mass;
}

reference reference_zero(double step)
{
    reference law = {.step = step, .first = 0, .count = 1, .mass = new_masses(1)};
    mpfr_set_ui(law.mass[0], 1, MPFR_RNDN);
    return law;
}

void reference_clear(reference *law)
{
    for (size_t i = 0; i < law->count; i++)
        mpfr_clear(law->mass[i]);
    free(law->mass);
}

/* Convolve once with atoms at place[j] (in steps) of mass p[j]. */
static void convolve(reference *law, const long *place, mpfr_t *p, size_t atoms)
{
    long least = place[0], most = place[0];
    for (size_t j = 1; j < atoms; j++) {
        least = place[j] < least ? place[j] : least;
        most = place[j] > most ? place[j] : most;
    }
    reference sum = {.step = law->step, .first = law->first + least};
    sum.count = law->count + (size_t)(most - least);
    sum.mass = new_masses(sum.count);
    mpfr_t term;
    mpfr_init2(term, REFERENCE_BITS);
    for (size_t i = 0; i < law->count; i++) {
        if (mpfr_zero_p(law->mass[i]))
            continue;
        for (size_t j = 0; j < atoms; j++) {
            mpfr_t *to = &sum.mass[i + (size_t)(place[j] - least)];
            mpfr_mul(term, law->mass[i], p[j], MPFR_RNDN);
            mpfr_add(*to, *to, term, MPFR_RNDN);
        }
    }
    mpfr_clear(term);
    reference_clear(law);
    *law = sum;
}

/* e^{m * step} */
static void exp_steps(mpfr_t out, double step, long m)
{
    mpfr_set_d(out, step, MPFR_RNDN);
    mpfr_mul_si(out, out, m, MPFR_RNDN);
    mpfr_exp(out, out, MPFR_RNDN);
}

void reference_kary(reference *law, long m, uint64_t k, uint64_t draws)
{
    mpfr_t *p = new_masses(3);
    exp_steps(p[0], law->step, m);
    mpfr_add_ui(p[1], p[0], (unsigned long)k - 1, MPFR_RNDN);
    mpfr_ui_div(p[1], 1, p[1], MPFR_RNDN); /* each wrong answer */
    mpfr_mul(p[0], p[0], p[1], MPFR_RNDN); /* the truth */
    mpfr_mul_ui(p[2], p[1], (unsigned long)k - 2, MPFR_RNDN);
    const long place[3] = {m, -m, 0};
    for (uint64_t i = 0; i < draws; i++)
        convolve(law, place, p, k > 2 ? 3 : 2);
    for (int i = 0; i < 3; i++)
        mpfr_clear(p[i]);
    free(p);
}

void reference_pure(reference *law, long m, uint64_t draws)
{
    reference_kary(law, m, 2, draws);
}

void reference_discrete_laplace(reference *law, long m, long shift, uint64_t draws)
{
    size_t atoms = (size_t)shift + 1;
    mpfr_t *p = new_masses(atoms), q, total;
    long *place = malloc(atoms * sizeof *place);
    if (!place)
        abort();
    mpfr_inits2(REFERENCE_BITS, q, total, (mpfr_ptr)0);
    exp_steps(q, law->step, -m);
    mpfr_add_ui(total, q, 1, MPFR_RNDN);
    for (long x = 0; x <= shift; x++) {
        /* x <= 0: one atom of all that lies left of both centres, and so on */
        mpfr_pow_si(p[x], q, x, MPFR_RNDN);
        if (x > 0 && x < shift) {
            mpfr_t rest;
            mpfr_init2(rest, REFERENCE_BITS);
            mpfr_ui_sub(rest, 1, q, MPFR_RNDN);
            mpfr_mul(p[x], p[x], rest, MPFR_RNDN);
            mpfr_clear(rest);
        }
        mpfr_div(p[x], p[x], total, MPFR_RNDN);
        place[x] = m * (shift - 2 * x);
    }
    for (uint64_t i = 0; i < draws; i++)
        convolve(law, place, p, atoms);
    for (size_t i = 0; i < atoms; i++)
        mpfr_clear(p[i]);
    free(p);
    free(place);
    mpfr_clears(q, total, (mpfr_ptr)0);
}

void reference_discrete_gaussian(reference *law, long m, long shift, uint64_t draws)
{
    double half = 0.5 * (double)m * law->step / (double)shift; /* 1/(2 sigma^2) */
    long reach = (long)ceil(sqrt(140 / half));
    size_t atoms = 2 * (size_t)reach + 1;
    mpfr_t *p = new_masses(atoms), total;
    long *place = malloc(atoms * sizeof *place);
    if (!place)
        abort();
    mpfr_init2(total, REFERENCE_BITS);
    mpfr_set_zero(total, 1);
    for (long x = -reach; x <= reach; x++) {
        mpfr_t *mass = &p[x + reach];
        mpfr_set_d(*mass, law->step, MPFR_RNDN);
        mpfr_mul_si(*mass, *mass, -m * x * x, MPFR_RNDN);
        mpfr_div_si(*mass, *mass, 2 * shift, MPFR_RNDN);
        mpfr_exp(*mass, *mass, MPFR_RNDN);
        mpfr_add(total, total, *mass, MPFR_RNDN);
        place[x + reach] = m * (shift - 2 * x) / 2; /* in steps */
    }
    for (size_t i = 0; i < atoms; i++)
        mpfr_div(p[i], p[i], total, MPFR_RNDN);
    for (uint64_t i = 0; i < draws; i++)
        convolve(law, place, p, atoms);
    for (size_t i = 0; i < atoms; i++)
        mpfr_clear(p[i]);
    free(p);
    free(place);
    mpfr_clear(total);
}

/* The m-fold integral from 0 of 2 sinh(t/2): sum over odd i of 2^{1-i} t^{i+m}/(i+m)!. */
static void folded_sine(mpfr_t out, const mpfr_t t, unsigned m)
{
    mpfr_t term;
    mpfr_init2(term, REFERENCE_BITS);
    mpfr_set_zero(out, 1);
    if (mpfr_sgn(t) > 0) {
        mpfr_set_ui(term, 1, MPFR_RNDN);
        for (unsigned i = 1; i <= m + 1; i++) { /* t^{m+1}/(m+1)! */
            mpfr_mul(term, term, t, MPFR_RNDN);
            mpfr_div_ui(term, term, i, MPFR_RNDN);
        }
        for (unsigned i = m + 1; i < 2000; i += 2) {
            mpfr_add(out, out, term, MPFR_RNDN);
            if (mpfr_get_exp(term) < mpfr_get_exp(out) - REFERENCE_BITS)
                break;
            mpfr_mul(term, term, t, MPFR_RNDN);
            mpfr_mul(term, term, t, MPFR_RNDN);
            mpfr_div_ui(term, term, (unsigned long)4 * (i + 1) * (i + 2), MPFR_RNDN);
        }
    }
    mpfr_clear(term);
}

/* Under the weight e^{-loss/2} a Laplace loss has (e^{-e/2}/2) [atoms at e and -e, and 1/2 dl
 * between]: i draws up, j down, and the others, whose sum is a spline of m = n - i - j truncated
 * powers. Adds everything from kind `kind` on; m so far, the distance above epsilon, the weight. */
static void add_laplaces(mpfr_t out, const double *epsilons, const unsigned *draws, unsigned kinds,
                         unsigned kind, unsigned spread, const mpfr_t above, const mpfr_t weight)
{
    mpfr_t next, share, ways;
    mpfr_inits2(REFERENCE_BITS, next, share, ways, (mpfr_ptr)0);
    if (kind == kinds) {
        folded_sine(next, above, spread);
        mpfr_mul(next, next, weight, MPFR_RNDN);
        mpfr_add(out, out, next, MPFR_RNDN);
    } else {
        unsigned n = draws[kind];
        for (unsigned i = 0; i <= n; i++)
            for (unsigned j = 0; i + j <= n; j++) {
                unsigned m = n - i - j;
                for (unsigned r = 0; r <= m; r++) { /* n!/(i! j! r! (m-r)!) (-1)^r 2^-m */
                    mpfr_fac_ui(share, n, MPFR_RNDN);
                    const unsigned parts[4] = {i, j, r, m - r};
                    for (int part = 0; part < 4; part++) {
                        mpfr_fac_ui(ways, parts[part], MPFR_RNDN);
                        mpfr_div(share, share, ways, MPFR_RNDN);
                    }
                    mpfr_div_2ui(share, share, m, MPFR_RNDN);
                    if (r % 2)
                        mpfr_neg(share, share, MPFR_RNDN);
                    mpfr_mul(share, share, weight, MPFR_RNDN);
                    mpfr_set_d(next, epsilons[kind], MPFR_RNDN);
                    mpfr_mul_si(next, next, (long)i - (long)j - 2 * (long)r + (long)m, MPFR_RNDN);
                    mpfr_add(next, next, above, MPFR_RNDN);
                    add_laplaces(out, epsilons, draws, kinds, kind + 1, spread + m, next, share);
                }
            }
    }
    mpfr_clears(next, share, ways, (mpfr_ptr)0);
}

void reference_laplace_delta(mpfr_t out, const reference *law, const double *epsilons,
                             const unsigned *draws, unsigned kinds, double epsilon)
{
    mpfr_t above, weight, part, top, place;
    mpfr_inits2(REFERENCE_BITS, above, weight, part, top, place, (mpfr_ptr)0);
    mpfr_set_zero(out, 1);
    mpfr_set_zero(top, 1);
    for (unsigned i = 0; i < kinds; i++) {
        mpfr_set_d(part, epsilons[i], MPFR_RNDN);
        mpfr_mul_ui(part, part, draws[i], MPFR_RNDN);
        mpfr_add(top, top, part, MPFR_RNDN);
    }
    for (size_t i = 0; i < law->count; i++) {
        mpfr_set_d(place, law->step, MPFR_RNDN);
        mpfr_mul_si(place, place, law->first + (long)i, MPFR_RNDN);
        mpfr_sub_d(above, place, epsilon, MPFR_RNDN); /* of the atom above epsilon */
        mpfr_neg(part, top, MPFR_RNDN);
        if (mpfr_zero_p(law->mass[i]) || mpfr_cmp(above, part) <= 0)
            continue;
        if (mpfr_cmp(above, top) >= 0) { /* all count: 1 - e^{-above} */
            mpfr_neg(part, above, MPFR_RNDN);
            mpfr_expm1(part, part, MPFR_RNDN);
            mpfr_neg(part, part, MPFR_RNDN);
        } else { /* e^{-above/2} prod (e^{-e/2}/2)^n times the sum */
            mpfr_set_zero(part, 1);
            mpfr_set_ui(weight, 1, MPFR_RNDN);
            add_laplaces(part, epsilons, draws, kinds, 0, 0, above, weight);
            mpfr_add(weight, above, top, MPFR_RNDN);
            mpfr_div_si(weight, weight, -2, MPFR_RNDN);
            mpfr_exp(weight, weight, MPFR_RNDN);
            for (unsigned kind = 0; kind < kinds; kind++)
                mpfr_div_2ui(weight, weight, draws[kind], MPFR_RNDN);
            mpfr_mul(part, part, weight, MPFR_RNDN);
        }
        mpfr_mul(part, part, law->mass[i], MPFR_RNDN);
        mpfr_add(out, out, part, MPFR_RNDN);
    }
    mpfr_clears(above, weight, part, top, place, (mpfr_ptr)0);
}

void reference_delta(mpfr_t out, const reference *law, double epsilon)
{
    mpfr_t loss, term;
    mpfr_inits2(REFERENCE_BITS, loss, term, (mpfr_ptr)0);
    mpfr_set_zero(out, 1);
    for (size_t i = 0; i < law->count; i++) {
        mpfr_set_d(loss, law->step, MPFR_RNDN);
        mpfr_mul_si(loss, loss, law->first + (long)i, MPFR_RNDN);
        if (mpfr_cmp_d(loss, epsilon) <= 0)
            continue;
        mpfr_d_sub(term, epsilon, loss, MPFR_RNDN);
        mpfr_expm1(term, term, MPFR_RNDN);
        mpfr_neg(term, term, MPFR_RNDN);
        mpfr_mul(term, term, law->mass[i], MPFR_RNDN);
        mpfr_add(out, out, term, MPFR_RNDN);
    }
    mpfr_clears(loss, term, (mpfr_ptr)0);
}
