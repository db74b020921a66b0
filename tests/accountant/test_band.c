/* The band-limited functions that end a line: against
 * their definitions, against exact sums in MPFR, and with mutants that must fail. */
#include "check.h"

#include <math.h>

#include "accountant/contour/line.h"
#include "accountant/reference.h"

static const struct {
    double c, width;
} cases[] = {{3, 0.2}, {0.25, 0.3}, {5, 0.0625}, {0.125, 0.5}, {40, 0.015625}, {1, 0.4}};
enum { CASES = sizeof cases / sizeof *cases };

static long double f_at(double c, long double x)
{
    return x > 0 ? -expm1l(-x) * expl(-c * x) : 0;
}

/* sum over n >= 0 of [f(x_n) + f'(x_n)(x - x_n)] sinc^2((x - x_n)/w), x_n = w(n + offset); at the
 * kink the slope is `kink`. */
static long double interpolate(double c, long double w, long double offset, long double kink,
                               long double x)
{
    long double sum = 0;
    for (int n = 0; n < 60 / (c * (double)w); n++) {
        long double at = w * (n + offset), d = x - at, angle = M_PIl * d / w;
        long double sinc = fabsl(angle) < 1e-9L ? 1 : sinl(angle) / angle;
        long double slope = n == 0 && offset == 0 ? kink
                                                  : expl(-c * at) * ((c + 1) * expl(-at) - c);
        sum += (f_at(c, at) + slope * d) * sinc * sinc;
    }
    return sum;
}

/* The lowest of M - f and of f - m over many places. */
static void lowest(double c, double w, long double offset, long double kink, long double *above,
                   long double *below)
{
    *above = *below = 1;
    for (double x = -30.3 * w; x < 30 * w; x += 0.31 * w) {
        *above = fminl(*above, interpolate(c, w, offset, 0, x) - f_at(c, x));
        *below = fminl(*below, f_at(c, x) - interpolate(c, w, 0, kink, x));
    }
}

static void the_two_functions_hold_f_between_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        brume_band band;
        brume_band_open(cases[i].width, cases[i].c, &band);
        double c = cases[i].c, w = band.width;
        long double kink = 1 - (long double)band.slope / w, above, below;
        /* a and slope are rounded: w^2 units; interpolation sums: 1e-17 */
        lowest(c, w, band.offset, kink, &above, &below);
        assert_true(above >= -1e-17L && below >= -1e-17L);
        /* mutants: a little to either side, and neither is a bound */
        long double others[4];
        lowest(c, w, band.offset + 0.01L, kink + 0.01L, &others[0], &others[1]);
        lowest(c, w, band.offset - 0.01L, kink - 0.01L, &others[2], &others[3]);
        for (int j = 0; j < 4; j++)
            assert_true(others[j] < -1e-9L * w);
    }
}

static void the_transforms_are_theirs(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        brume_band band;
        brume_band_open(cases[i].width, cases[i].c, &band);
        double c = cases[i].c, w = band.width, h = (double)(float)(band.end / 8000);
        long double kink = 1 - (long double)band.slope / w;
        for (double x = -3.3 * w; x < 8 * w; x += 0.71 * w) {
            long double upper = 0, lower = 0;
            for (int n = 0; n * h < band.end; n++) {
                brume_band_pair k = brume_band_at(&band, n * h);
                long double co = cosl(n * h * (long double)x), s = sinl(n * h * (long double)x);
                upper += (n ? 1 : 0.5L) * (k.upper_re * co - k.upper_im * s);
                lower += (n ? 1 : 0.5L) * (k.lower_re * co - k.lower_im * s);
            }
            /* aliases at distances of 8000 w: below w 1e-8 */
            assert_true(fabsl(upper * h / M_PIl - interpolate(c, w, band.offset, 0, x)) <
                        1e-7L * w);
            assert_true(fabsl(lower * h / M_PIl - interpolate(c, w, 0, kink, x)) < 1e-7L * w);
        }
        /* the integrals of M - f and f - m */
        brume_band_pair all = brume_band_at(&band, 0);
        double whole = 1 / (c * (c + 1)), above = all.upper_re - whole,
               below = whole - all.lower_re;
        assert_true(above > 0 && above <= 1.05 * w * w / 24 && above >= 0.85 * w * w / 24);
        assert_true(below > 0 && below <= w * w / 12 && below >= 0.85 * w * w / 12);
        assert_true(all.error < 1e-13 * whole);
    }
}

