/* Composition: what fixed releases cost together, as a certified interval, and the other way round:
 * the least noise for a budget. */
#include <brume/account/account.h>

#include "must.h"

int main(void)
{
    const char *text = "laplace(scale=10)*5 + gaussian(sigma=20)*100";
    const double delta = 1e-6;
    brume_error error;
    brume_expression expression;
    brume_term *terms = NULL;
    brume_composition composed;
    must(brume_expression_parse(text, BRUME_ADD_REMOVE, &expression, &error), &error);
    must(brume_account_terms(expression.events, expression.count, 1, BRUME_METHOD_AUTO, &terms,
                             &error),
         &error);
    must(brume_compose_epsilon(terms, expression.count, delta, NULL, &composed, &error), &error);
    printf("%s\n  at delta = %g: epsilon is in [%.12g, %.12g]\n", text, delta, composed.value.lower,
           composed.value.upper);
    free(terms);
    brume_expression_free(&expression);

    brume_calibration calibration;
    text = "gaussian(sigma=?)*100";
    must(brume_expression_parse(text, BRUME_ADD_REMOVE, &expression, &error), &error);
    must(brume_calibrate(&expression, 1, delta, &calibration, &error), &error);
    printf("%s\n  for (1, %g): sigma = %.9g, certified epsilon %.12g\n", text, delta,
           calibration.value, calibration.epsilon_upper);
    brume_expression_free(&expression);
    return 0;
}
