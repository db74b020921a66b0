/* One subsampled Gaussian beside lattice laws and Laplaces: sums of a table against sums and
 * quadratures of the definition in long doubles, both orders; against the sums over cells, which
 * share nothing but the closed form; and sums with a fault built in, which the same comparisons
 * reject. */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include "accountant/draws.h"
#include "accountant/masses.h"
#include "accountant/once.h"
#include "accountant/once_sum.h"
#include "accountant/terms.h"

/* --- the draw, from its definition --- */

static long double closed_delta(const brume_law *law, long double epsilon)
{
    if (law->rate == 0) /* no draw */
        return epsilon < 0 ? -expm1l(epsilon) : 0;
    long double q = law->rate, sigma = law->a, y = law->reversed ? -epsilon : epsilon;
    long double v = (expm1l(y) + q) / q, root = sqrtl(2) * sigma;
    if (!(v > 0))
        return law->reversed ? 0 : -expm1l(epsilon);
    long double place = sigma * sigma * logl(v) + 0.5L, sign = law->reversed ? -1 : 1;
    long double zero = erfcl(sign * place / root) / 2, one = erfcl(sign * (place - 1) / root) / 2;
    return fmaxl(0, law->reversed ? zero * (q - expm1l(epsilon) * (1 - q)) - expl(epsilon) * q * one
                                  : q * one - (expm1l(epsilon) + q) * zero);
}

static const long double nodes[5] = {0.1488743389816312108848L, 0.4333953941292471907993L,
                                     0.6794095682990244062343L, 0.8650633666889845107321L,
                                     0.9739065285171717200780L};
static const long double weights[5] = {0.2955242247147528701739L, 0.2692667193099963550912L,
                                       0.2190863625159820439955L, 0.1494513491505805931458L,
                                       0.0666713443086881375936L};

enum { MOST_OTHERS = 3 };

typedef struct setting {
    brume_law sampled; /* of rate 0: none */
    brume_term others[MOST_OTHERS];
    size_t count;
    double laplace; /* epsilon; 0: none */
    int draws;      /* of it: up to 2 */
} setting;

static long double beside_laplaces(const setting *s, long double epsilon, int draws);

static int by_size(const void *a, const void *b)
{
    long double x = *(const long double *)a, y = *(const long double *)b;
    return (x > y) - (x < y);
}

/* The part of a Laplace's loss that has a density: panels that shrink towards every kink. */
static long double smeared(const setting *s, long double epsilon, int draws)
{
    enum { CUTS = 400 };
    long double e = s->laplace, cut[CUTS], sum = 0;
    size_t count = 0;
    int levels = draws > 1 ? 10 : 32, pieces = draws > 1 ? 1 : 2;
    cut[count++] = -e;
    cut[count++] = e;
    long double corner = log1pl(-(long double)s->sampled.rate) * (s->sampled.reversed ? -1 : 1);
    for (int kink = -1; kink <= 1; kink++) {
        if (kink != 0 && draws == 1)
            continue;
        long double at = epsilon - corner - (long double)kink * e, reach = 2 * e;
        for (int i = 0; i <= levels; i++, reach *= 0.45L)
            for (int side = -1; side <= 1; side++) {
                long double place = at + (long double)side * reach;
                if (place > -e && place < e && (side != 0 || i == 0))
                    cut[count++] = place;
            }
    }
    qsort(cut, count, sizeof *cut, by_size);
    for (size_t i = 0; i + 1 < count; i++)
        for (int p = 0; p < pieces; p++) {
            long double half = (cut[i + 1] - cut[i]) / (2 * pieces);
            long double middle = cut[i] + half * (2 * p + 1);
            for (int j = 0; j < 10; j++) {
                long double l = middle + (j < 5 ? half : -half) * nodes[j % 5];
                sum += half * weights[j % 5] * expl((l - e) / 2) / 4 *
                       beside_laplaces(s, epsilon - l, draws - 1);
            }
        }
    return sum;
}

static long double beside_laplaces(const setting *s, long double epsilon, int draws)
{
    if (draws == 0)
        return closed_delta(&s->sampled, epsilon);
    long double e = s->laplace;
    return beside_laplaces(s, epsilon - e, draws - 1) / 2 +
           expl(-e) * beside_laplaces(s, epsilon + e, draws - 1) / 2 + smeared(s, epsilon, draws);
}

