/* The transform of a subsampled Gaussian at single nodes: against sums in long doubles on another
 * line of a finer step, in both orders; a table with a fault built in is rejected. */
#include "check.h"

#include <complex.h>
#include <math.h>

#include "accountant/draws.h"
#include "accountant/law/sampled_gaussian.h"

/* psi(y) - 1 by the definition, at 0.7 of the height and 0.45 of the step of the law's own rule. */
static long double complex reference(const brume_law *law, double y)
{
    const brume_sampled_tables *tables = brume_sampled_tables_of(law);
    const brume_points *p = &tables->moved;
    long double square = (long double)law->a * law->a, q = law->rate, c = law->c;
    long double height = (law->reversed ? -0.7L : 0.7L) * tables->height;
    double low = p->place[0] - law->a, high = p->place[p->count - 1] + law->a;
    long double complex sum = 0, whole = 0, turned = I * (long double)(law->reversed ? -y : y);
    for (double x = low; x < high; x += 0.45 * tables->moved_step) {
        long double complex at = x + I * height;
        long double complex loss = clogl(1 - q + q * cexpl((2 * at - 1) / (2 * square)));
        long double complex mass =
            cexpl((law->reversed ? -c : c + 1) * loss - at * at / (2 * square));
        whole += mass;
        sum += mass * (cexpl(turned * loss) - 1);
    }
    return sum / whole;
}

static long double complex log_of(long double complex less) /* log(1 + less) */
{
    if (cabsl(less) > 1e-3L)
        return clogl(1 + less);
    long double complex sum = 0, power = less;
    for (int i = 1; i <= 7; i++, power *= -less)
        sum += power / i;
    return sum;
}

/* |log psi - reference| over the claimed bound, at one node */
static double off(brume_law *law, long index, double h)
{
    brume_log_psi psi = brume_law_node(law, index, h);
    if (!(psi.error <= 0.15))
        return 0;
    long double complex exact = log_of(reference(law, (double)index * h));
    double im = remainder(psi.im - (double)cimagl(exact), 2 * M_PI);
    return hypot(psi.re - (double)creall(exact), im) / psi.error;
}

static brume_law opened(bool reversed, double *h)
{
    double rate = uniform() < 0.25 ? 1 - between(1e-3, 0.5) : between(1e-5, 0.9);
    double sigma = between(0.25, 20), c = (double)(float)between(0.05, 60 * fmin(sigma, 2));
    brume_loss loss = {.kind = BRUME_LOSS_POISSON_GAUSSIAN, .a = sigma, .rate = rate};
    brume_law law;
    assert_int_equal(brume_law_open(&loss, 1, reversed, &law, NULL), BRUME_OK);
    assert_true(brume_law_settle(&law, c));
    *h = (double)(float)between(1e-3, 1);
    return law;
}

static void nodes_are_within_their_error_of_finer_sums(void **state)
{
    (void)state;
    draws_state = 7;
    size_t compared = 0;
    for (int i = 0; i < 240; i++) {
        double h;
        brume_law law = opened(i % 2 == 1, &h);
        long far = (long)between(1, 1000);
        for (long k = 0; k < 40 && brume_sampled_tables_of(&law)->moved.live > 0; k++) {
            long index = k < 20 ? k : far + k; /* in order, with one jump */
            if (k % 7 == 0 || k == 15 || k == 35) {
                double ratio = off(&law, index, h);
                if (!(ratio <= 1))
                    fail_msg("rate %.17g sigma %.17g c %.17g h %.17g reversed %d node %ld: %.3g",
                             law.rate, law.a, law.c, h, law.reversed, index, ratio);
                compared += ratio > 0;
            } else {
                brume_law_node(&law, index, h);
            }
        }
        brume_law_close(&law);
    }
    assert_true(compared > 1000);
}

static void a_table_with_a_fault_is_rejected(void **state)
{
    (void)state;
    draws_state = 7;
    size_t rejected = 0;
    for (int i = 0; i < 40; i++) {
        double h, worst = 0;
        brume_law law = opened(i % 2 == 1, &h);
        for (size_t j = 0; j < brume_sampled_tables_of(&law)->moved.live;
             j++) /* all losses, by a ten-billionth */
            brume_sampled_tables_of(&law)->moved.atom[j] *= 1 + 1e-10;
        for (long k = 0; k < 16 && brume_sampled_tables_of(&law)->moved.live > 0; k++)
            worst = fmax(worst, off(&law, k, h));
        rejected += worst > 1;
        brume_law_close(&law);
    }
    assert_true(rejected >= 35);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_are_within_their_error_of_finer_sums),
        cmocka_unit_test(a_table_with_a_fault_is_rejected),
    };
    return cmocka_run_group_tests_name("accountant sampled nodes", tests, NULL, NULL);
}
