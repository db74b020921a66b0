/* How many rows people have: the laws of the data that `answers` makes, from a fixed seed.
 *
 * Which of them had a part in setting the constants of a rule stands in answers.c. */
#ifndef BRUME_BENCH_PEOPLE_H
#define BRUME_BENCH_PEOPLE_H

#include <math.h>
#include <stdint.h>

static uint64_t seed;

static double uniform(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(seed >> 11) + 0.5) * 0x1p-53;
}

static double gaussian(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

static int poisson(double mean)
{
    int n = 0;
    for (double p = uniform(); p > exp(-mean); p *= uniform())
        n++;
    return n;
}

static long rows_one(void)
{
    return 1;
}

static long rows_orders(void)
{
    int n = poisson(15);
    return n ? n : 1;
}

static long rows_items(void)
{
    long items = 0;
    for (long n = rows_orders(); n > 0; n--)
        items += 1 + (long)(7 * uniform());
    return items;
}

static long rows_zipf(void)
{
    return (long)fmin(1e6, floor(pow(uniform(), -0.5)));
}

static long rows_text(void)
{
    return (long)ceil(exp(log(28) - 1.125 + 1.5 * gaussian()));
}

/* Looked at once. */

static long rows_zipf15(void)
{
    return (long)fmin(1e6, floor(pow(uniform(), -1 / 1.5)));
}

static long rows_zipf3(void)
{
    return (long)floor(pow(uniform(), -1 / 3.0));
}

static long rows_lognormal1(void)
{
    return (long)ceil(exp(log(10) - 0.5 + gaussian()));
}

static long rows_lognormal2(void)
{
    return (long)ceil(exp(log(40) - 2 + 2 * gaussian()));
}

static long rows_uniform(void)
{
    return 1 + (long)(30 * uniform());
}

/* Shape 1/2, mean 6: most people have few rows, and the tail is exponential. */
static long rows_negative_binomial(void)
{
    double g = gaussian();
    return 1 + poisson(6 * g * g);
}

/* One in a hundred has 500 rows, the others one. */
static long rows_two_kinds(void)
{
    return uniform() < 0.01 ? 500 : 1;
}

/* Readers, writers, and a few accounts that post all day. */
static long rows_forum(void)
{
    double u = uniform();
    if (u < 0.6)
        return 1 + poisson(0.5);
    return (long)ceil(exp(u < 0.995 ? 1.5 + 1.1 * gaussian() : 6 + 0.8 * gaussian()));
}

/* Held out once, seen since. */

static long rows_weibull(void)
{
    return (long)ceil(8 * pow(-log(uniform()), 1 / 0.6));
}

static long rows_one_in_fifty(void)
{
    return uniform() < 0.02 ? 100 : 1 + (long)(3 * uniform());
}

/* A lognormal body, and a power law of index 2.2 on top of it. */
static long rows_mixed(void)
{
    return (long)fmin(1e5, ceil(exp(1 + 0.7 * gaussian()) * pow(uniform(), -1 / 2.2)));
}

/* At most one a day: many come now and then, some every week, few every day. */
static long rows_visits(void)
{
    double u = uniform(), chance = u < 0.7 ? 0.01 : u < 0.97 ? 0.12 : 0.8;
    long days = 1;
    for (int day = 1; day < 365; day++)
        days += uniform() < chance;
    return days;
}

/* One in a hundred has many rows, of very different number; the others have one. */
static long rows_few_loud(void)
{
    return uniform() < 0.01 ? (long)ceil(exp(4 + gaussian())) : 1;
}

static long rows_geometric_crowd(void)
{
    return uniform() < 0.005 ? (long)ceil(exp(5 + 0.7 * gaussian()))
                             : (long)ceil(log(uniform()) / log(2.0 / 3));
}

static long rows_zipf17(void)
{
    return (long)fmin(1e6, floor(pow(uniform(), -1 / 1.7)));
}

static long rows_lognormal15(void)
{
    return (long)ceil(exp(log(6) - 1.125 + 1.5 * gaussian()));
}

static long rows_lognormal_small(void)
{
    return (long)ceil(exp(0.8 + 0.6 * gaussian()));
}

/* A gamma law of shape 3, mean 12. */
static long rows_gamma(void)
{
    return (long)ceil(-4 * log(uniform() * uniform() * uniform()));
}

/* Households: most of one, some of up to six, one in thirty with a shop. */
static long rows_shops(void)
{
    double u = uniform();
    return u < 0.7 ? 1 : u < 0.967 ? 2 + (long)(5 * uniform()) : 40 + poisson(25);
}

/* A Pareto law of index 2.5 from 10, cut off at 2000. */
static long rows_pareto(void)
{
    return (long)fmin(2000, floor(10 * pow(uniform(), -1 / 2.5)));
}

/* A Weibull law of shape 1.5, and two in a hundred with eight times as much. */
static long rows_eightfold(void)
{
    double factor = uniform() < 0.02 ? 8 : 1;
    return (long)ceil(factor * 9 * pow(-log(uniform()), 1 / 1.5));
}

/* Held out. */

static long rows_poisson(void)
{
    return 1 + poisson(4);
}

/* Two exponential laws: nine in ten have 2 on average, one has 40. */
static long rows_two_speeds(void)
{
    return (long)ceil(-log(uniform()) * (uniform() < 0.9 ? 2 : 40));
}

/* Two crowds: one in a hundred has about 30, one in two hundred about 900. */
static long rows_two_crowds(void)
{
    double u = uniform();
    return u < 0.985 ? 1 + (long)(2 * uniform()) : u < 0.995 ? 20 + poisson(10) : 800 + poisson(100);
}

/* A lognormal law, and eight accounts in a thousand that post for others. */
static long rows_bots(void)
{
    return (long)ceil(exp(uniform() < 0.992 ? 1 + 1.2 * gaussian() : 7 + 0.4 * gaussian()));
}

/* A Pareto law of index 1.8 that ends at 500. */
static long rows_pareto_short(void)
{
    return (long)fmin(500, floor(2 * pow(uniform(), -1 / 1.8)));
}

/* Most come once, a few come back, up to a dozen times. */
static long rows_returning(void)
{
    long n = 1;
    while (n < 12 && uniform() < 0.3)
        n++;
    return n;
}

#endif
