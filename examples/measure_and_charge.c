/* Measure and charge: a count with noise, whose cost comes from the mechanism's card and is charged
 * to a budget before the noise is drawn. */
#include <brume/brume.h>

#include "must.h"

int main(void)
{
    brume_error error;
    brume_decimal epsilon;
    brume_filter budget;
    brume_expression expression;
    brume_cost cost;
    brume_charge charge;
    brume_bits *bits = NULL;
    const int64_t people = 1204;
    int64_t released;

    /* A budget of 1, and the mechanism: discrete Laplace noise of scale 5 on a count. */
    must(brume_decimal_parse("1", &epsilon, &error), &error);
    must(brume_filter_make(BRUME_RULE_PURE, &epsilon, NULL, NULL, &budget, &error), &error);
    must(brume_expression_parse("discrete_laplace(scale=5)", BRUME_ADD_REMOVE, &expression, &error),
         &error);

    /* Charge first: what it costs, 1/5, from its card; if it does not fit, nothing is drawn. */
    must(brume_event_cost(&expression.events[0], &cost, &error), &error);
    must(brume_charge_cost(budget.rule, &cost, 1, &charge, &error), &error);
    must(brume_filter_charge(&budget, &charge, &error), &error);

    /* Then measure. */
    must(brume_bits_open(&bits, &error), &error);
    must(brume_discrete_laplace_add(bits, 5, &people, &released, 1, &error), &error);
    printf("about %lld people, for epsilon %.9g; spent so far: %.9g of 1\n", (long long)released,
           cost.epsilon, brume_decimal_upper(&budget.spent));
    brume_bits_close(bits);
    brume_expression_free(&expression);
    return 0;
}
