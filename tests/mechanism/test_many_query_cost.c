/* What the cards of many queries cost in rho, against the formulas of their proofs: neither less
 * nor twice as much. */
#include "cost_of.h"

#include <mpfr.h>

#include <brume/mechanism/expression.h>

/* T (e^2/8 + e tanh(e/2)) + s tanh(s/2), e = epsilon (1 - share)/(2T), s = epsilon share.
 * Rejects: e of one half of the rounds, or of the share of the records. */
static void mwem_costs_the_rho_of_its_rounds_and_records(void **state)
{
    (void)state;
    static const double epsilons[] = {.2, 1, 4}, rounds[] = {1, 10, 200}, shares[] = {.01, .05, .3};
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++)
            for (size_t k = 0; k < 3; k++) {
                char text[160];
                snprintf(text, sizeof text, "mwem(epsilon=%.17g, rounds=%g, records_share=%.17g)",
                         epsilons[i], rounds[j], shares[k]);
                double s = epsilons[i] * shares[k];
                double e = (epsilons[i] - s) / (2 * rounds[j]);
                double rho = rounds[j] * (e * e / 8 + e * tanh(e / 2)) + s * tanh(s / 2);
                double pure = epsilons[i] * tanh(epsilons[i] / 2);
                brume_cost cost = cost_of(text);
                assert_true(cost.epsilon == epsilons[i]);
                assert_close(cost.rho, fmin(rho, pure), 1e-12);
                assert_holds(cost.rho >= fmin(rho, pure) * (1 - 1e-15));
            }
}

/* rho += times x tanh(x/2), x = num/den: what pure epsilon-DP costs, with 300 bits. */
static void add_pure_rho(mpfr_t rho, double num, double den, double times)
{
    mpfr_t x, y;
    mpfr_inits2(300, x, y, (mpfr_ptr)NULL);
    mpfr_set_d(x, num, MPFR_RNDN);
    mpfr_div_d(x, x, den, MPFR_RNDN);
    mpfr_div_2ui(y, x, 1, MPFR_RNDN);
    mpfr_tanh(y, y, MPFR_RNDN);
    mpfr_mul(y, y, x, MPFR_RNDN);
    mpfr_mul_d(y, y, times, MPFR_RNDN);
    mpfr_add(rho, rho, y, MPFR_RNDN);
    mpfr_clears(x, y, (mpfr_ptr)NULL);
}

/* Rejects: a step of the sum that is rounded down. */
static void streams_cost_no_less_than_their_exact_rho(void **state)
{
    (void)state;
    for (int i = 0; i < 400; i++) {
        double epsilon = 0.05 + 0.0137 * i, answers = 0.9 - 0.0017 * i, hits = 1 + i % 37;
        char text[200];
        mpfr_t rho;
        mpfr_init2(rho, 300);
        mpfr_set_ui(rho, 0, MPFR_RNDN);
        snprintf(text, sizeof text, "sparse_vector(epsilon=%.17g, hits=%g, epsilon_answers=%.17g)",
                 epsilon, hits, answers);
        add_pure_rho(rho, epsilon, 1, 1);
        add_pure_rho(rho, answers, hits, hits);
        brume_cost cost = cost_of(text);
        assert_true(mpfr_cmp_d(rho, cost.rho) <= 0);
        assert_close(cost.rho, mpfr_get_d(rho, MPFR_RNDN), 1e-14);
        assert_true((long double)cost.epsilon >= (long double)epsilon + answers); /* exact */
        snprintf(text, sizeof text, "multiplicative_weights(epsilon=%.17g, hits=%g)", epsilon,
                 hits);
        mpfr_t three;
        mpfr_init2(three, 300);
        mpfr_set_d(three, epsilon, MPFR_RNDN);
        mpfr_sub_d(three, three, epsilon / 4, MPFR_RNDN);
        mpfr_div_2ui(rho, three, 1, MPFR_RNDN);
        mpfr_tanh(rho, rho, MPFR_RNDN);
        mpfr_mul(rho, rho, three, MPFR_RNDN);
        mpfr_clear(three);
        add_pure_rho(rho, epsilon / 4, hits, hits);
        cost = cost_of(text);
        assert_true(mpfr_cmp_d(rho, cost.rho) <= 0);
        assert_close(cost.rho, mpfr_get_d(rho, MPFR_RNDN), 1e-14);
        mpfr_clear(rho);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mwem_costs_the_rho_of_its_rounds_and_records),
        cmocka_unit_test(streams_cost_no_less_than_their_exact_rho),
    };
    return cmocka_run_group_tests_name("many_query_cost", tests, NULL, NULL);
}