/* --- lattice laws, from their definitions --- */

/* All draws of one term beside what comes after it. */
static long double reference(const setting *s, size_t at, long double epsilon)
{
    if (at >= s->count || at >= MOST_OTHERS)
        return beside_laplaces(s, epsilon, s->draws);
    const brume_loss *loss = &s->others[at].cost.law;
    long double n = (long double)s->others[at].count, a = loss->a, sum = 0, least = 1e-32L;
    if (loss->kind == BRUME_LOSS_PURE) {
        for (long double j = 0; j <= n; j++) { /* j draws down */
            long double mass = expl(lgammal(n + 1) - lgammal(j + 1) - lgammal(n - j + 1) - j * a -
                                    n * log1pl(expl(-a)));
            if (mass > least)
                sum += mass * reference(s, at + 1, epsilon - (n - 2 * j) * a);
        }
    } else if (loss->kind == BRUME_LOSS_KARY) {
        long double other = 1 / (expl(a) + loss->shift - 1);
        for (long double up = 0; up <= n; up++)
            for (long double down = 0; up + down <= n; down++) {
                long double rest = n - up - down, middle = (loss->shift - 2) * other;
                if (middle == 0 && rest > 0)
                    continue;
                long double mass = expl(lgammal(n + 1) - lgammal(up + 1) - lgammal(down + 1) -
                                        lgammal(rest + 1) + (up + down) * logl(other) + up * a +
                                        (rest > 0 ? rest * logl(middle) : 0));
                if (mass > least)
                    sum += mass * reference(s, at + 1, epsilon - (up - down) * a);
            }
    } else { /* the discrete Gaussian, only as the first: the sum of n by convolution */
        enum { MOST = 1200 };
        static long double mass[2 * MOST + 1], next[2 * MOST + 1];
        long double sigma = a, normal = 0;
        long reach = (long)ceill(13 * a) + 1, range = 0;
        assert_true(reach * (long)n <= MOST);
        for (long x = -reach; x <= reach; x++)
            normal += expl(-(long double)x * (long double)x / (2 * sigma * sigma));
        for (long x = -MOST; x <= MOST; x++)
            mass[x + MOST] = x == 0;
        for (long i = 0; i < (long)n; i++, range += reach) {
            for (long x = -MOST; x <= MOST; x++)
                next[x + MOST] = 0;
            for (long x = -range; x <= range; x++)
                for (long y = -reach; y <= reach; y++)
                    next[x + y + MOST] +=
                        mass[x + MOST] *
                        (expl(-(long double)y * (long double)y / (2 * sigma * sigma)) / normal);
            for (long x = -MOST; x <= MOST; x++)
                mass[x + MOST] = next[x + MOST];
        }
        long double shift = loss->shift, step = shift / (sigma * sigma);
        for (long x = -range; x <= range; x++)
            if (mass[x + MOST] > least)
                sum += mass[x + MOST] *
                       reference(s, at + 1, epsilon - step * (n * shift / 2 - (long double)x));
    }
    return sum;
}

static size_t laws_of(const setting *s, brume_law *laws)
{
    brume_error error;
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++, count++)
        assert_ok(brume_law_open(&s->others[i].cost.law, (double)s->others[i].count,
                                 s->sampled.reversed, &laws[count], &error));
    brume_term term = laplace(s->laplace, 1);
    if (s->draws > 0)
        assert_ok(
            brume_law_open(&term.cost.law, s->draws, s->sampled.reversed, &laws[count++], &error));
    return count;
}

