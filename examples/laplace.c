/* Laplace: a private histogram. One person is in one bin, so by adding or removing a person the
 * whole histogram changes by 1: one epsilon pays for all bins. */
#include <inttypes.h>

#include <brume/mechanism/expression.h>
#include <brume/noise/laplace.h>
#include <brume/mechanism/mechanism.h>
#include <brume/mechanism/sensitivity.h>

#include "must.h"

enum { BINS = 5 };

int main(void)
{
    static const char *const names[BINS] = {"0-17", "18-34", "35-49", "50-64", "65+"};
    const int64_t counts[BINS] = {412, 1288, 973, 640, 87};
    const double epsilon = 0.5;
    int64_t released[BINS];
    brume_error error;
    brume_bits *bits = NULL;
    brume_sensitivity sensitivity;
    double scale, alpha;
    must(brume_bits_open(&bits, &error), &error);
    must(brume_sensitivity_histogram(BRUME_ADD_REMOVE, &sensitivity, &error), &error);
    must(brume_laplace_scale(sensitivity.l1, epsilon, &scale, &error), &error);
    must(brume_discrete_laplace_add(bits, scale, counts, released, BINS, &error), &error);

    /* How far off any of the five may be: the card knows. */
    brume_expression expression;
    must(brume_expression_parse("discrete_laplace(scale=2, coordinates=5)", BRUME_ADD_REMOVE,
                                &expression, &error),
         &error);
    must(brume_event_alpha(&expression.events[0], 0.05, &alpha, &error), &error);
    brume_expression_free(&expression);

    printf("epsilon %g, scale %g; with 95 %% all five are off by less than %g\n", epsilon, scale,
           alpha);
    for (int i = 0; i < BINS; i++)
        printf("%-6s %6" PRId64 "\n", names[i], released[i]);
    brume_bits_close(bits);
    return 0;
}
