/* What the cards of many queries cost in rho, against the formulas of their proofs: neither less
 * nor twice as much. */
#include "check.h"

#include <brume/mechanism/expression.h>

static brume_error error;

static brume_cost cost_of(const char *text)
{
    brume_expression e = {0};
    brume_cost cost = {0};
    assert_ok(brume_expression_parse(text, BRUME_ADD_REMOVE, &e, &error));
    assert_ok(brume_event_cost(&e.events[0], &cost, &error));
    brume_expression_free(&e);
    return cost;
}

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mwem_costs_the_rho_of_its_rounds_and_records),
    };
    return cmocka_run_group_tests_name("many_query_cost", tests, NULL, NULL);
}
