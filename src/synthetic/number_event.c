/* Noise on one number, for a price. */
#include "synthetic/number_event.h"

#include <brume/mechanism/mechanism.h>

#include "base/error.h"
#include "number/rounding.h"

brume_status brume_synthetic_number_event(const brume_synthetic_options *options, double price,
                                          brume_event *event, brume_error *error)
{
    brume_event made = {.adjacency = options->adjacency, .sensitivity = 1, .count = 1};
    made.parameter[1] = 1;
    if (options->rho == 0) {
        made.mechanism = brume_card_by_name("discrete_laplace")->id;
        made.parameter[0] = brume_divide_up(1, price); /* up: 1/scale <= price */
    } else {
        made.mechanism = brume_card_by_name("discrete_gaussian")->id;
        /* up: 1/(2 sigma^2) <= price */
        made.parameter[0] = brume_sqrt_up(brume_divide_up(0.5, price));
    }
    BRUME_TRY(brume_event_check(&made, error));
    *event = made;
    return BRUME_OK;
}
