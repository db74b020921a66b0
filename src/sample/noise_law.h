/* How a law of integer noise plugs into brume_noise.
 *
 * A law's struct begins with a brume_noise, is allocated by its open function (see
 * brume_noise_open_as) and is read-only from then on. The public entry points have checked their
 * arguments and the rounding mode when a law is called, and zero the output if it fails: a law may
 * leave anything in `out` on error. A law keeps the word discipline of random/bits.h, 4: draw and
 * fill give the same values from the same bits. fill allocates nothing. */
#ifndef BRUME_SAMPLE_NOISE_LAW_H
#define BRUME_SAMPLE_NOISE_LAW_H

#include <brume/noise/noise.h>

#include "random/bits.h"

typedef struct brume_noise_law {
    const char *name;
    /* One value, n values (n >= 1). false: the bit source failed. */
    bool (*draw)(const brume_noise *noise, brume_bits *bits, int64_t *out);
    bool (*fill)(const brume_noise *noise, brume_bits *bits, int64_t *out, size_t n);
    /* Free what the law holds apart from its own struct; NULL if nothing. */
    void (*close)(brume_noise *noise);
} brume_noise_law;

struct brume_noise {
    const brume_noise_law *law;
    /* The whole of brume_noise_draw, `noise` checked; brume_noise_open_as sets one that checks the
     * rest and calls law->draw. A law may put its own here that keeps the same promises faster. */
    brume_status (*draw)(const brume_noise *noise, brume_bits *bits, int64_t *out,
                         brume_error *error);
    /* Set by a law that is right in every rounding mode. */
    bool any_rounding;
};

/* What brume_noise_draw returns if `noise`, `bits` or `out` is missing, or else if the rounding
 * mode is wrong. */
brume_status brume_noise_refuse(const brume_noise *noise, const brume_bits *bits, const void *out,
                                brume_error *error);

/* Zeroed memory of `size` bytes for a law's struct, its law set. NULL: out of memory, error
 * filled with BRUME_EMEMORY. Free with brume_noise_close. */
void *brume_noise_open_as(const brume_noise_law *law, size_t size, brume_error *error);

/* Is `value`, named `name`, in (0, most] and finite? Else BRUME_EARGUMENT. */
BRUME_MUST_USE brume_status brume_noise_check_scale(const char *name, double value, double most,
                                                    const brume_noise *const *out,
                                                    brume_error *error);

#endif
