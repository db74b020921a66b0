/* Exact confidence bounds of a proportion. Promises: lower never too high, upper never too low. */
#include "audit/proportion.h"

#include <math.h>

double brume_binomial_tail_upper(uint64_t n, double p, uint64_t k)
{
    if (k == 0 || p >= 1)
        return 1;
    if (k > n || p <= 0)
        return 0;
    double count = (double)n, at = (double)k;
    if (at <= count * p)
        return 1; /* the tail is not small: of no use to a bound */
    double parts[] = {lgamma(count + 1), -lgamma(at + 1), -lgamma(count - at + 1), at * log(p),
                      (count - at) * log1p(-p)};
    double exponent = 0, size = 0;
    for (int i = 0; i < 5; i++) {
        exponent += parts[i];
        size += fabs(parts[i]);
    }
    double term = exp(exponent);
    double sum = 0;
    /* Beyond the mean the terms fall, and their quotients too: the rest is at most geometric. */
    for (double j = at; j <= count; j++) {
        double quotient = (count - j) / (j + 1) * (p / (1 - p));
        sum += term;
        term *= quotient;
        if (term <= 1e-9 * sum * (1 - quotient)) {
            sum += term / (1 - quotient);
            break;
        }
    }
    /* Each part is right to 16 last places and so is their sum: a relative 2^-47 of their sizes
     * (some 1e-5 at 2^27 draws), and 1e-7 for the rest. Rounded up. */
    return fmin(sum * (1 + 1e-7 + 0x1p-47 * size) + 1e-300, 1);
}

double brume_proportion_lower(uint64_t n, uint64_t k, double alarm)
{
    /* The largest p below k/n whose upper tail at k is at most the alarm; stays below it. */
    double low = 0, high = n ? (double)k / (double)n : 0;
    for (int i = 0; i < 100 && high - low > 1e-13 * high; i++) {
        double middle = (low + high) / 2;
        if (brume_binomial_tail_upper(n, middle, k) <= alarm)
            low = middle;
        else
            high = middle;
    }
    return low;
}

double brume_proportion_upper(uint64_t n, uint64_t k, double alarm)
{
    /* k of n succeed where n - k fail; 1 - x is rounded up by the last place. */
    return n ? fmin(nextafter(1 - brume_proportion_lower(n, n - k, alarm), 2), 1) : 1;
}

/* ---- two of them ---- */

/* The largest k with k (1 - ln k) <= alarm, rounded down. */
static double product_of(double alarm)
{
    double low = 0, high = alarm;
    for (int i = 0; i < 200; i++) {
        double middle = (low + high) / 2;
        if (middle * (1 - log(middle)) <= alarm)
            low = middle;
        else
            high = middle;
    }
    return low * (1 - 1e-9);
}

/* Values of a, as -ln a from `far` to `near`, and of(p, q) is at least this there. */
typedef struct stretch {
    double near, far, least;
} stretch;

typedef struct trials {
    uint64_t n, hits_p, hits_q;
    double whole; /* -ln k */
    brume_of_two *of;
    const void *context;
} trials;

/* Where a is at least e^-far and at most e^-near, b is above k e^near. Both are rounded down. */
static stretch judge(const trials *t, double near, double far)
{
    double p = brume_proportion_lower(t->n, t->hits_p, exp(-far) * (1 - 1e-12));
    double q = brume_proportion_upper(t->n, t->hits_q, exp(near - t->whole) * (1 - 1e-12));
    return (stretch){near, far, t->of(t->context, p, q)};
}

double brume_two_proportions_lower(uint64_t n, uint64_t hits_p, uint64_t hits_q, double alarm,
                                   brume_of_two *of, const void *context)
{
    enum { FIRST = 4, MOST = 48 };
    double product = product_of(alarm);
    trials t = {n, hits_p, hits_q, -log(product), of, context};
    stretch all[MOST];
    int count = 0;
    for (; count < FIRST; count++)
        all[count] = judge(&t, t.whole * count / FIRST, t.whole * (count + 1) / FIRST);
    for (;;) { /* halve the stretch with the least bound: the others do not matter */
        int least = 0;
        for (int i = 1; i < count; i++)
            if (all[i].least < all[least].least)
                least = i;
        stretch here = all[least];
        if (count == MOST || here.far - here.near < .02)
            return here.least;
        double middle = (here.near + here.far) / 2;
        all[least] = judge(&t, here.near, middle);
        all[count++] = judge(&t, middle, here.far);
    }
}
