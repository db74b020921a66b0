/* The curve of several terms: their curves add. Promise: `at` is the sum rounded up, infinite where
 * a term has none. */
#include <math.h>

#include "accountant/renyi.h"
#include "number/rounding.h"

static double total_upper(const void *context, double alpha)
{
    const brume_term_list *list = context;
    double sum = 0;
    for (size_t i = 0; i < list->count; i++) { /* every product and sum rounded up */
        const brume_term *term = &list->terms[i];
        if (!brume_renyi_known(&term->cost))
            return INFINITY;
        double one = brume_renyi_upper(&term->cost, alpha);
        sum = brume_add_up(sum, brume_multiply_up(brume_count_up(term->count), one));
    }
    return sum;
}

static double total_rough(const void *context, double alpha)
{
    const brume_term_list *list = context;
    double sum = 0;
    for (size_t i = 0; i < list->count; i++)
        sum += (double)list->terms[i].count * brume_renyi_rough(&list->terms[i].cost, alpha);
    return sum;
}

brume_curve brume_renyi_total(const brume_term_list *list)
{
    return (brume_curve){.at = total_upper, .rough = total_rough, .context = list};
}
