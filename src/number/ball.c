/* Ends of Arb balls as doubles, rounded outwards. */
#include "number/ball.h"

#include <math.h>
#include <mpfr.h>
#include <pthread.h>
#include <stdbool.h>

double brume_ball_upper(const arb_t x)
{
    if (!arb_is_finite(x))
        return INFINITY;
    arf_t end;
    arf_init(end);
    arb_get_ubound_arf(end, x, 64);               /* rounded up */
    double result = arf_get_d(end, ARF_RND_CEIL); /* up once more */
    arf_clear(end);
    return result;
}

double brume_ball_lower(const arb_t x)
{
    if (!arb_is_finite(x))
        return -INFINITY;
    arf_t end;
    arf_init(end);
    arb_get_lbound_arf(end, x, 64);                /* rounded down */
    double result = arf_get_d(end, ARF_RND_FLOOR); /* down once more */
    arf_clear(end);
    return result;
}

brume_interval brume_ball_interval(const arb_t x, double least, double most)
{
    brume_interval result = {brume_ball_lower(x), brume_ball_upper(x)};
    if (result.lower < least)
        result.lower = least;
    if (result.upper > most)
        result.upper = most;
    return result;
}

int brume_ball_is_sharp(const arb_t x, slong bits)
{
    return arb_is_finite(x) && (arb_is_exact(x) || arb_rel_accuracy_bits(x) >= bits);
}

brume_interval brume_ball_evaluate(brume_ball_function *function, const void *context, double least,
                                   double most)
{
    brume_interval result = {least, most};
    arb_t x;
    arb_init(x);
    for (slong precision = 64; precision <= 4096; precision *= 2) {
        function(x, context, precision);
        brume_interval now = brume_ball_interval(x, least, most);
        /* every enclosure is valid, so the tightest ends seen are too */
        if (now.lower > result.lower)
            result.lower = now.lower;
        if (now.upper < result.upper)
            result.upper = now.upper;
        if (brume_ball_is_sharp(x, 56))
            break;
    }
    arb_clear(x);
    return result;
}

void brume_ball_normal_cdf(arb_t out, const arb_t x, slong precision)
{
    arb_t scaled, root;
    arb_init(scaled);
    arb_init(root);
    arb_sqrt_ui(root, 2, precision);
    arb_div(scaled, x, root, precision);
    arb_neg(scaled, scaled);
    arb_hypgeom_erfc(out, scaled, precision);
    arb_mul_2exp_si(out, out, -1);
    arb_clear(scaled);
    arb_clear(root);
}

/* A key of the process, whose destructor runs in each thread that has set it.
 *
 * What MPFR keeps for a thread (constants, and integers for reuse: more than a kilobyte) is freed
 * when the thread ends: a host that calls from ever new threads must not grow.
 *
 * Called by whatever may use MPFR on a thread of the host; cheap, and may be called again. Where
 * the system has no key left for it, the memory stays until the process ends. */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool has_key;

static void free_caches(void *unused)
{
    (void)unused;
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
}

static void make_key(void)
{
    has_key = pthread_key_create(&key, free_caches) == 0;
}

/* A library that is unloaded must leave no pointer to its code behind. */
__attribute__((destructor)) static void delete_key(void)
{
    if (has_key)
        pthread_key_delete(key);
}

void brume_thread_caches_free_at_end(void)
{
    pthread_once(&once, make_key);
    if (has_key && !pthread_getspecific(key))
        (void)pthread_setspecific(key, &key);
}