static setting random_setting(int draws, bool none)
{
    setting s = {.sampled = {.kind = BRUME_LAW_SAMPLED, .count = 1}};
    s.sampled.a = between(0.3, 6);
    s.sampled.rate = none ? 0 : between(1e-4, 0.7);
    s.sampled.reversed = uniform() < 0.5;
    s.draws = draws;
    s.laplace = draws > 0 ? between(0.02, 1) : 0;
    s.count = draws == 2 ? 0 : draws == 0 && uniform() < 0.4 ? 2 : 1;
    for (size_t i = 0; i < s.count; i++) {
        double choice = uniform() * (i > 0 ? 0.75 : 1), spread = between(0.05, 0.6);
        uint64_t n = draws > 0 ? 1 + (uint64_t)(4 * uniform())
                               : (uint64_t)between(1, i > 0 ? 20 : 3000);
        if (choice < 0.5) {
            s.others[i] = pure(spread / sqrt((double)n), n);
        } else if (choice < 0.75) {
            n = n % 9 + 1;
            s.others[i] = kary(spread / sqrt((double)n), 2 + (uint64_t)(4 * uniform()), n);
        } else {
            n = n % 3 + 1;
            double sigma = uniform() < 0.5 ? between(0.5, 2) : fmin(sqrt((double)n) / spread, 20);
            s.others[i] = discrete_gaussian(sigma, 1 + (uint64_t)(2 * uniform()), n);
        }
    }
    return s;
}

/* A reference is off by its quadrature and rounding. */
static bool below_reference(double value, long double exact, double off)
{
    return value <= exact * (1 + off) + 1e-27L;
}

static bool above_reference(double value, long double exact, double off)
{
    return value >= exact * (1 - off) - 1e-27L;
}

static void sums_enclose_references(void **state)
{
    (void)state;
    draws_state = 21;
    unsigned checked = 0, sharp = 0, swapped = 0, moved = 0, plain = 0;
    for (int i = 0; i < 92; i++) {
        int draws = i % 46 < 28 ? 0 : i % 46 < 44 ? 1 : 2;
        bool none = i >= 46;
        setting s = random_setting(draws, none);
        brume_law laws[4];
        size_t count = laws_of(&s, laws);
        double epsilon = between(0.01, none ? 1 : 3), off = draws == 2 ? 1e-9 : 1e-11;
        long double exact = reference(&s, 0, epsilon);
        brume_once_sum *sum = exact > 1e-16L
                                  ? brume_once_sum_open(none ? NULL : &s.sampled, laws, count,
                                                        epsilon, (double)exact, 1e7)
                                  : NULL;
        if (sum) {
            double upper = brume_once_sum_delta(sum, epsilon, BRUME_UPPER_SIDE);
            double lower = brume_once_sum_delta(sum, epsilon, BRUME_LOWER_SIDE);
            if (!above_reference(upper, exact, off) || !below_reference(lower, exact, off))
                fail_msg("trial %d: %.17Lg not in [%.17g, %.17g]", i, exact, lower, upper);
            sharp += upper - lower <= 1e-9 * upper;
            checked++;
            plain += none;
            /* below its least epsilon nothing is said */
            assert_true(brume_once_sum_delta(sum, epsilon - 1e-3, BRUME_UPPER_SIDE) == 1);
            assert_true(brume_once_sum_delta(sum, epsilon - 1e-3, BRUME_LOWER_SIDE) == 0);
            setting other = s; /* the faults: the other order; a rate or epsilon a little off */
            other.sampled.reversed = !s.sampled.reversed;
            long double wrong = draws == 2 || none ? 0 : reference(&other, 0, epsilon);
            swapped += !above_reference(upper, wrong, off) || !below_reference(lower, wrong, off);
            other = s;
            other.sampled.rate *= 1 + 1e-7;
            wrong = draws == 2 ? 0 : reference(&other, 0, epsilon * (none ? 1 + 1e-8 : 1));
            moved += !above_reference(upper, wrong, off) || !below_reference(lower, wrong, off);
        }
        brume_once_sum_close(sum);
        for (size_t j = 0; j < count; j++)
            brume_law_close(&laws[j]);
    }
    print_message("# %u checked, %u without a draw, %u sharp, %u swapped and %u moved rejected\n",
                  checked, plain, sharp, swapped, moved);
    assert_true(checked >= 60 && plain >= 25 && sharp >= checked * 9 / 10);
    assert_true(swapped >= checked * 8 / 10 && moved >= checked / 2);
}

