/* Laplace noise scaled to the local sensitivity of the data: the card of a broken mechanism.
 *
 * Promises nothing: the noise itself tells how sensitive the data is. It is here for lectures, to
 * be convicted by `brume audit`; it has no cost, so nothing can charge it. What works instead:
 * smooth sensitivity, propose-test-release, private_sensitivity. proofs/local_sensitivity.md. */
#include "mechanism/broken/broken.h"

#include "base/error.h"
#include "mechanism/card.h"

#include <brume/laplace.h>

static const brume_parameter parameters[] = {
    BRUME_PARAMETER_EPSILON_("what is claimed, wrongly"),
};

static const char *const examples[] = {
    "audit 'local_sensitivity_laplace(epsilon=1)' --samples 20000",
    NULL,
};

brume_status brume_broken_local_release(brume_bits *bits, double epsilon, double local,
                                        int64_t value, int64_t *out, size_t n, brume_error *error)
{
    if (!(epsilon > 0 && local >= 0 && local / epsilon <= 0x1p40))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'epsilon' is %.17g, too small for a local sensitivity of %.17g", epsilon,
                          local);
    for (size_t i = 0; i < n; i++)
        out[i] = value;
    return local == 0 ? BRUME_OK
                      : brume_discrete_laplace_add(bits, local / epsilon, out, out, n, error);
}

const brume_card brume_card_local_sensitivity_laplace = {
    .id = 27,
    .name = "local_sensitivity_laplace",
    .summary = "BROKEN, for teaching: a number with noise scaled to the local sensitivity of the "
               "data",
    .guarantee = "none: the scale of the noise depends on the data and gives it away; cannot be "
                 "charged, only audited",
    .broken = "noise scaled to the local sensitivity tells how sensitive the data is",
    .adjacencies = BRUME_ADD_REMOVE | BRUME_REPLACE,
    .sensitivity = "none",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .proof = "local_sensitivity.md",
    .examples = examples,
};
