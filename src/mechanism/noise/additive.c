/* Additive noise: drawing it and its probabilities. Promises: the laws are those of the samplers
 * and masses given; a grid depends on the spread alone. */
#include "mechanism/noise/additive.h"

#include "base/error.h"
#include "mechanism/noise/grid.h"

brume_status brume_additive_noise(brume_open_noise *open, double spread, brume_bits *bits,
                                  int64_t *out, size_t n, brume_error *error)
{
    brume_noise *law = NULL;
    BRUME_TRY(open(spread, &law, error));
    brume_status status = brume_noise_fill(law, bits, out, n, error);
    brume_noise_close(law);
    return status;
}

brume_status brume_additive_grid_noise(brume_open_noise *open, double spread, brume_bits *bits,
                                       int64_t *out, size_t n, double *step, brume_error *error)
{
    double units;
    BRUME_TRY(brume_grid_of(spread, step, &units, error));
    return brume_additive_noise(open, units, bits, out, n, error);
}

brume_interval brume_additive_mass(brume_noise_mass *law, double spread, int64_t k)
{
    arb_t p;
    arb_init(p);
    law(p, spread, k);
    brume_interval mass = brume_ball_probability(p);
    arb_clear(p);
    return mass;
}

brume_status brume_additive_grid_mass(brume_noise_mass *law, double spread, int64_t k,
                                      brume_interval *mass, brume_error *error)
{
    double step, units;
    BRUME_TRY(brume_grid_of(spread, &step, &units, error));
    *mass = brume_additive_mass(law, units, k);
    return BRUME_OK;
}
