/* Who draws for the method tree: exact noise, and choices by permute-and-flip. */
#include <brume/mechanism/selection.h>
#include <brume/noise/noise.h>

#include "base/error.h"
#include "synthetic/tree.h"

brume_status brume_tree_own_add(void *context, const brume_tree_draw *one, int64_t *values,
                                size_t n, brume_error *error)
{
    const brume_tree_own *own = context;
    brume_noise *noise = NULL;
    if (one->is_laplace)
        BRUME_TRY(brume_noise_open_discrete_laplace(one->scale, &noise, error));
    else
        BRUME_TRY(brume_noise_open_rounded_gaussian(one->scale, &noise, error));
    brume_status status = brume_noise_add(noise, own->bits, values, values, n, error);
    brume_noise_close(noise);
    return status;
}

brume_status brume_tree_own_choose(void *context, double epsilon, double sensitivity,
                                   const double *scores, size_t n, size_t *index,
                                   brume_error *error)
{
    const brume_tree_own *own = context;
    brume_selection selection = {
        .adjacency = own->adjacency, .epsilon = epsilon, .sensitivity = sensitivity};
    return brume_permute_and_flip_choose(own->bits, &selection, scores, n, index, error);
}
