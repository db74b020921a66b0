/* The discrete Gaussian mechanism for integers: the card.
 *
 * Promises: noise with P[k] proportional to exp(-k^2/(2 sigma^2)), independent in each coordinate,
 * on an integer query. An integer vector has an integer squared length, so a stated L2 sensitivity
 * D means a squared change of at most floor(D^2): rho = floor(D^2)/(2 sigma^2); a D or D^2 within a
 * millionth below an integer is taken for it (1.414213562373095 means sqrt(2)). The loss law is
 * given for one coordinate only, where the change is at most floor(D): for several the worst change
 * is not along one axis. proofs/gaussian.md. */
#include <brume/noise/gaussian.h>

#include "base/error.h"
#include "mechanism/card.h"
#include "mechanism/formula.h"
#include "mechanism/noise/additive.h"

static const brume_parameter parameters[] = {
    BRUME_PARAMETER_NOISE_("sigma", "P[k] is proportional to exp(-k^2/(2 sigma^2))"),
    BRUME_PARAMETER_COORDINATES_,
};

static const char *const examples[] = {
    "noise 'discrete_gaussian(sigma=2)' --count 5",
    "account 'discrete_gaussian(sigma=2)*100' --delta 1e-6",
    NULL,
};

/* The greatest integer whose root is at most `length`, or about: floor(length^2), but an integer a
 * millionth above it, and a double above it where length^2 is no longer an exact double. */
static double squared_length_upper(double length)
{
    double square = length * length, whole = brume_integer_bound(length);
    if (whole > length) /* taken for that integer */
        square = whole * whole;
    /* the rounding of the product is at most half a unit in the last place: where it went up over
     * an integer the floor is one too high, which is still an upper bound */
    return square < 0x1p53 ? brume_integer_bound(nextafter(square, INFINITY))
                           : nextafter(square, INFINITY);
}

static brume_status cost(const brume_event *event, brume_cost *cost, brume_error *error)
{
    double sigma = event->parameter[BRUME_ADDITIVE_SPREAD], sensitivity = event->sensitivity;
    double shift = brume_integer_bound(sensitivity);
    if (shift < 1)
        return brume_fail(
            error, BRUME_EARGUMENT, "integers change by at least 1; for reals use 'gaussian'",
            "discrete_gaussian: 'sensitivity' is %.17g, must be at least 1", sensitivity);
    bool scalar = event->parameter[BRUME_ADDITIVE_COORDINATES] == 1;
    double square = scalar && shift < 0x1p26 ? shift * shift : squared_length_upper(sensitivity);
    cost->concentrated = BRUME_UPPER; /* D_alpha <= alpha D^2/(2 sigma^2)        [CKS20, Prop. 5] */
    cost->rho = brume_square_rho_upper(square, sigma);
    cost->renyi = BRUME_UPPER;
    cost->renyi_upper = brume_renyi_rho_upper;
    if (!scalar || shift > 0x1p53)
        return BRUME_OK;
    cost->loss = BRUME_EXACT;
    cost->law =
        (brume_loss){.kind = BRUME_LOSS_DISCRETE_GAUSSIAN, .a = sigma, .shift = (uint64_t)shift};
    return BRUME_OK;
}

static const brume_additive law = {.whole = true,
                                   .open = brume_noise_open_discrete_gaussian,
                                   .mass = brume_mass_discrete_gaussian,
                                   .tail = brume_tail_discrete_gaussian,
                                   .add = brume_discrete_gaussian_add};

const brume_card brume_card_discrete_gaussian = {
    .id = 5,
    .name = "discrete_gaussian",
    .summary = "discrete Gaussian noise on integers",
    .guarantee = "rho = floor(sensitivity^2)/(2 sigma^2), for integer queries",
    .sensitivity = "L2 of the vector; one integer (coordinates=1): its absolute change",
    .proof = "gaussian.md",
    .accuracy = "|noise| in any coordinate, a whole number",
    BRUME_ADDITIVE_ENTRIES_(law),
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .examples = examples,
    .cost = cost,
    .alpha_upper = brume_additive_alpha_upper,
    .trial = &brume_additive_trial_whole,
};