/* Several Laplace draws, of two kinds, beside a pure one: against cells. */
static void several_laplaces_agree_with_cells(void **state)
{
    (void)state;
    draws_state = 22;
    unsigned checked = 0, sharp = 0, rejected = 0;
    for (int i = 0; i < 30; i++) {
        brume_law laws[4];
        brume_error error;
        bool reversed = uniform() < 0.5;
        brume_term terms[4] = {
            poisson_gaussian(between(1e-3, 0.5), between(0.4, 4), 1),
            laplace(between(0.02, 0.6), 1 + (uint64_t)(8 * uniform())),
            pure(between(0.01, 0.3), 1 + (uint64_t)(3 * uniform())),
            laplace(between(0.02, 0.6), 1 + (uint64_t)(2 * uniform())),
        };
        for (int j = 0; j < 4; j++)
            assert_ok(brume_law_open(&terms[j].cost.law, (double)terms[j].count, reversed, &laws[j],
                                     &error));
        double epsilon = between(0.05, 3);
        brume_once *cells = brume_once_open(laws, 4, 1e-12);
        brume_once *table = brume_once_open_table(laws, 4, epsilon, 1e-12, 1e7);
        if (cells && table) {
            brume_answer wide = {.value = {0, 1}}, own = {.value = {0, 1}};
            brume_closed form = brume_once_form(cells);
            bool refined = brume_once_refine(cells, epsilon, 400) &&
                           brume_once_refine(cells, epsilon, 3000);
            brume_closed_delta(&form, epsilon, &wide);
            form = brume_once_form(table);
            brume_closed_delta(&form, epsilon, &own);
            if (refined && wide.value.upper > 1e-11) {
                assert_true(own.value.lower <= wide.value.upper);
                assert_true(own.value.upper >= wide.value.lower);
                double width = own.value.upper - own.value.lower;
                sharp += width <= 1e-9 * own.value.upper;
                checked++;
                /* a Laplace that is off by a thousandth */
                laws[1].a *= 1.001;
                brume_once *wrong = brume_once_open_table(laws, 4, epsilon, 1e-12, 1e7);
                laws[1].a /= 1.001;
                assert_non_null(wrong);
                form = brume_once_form(wrong);
                brume_answer far = {.value = {0, 1}};
                brume_closed_delta(&form, epsilon, &far);
                rejected += far.value.lower > wide.value.upper;
                brume_once_close(wrong);
            }
        }
        brume_once_close(cells);
        brume_once_close(table);
        for (int j = 0; j < 4; j++)
            brume_law_close(&laws[j]);
    }
    print_message("# %u checked, %u sharp, %u faults rejected\n", checked, sharp, rejected);
    assert_true(checked >= 15 && sharp >= checked * 9 / 10 && rejected >= checked / 2);
}

/* Masses of many draws: binomial ones against lgamma, discrete Gaussians' sums against squaring. */
static void masses_are_within_their_errors(void **state)
{
    (void)state;
    draws_state = 23;
    for (int i = 0; i < 40; i++) {
        brume_law law;
        brume_error error;
        double a = between(1e-5, 2), n = floor(between(1, 1e6)), work = 0;
        bool binary = i % 4 == 3;
        brume_term term = binary ? term_of(BRUME_LOSS_POISSON_PURE, a, between(0.01, 0.9), 0, 1)
                                 : pure(a, 1);
        assert_ok(brume_law_open(&term.cost.law, n, i % 8 == 7, &law, &error));
        brume_masses m;
        assert_true(brume_masses_open(&law, 60, 1e6, &work, &m));
        long double lean = binary ? 2 * law.lean : (long double)a, sum = 0;
        for (size_t j = 0; j < m.count; j++) {
            long double down = (long double)n / 2 - m.half + (long double)j;
            long double exact = expl(lgammal(n + 1.0L) - lgammal(down + 1) - lgammal(n - down + 1) -
                                     down * lean - n * log1pl(expl(-lean)));
            if (!(fabsl(m.mass[j] - exact) <= (m.error + 1e-17 * n + 1e-15) * exact))
                fail_msg("a %g n %g j %zu: %g and %Lg, error %g", a, n, j, m.mass[j], exact,
                         m.error);
            sum += m.mass[j];
        }
        assert_true(fabsl(sum - 1) <= m.error + m.missed && m.missed <= 1e-20);
        assert_true(m.error <= 1e-10);
        brume_masses_close(&m);
        brume_law_close(&law);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_enclose_references),
        cmocka_unit_test(several_laplaces_agree_with_cells),
        cmocka_unit_test(masses_are_within_their_errors),
    };
    return cmocka_run_group_tests_name("accountant once sum", tests, NULL, NULL);
}