static void weights_bound_the_moduli(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        brume_band band;
        brume_band_open(cases[i].width, cases[i].c, &band);
        double h = band.end / 997, sum = 0, most = 0;
        int from = 3;
        for (int n = from + 1; n < 997; n++) {
            brume_band_pair k = brume_band_at(&band, n * h);
            double size = fmax(hypot(k.upper_re, k.upper_im), hypot(k.lower_re, k.lower_im));
            sum += size * h / M_PI;
            double weight = brume_band_weight(&band, from * h, n * h);
            assert_true(sum <= weight);
            most = fmax(most, sum / weight);
        }
        assert_true(most > 0.02); /* and not by far */
    }
}

static brume_law open_law(brume_loss loss, double count)
{
    brume_law law;
    brume_error error;
    assert_ok(brume_law_open(&loss, count, false, &law, &error));
    return law;
}

static double fraction(unsigned k, double factor)
{
    double x = (k + 1) * factor;
    return x - floor(x);
}

/* Laws of every kind that lie on one lattice, laid as if they did not: exact sums in MPFR. */
static void banded_lines_contain_exact_sums(void **state)
{
    (void)state;
    mpfr_t exact;
    mpfr_init2(exact, REFERENCE_BITS);
    unsigned checked = 0;
    for (unsigned trial = 0; trial < 150; trial++) {
        double step = ldexp(8 + floor(100 * fraction(trial, 0.7548776662)), -9);
        reference law = reference_zero(step);
        brume_law laws[3];
        size_t count = 1 + trial % 3;
        double top = 0;
        for (size_t i = 0; i < count; i++) {
            long m = 1 + (long)((trial + i) % 4);
            uint64_t draws = 1 + (trial / 3 + 5 * i) % 12;
            brume_loss loss = {.kind = BRUME_LOSS_PURE, .a = step * (double)m};
            if ((trial + i) % 3 == 0) {
                loss.kind = BRUME_LOSS_KARY;
                loss.shift = 3 + trial % 5;
                reference_kary(&law, m, loss.shift, draws);
            } else if ((trial + i) % 3 == 1) {
                loss.kind = BRUME_LOSS_DISCRETE_LAPLACE;
                loss.shift = 1 + trial % 4;
                reference_discrete_laplace(&law, m, (long)loss.shift, draws);
            } else {
                reference_pure(&law, m, draws);
            }
            laws[i] = open_law(loss, (double)draws);
            top += laws[i].top * (double)draws;
        }
        double epsilon = top * (0.05 + 0.85 * fraction(trial, 0.5698402910));
        if (trial % 10 == 0) /* on an atom, where f has its kink */
            epsilon = step * (double)(law.first + (long)law.count - 1 - (long)(trial % 7));
        reference_delta(exact, &law, epsilon);
        for (double share = 1; share > 0.01 && epsilon >= 0; share /= 5) {
            brume_line line = {.laws = laws, .law_count = count};
            brume_line_aim(&line, epsilon);
            line.unit = 0;
            line.width = share / fmax(line.c, 0.5);
            assert_true(brume_line_lay(&line, epsilon, brume_line_size(&line, epsilon)));
            double lower, upper;
            brume_line_certify(&line, epsilon, &lower, &upper);
            if (!(mpfr_cmp_d(exact, lower) >= 0 && mpfr_cmp_d(exact, upper) <= 0))
                fail_msg("trial %u share %g: %.17g not in [%.17g, %.17g]", trial, share,
                         mpfr_get_d(exact, MPFR_RNDN), lower, upper);
            checked++;
            brume_line_close(&line);
        }
        for (size_t i = 0; i < count; i++)
            brume_law_close(&laws[i]);
        reference_clear(&law);
    }
    mpfr_clear(exact);
    assert_true(checked >= 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_two_functions_hold_f_between_them),
        cmocka_unit_test(the_transforms_are_theirs),
        cmocka_unit_test(weights_bound_the_moduli),
        cmocka_unit_test(banded_lines_contain_exact_sums),
    };
    return cmocka_run_group_tests_name("accountant band", tests, NULL, NULL);
}
