/* Bounds of chance, computed with MPFR so that rounding is no part of them. */
#include "chance.h"

#include <math.h>

#include <mpfr.h>

static const double shares[] = {
#define FALSE_ALARM(name, share) share,
#include "false_alarms.def"
#undef FALSE_ALARM
};

double false_alarm_share(enum false_alarm which)
{
    return shares[which];
}

double false_alarm_total(void)
{
    double total = 0;
    for (int i = 0; i < false_alarm_count; i++)
        total += shares[i];
    return total;
}

double binomial_tail_above(uint64_t n, double p, uint64_t k)
{
    if (k == 0)
        return 1;
    if (k > n || p <= 0)
        return 0;
    if (p >= 1 || (double)k <= (double)n * p)
        return 1;
    /* log of the term at k; terms then fall by at least the ratio r < 1 */
    mpfr_t sum, part;
    mpfr_inits2(200, sum, part, (mpfr_ptr)NULL);
    const uint64_t factorials[3] = {n, k, n - k};
    mpfr_set_ui(sum, 0, MPFR_RNDN);
    for (int i = 0; i < 3; i++) {
        mpfr_set_ui(part, factorials[i], MPFR_RNDN);
        mpfr_add_ui(part, part, 1, MPFR_RNDN);
        mpfr_lngamma(part, part, MPFR_RNDN);
        if (i == 0)
            mpfr_add(sum, sum, part, MPFR_RNDN);
        else
            mpfr_sub(sum, sum, part, MPFR_RNDN);
    }
    mpfr_set_d(part, p, MPFR_RNDN);
    mpfr_log(part, part, MPFR_RNDN);
    mpfr_mul_ui(part, part, k, MPFR_RNDN);
    mpfr_add(sum, sum, part, MPFR_RNDN);
    mpfr_set_d(part, -p, MPFR_RNDN);
    mpfr_log1p(part, part, MPFR_RNDN);
    mpfr_mul_ui(part, part, n - k, MPFR_RNDN);
    mpfr_add(sum, sum, part, MPFR_RNDN);
    mpfr_exp(sum, sum, MPFR_RNDU);
    double term = mpfr_get_d(sum, MPFR_RNDU);
    mpfr_clears(sum, part, (mpfr_ptr)NULL);
    double ratio = (double)(n - k) * p / ((double)(k + 1) * (1 - p));
    double tail = term / (1 - ratio) * (1 + 1e-9);
    return tail < 1 ? tail : 1;
}

double binomial_tail_below(uint64_t n, double p, uint64_t k)
{
    return k >= n ? 1 : binomial_tail_above(n, 1 - p, n - k);
}

bool binomial_plausible(uint64_t n, uint64_t count, double lower, double upper, double alarm)
{
    return binomial_tail_above(n, upper, count) > alarm / 2 &&
           binomial_tail_below(n, lower, count) > alarm / 2;
}

double dkw_distance(uint64_t n, double alarm)
{
    return sqrt(log(2 / alarm) / (2 * (double)n));
}

double hockey_stick(const double *p, const double *q, uint64_t count, double epsilon)
{
    double factor = exp(epsilon), sum = 0, lost = 0;
    for (uint64_t i = 0; i < count; i++) {
        double part = p[i] - factor * q[i];
        if (!(part > 0))
            continue;
        double next = part - lost, total = sum + next; /* compensated sum */
        lost = (total - sum) - next;
        sum = total;
    }
    return sum;
}
