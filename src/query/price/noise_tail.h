/* Tails of the noises a query uses: P[noise >= m], rounded up, m >= 0 an integer. */
#ifndef BRUME_QUERY_NOISE_TAIL_H
#define BRUME_QUERY_NOISE_TAIL_H

typedef double (*brume_noise_tail_upper)(double scale, double m);

/* Discrete Laplace: a^m / (1 + a), a = exp(-1/scale). */
double brume_noise_tail_laplace_upper(double scale, double m);

/* Continuous Gaussian rounded to integers: P[N >= m - 1/2]. */
double brume_noise_tail_rounded_gaussian_upper(double sigma, double m);

/* Discrete Gaussian; near the truth for large sigma, up to three times it near sigma = 1. */
double brume_noise_tail_discrete_gaussian_upper(double sigma, double m);

#endif
