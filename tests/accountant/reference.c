/* See the header. Plain sums; slow and simple on purpose. */
#include "accountant/reference.h"

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
