/* Waves over tables: their sums against a closed form, started and turned; the nodes of laws with
 * tables, the same bits on every instruction set and after settling again. */
#include "check.h"

#include <stdlib.h>

#include "accountant/law/law.h"
#include "accountant/law/points.h"
#include "number/paths.h"

static const double unit = 0x1p-53;

/* A geometric series: sum over j of r^j e^{iy (a + bj)} e^{-y d j}, against its closed form. */
static void the_sum_of_waves_is_the_sum_of_a_geometric_series(void **unused)
{
    (void)unused;
    enum { POINTS = 200, ROOM = 208 };
    double loss[ROOM], decay[ROOM], weight[ROOM], re[ROOM], im[ROOM], turn_re[ROOM], turn_im[ROOM];
    const double a = -0.375, b = 0.0078125, d = 0.001953125, r = 0.9375, h = 0.25;
    double size = 0;
    for (int j = 0; j < POINTS; j++) {
        loss[j] = a + b * j;
        decay[j] = d * j;
        weight[j] = pow(r, j);
        size += weight[j];
    }
    for (int width = 2; width >= 0; width--) {
        brume_vector_limit(width);
        brume_waves waves = {.loss = loss, .decay = decay};
        brume_waves_start(&waves, POINTS, h, turn_re, turn_im);
        waves.weight = weight;
        for (int node = 0; node < 40; node++) {
            double y = node * h, sum_re, sum_im;
            if (node % 8 == 0) {
                brume_waves_start(&waves, POINTS, y, re, im);
                brume_waves_sum(re, im, ROOM, &sum_re, &sum_im);
            } else {
                brume_waves_turn(re, im, turn_re, turn_im, ROOM, &sum_re, &sum_im);
            }
            long double modulus = r * expl(-y * d), angle = y * b; /* e^{iya} (1-z^n)/(1-z) */
            long double top = powl(modulus, POINTS);
            long double up_re = 1 - top * cosl(POINTS * angle), up_im = -top * sinl(POINTS * angle);
            long double low_re = 1 - modulus * cosl(angle), low_im = -modulus * sinl(angle);
            long double norm = low_re * low_re + low_im * low_im;
            long double z_re = (up_re * low_re + up_im * low_im) / norm;
            long double z_im = (up_im * low_re - up_re * low_im) / norm;
            long double want_re = z_re * cosl(y * a) - z_im * sinl(y * a);
            long double want_im = z_im * cosl(y * a) + z_re * sinl(y * a);
            /* weights by 2, a start of 7, seven turns of 9, angles, 13 rows and 4 */
            double allowed = size * unit * (2 + 7 + 63 + 2 * y * 1.2 + 17);
            double off = hypot((double)(sum_re - want_re), (double)(sum_im - want_im));
            if (!(off <= allowed))
                fail_msg("width %d, node %d: %g, allowed %g", width, node, off, allowed);
        }
    }
    brume_vector_limit(2);
}

static void laws_with_tables_give_the_same_bits_on_every_path(void **unused)
{
    (void)unused;
    const brume_loss losses[] = {
        {.kind = BRUME_LOSS_POISSON_GAUSSIAN, .a = 0.8, .rate = 0.01},
        {.kind = BRUME_LOSS_POISSON_GAUSSIAN, .a = 5, .rate = 0.2},
        {.kind = BRUME_LOSS_DISCRETE_LAPLACE, .a = 0.05, .shift = 40},
        {.kind = BRUME_LOSS_DISCRETE_LAPLACE, .a = 0.5, .shift = 3},
        {.kind = BRUME_LOSS_DISCRETE_GAUSSIAN, .a = 0.7, .shift = 1},
        {.kind = BRUME_LOSS_POISSON_LAPLACE, .a = 2, .rate = 0.1},
    };
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
        for (int draws = 1; draws <= 30000; draws += 29999) {
            double first[3][44];
            int width = 2;
            for (; width >= 0; width--) {
                brume_vector_limit(width);
                brume_law law;
                brume_error error;
                assert_ok(brume_law_open(&losses[i], draws, i == 1, &law, &error));
                double *out = first[width], slope, bound;
                *out++ = (double)brume_law_cumulant(&law, 3.5, &slope, &bound);
                *out++ = slope;
                *out++ = bound;
                assert_true(brume_law_settle(&law, 3.25));
                for (long node = 0; node < 20; node++) {
                    brume_log_psi psi = brume_law_node(&law, node < 12 ? node : node * node, 0.125);
                    *out++ = psi.re + psi.im;
                    *out++ = psi.error;
                }
                *out++ = brume_law_envelope(&law, 2, 3);
                brume_law_close(&law);
            }
            brume_vector_limit(2);
            assert_memory_equal(first[0], first[1], sizeof first[0]);
            assert_memory_equal(first[0], first[2], sizeof first[0]);
        }
}

/* Settled again at one line, or at another and back: the same nodes. */
static void settling_again_changes_nothing(void **unused)
{
    (void)unused;
    const brume_loss loss = {.kind = BRUME_LOSS_POISSON_GAUSSIAN, .a = 1.5, .rate = 0.05};
    brume_law law;
    brume_error error;
    assert_ok(brume_law_open(&loss, 10, false, &law, &error));
    double cumulant_slope;
    brume_law_cumulant(&law, 40, &cumulant_slope, NULL); /* so that the table stands */
    assert_true(brume_law_settle(&law, 3.25));
    brume_log_psi first = brume_law_node(&law, 7, 0.125);
    double envelope = brume_law_envelope(&law, 2, 3);
    assert_true(brume_law_settle(&law, 3.25));
    brume_log_psi again = brume_law_node(&law, 7, 0.125);
    assert_true(brume_law_settle(&law, 4));
    brume_log_psi other = brume_law_node(&law, 7, 0.125);
    assert_true(brume_law_settle(&law, 3.25));
    brume_log_psi back = brume_law_node(&law, 7, 0.125);
    assert_memory_equal(&first, &again, sizeof first);
    assert_memory_equal(&first, &back, sizeof first);
    assert_true(other.re != first.re);
    assert_true(envelope == brume_law_envelope(&law, 2, 3));
    brume_law_cumulant(&law, 1000, &cumulant_slope, NULL); /* a larger table */
    assert_true(brume_law_settle(&law, 3.25));
    brume_log_psi larger = brume_law_node(&law, 7, 0.125);
    assert_true(fabs(larger.re - first.re) <= first.error + larger.error);
    brume_law_close(&law);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sum_of_waves_is_the_sum_of_a_geometric_series),
        cmocka_unit_test(laws_with_tables_give_the_same_bits_on_every_path),
        cmocka_unit_test(settling_again_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
