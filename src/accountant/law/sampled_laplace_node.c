/* psi of a Laplace loss on a Poisson sample at one node, all panels at once. See sampled_laplace.c
 * and proofs/accountant/law.md, section law.6.
 *
 * Promise: as law.h. All instruction sets give the same bits. */
#include "accountant/law/sampled_laplace.h"

#include "accountant/law/family.h"
#include "number/elementary.h"
#include "number/paths.h"

enum {
    PAIRS = BRUME_LEGENDRE_PAIRS,
    DEGREES = BRUME_SAMPLED_LAPLACE_DEGREES,
    PANELS = BRUME_SAMPLED_LAPLACE_PANELS,
    RHOS = BRUME_SAMPLED_LAPLACE_RHOS,
    LANES = 16
};

const brume_legendre_pair brume_legendre_rule[BRUME_LEGENDRE_PAIRS] = {
    {0.9982377097105592003496L, 0.004521277098533191258472L},
    {0.9907262386994570064531L, 0.01049828453115281361474L},
    {0.9772599499837742626634L, 0.01642105838190788871286L},
    {0.9579168192137916558045L, 0.0222458491941669572615L},
    {0.9328128082786765333609L, 0.02793700698002340109849L},
    {0.9020988069688742967283L, 0.03346019528254784739268L},
    {0.8659595032122595038208L, 0.03878216797447201763997L},
    {0.8246122308333116631963L, 0.04387090818567327199167L},
    {0.778305651426519387695L, 0.04869580763507223206143L},
    {0.727318255189927103281L, 0.053227846983936824355L},
    {0.6719566846141795483794L, 0.05743976909939155136662L},
    {0.6125538896679802379526L, 0.06130624249292893916654L},
    {0.5494671250951282020759L, 0.06480401345660103807455L},
    {0.4830758016861787129086L, 0.06791204581523390382569L},
    {0.4137792043716050015249L, 0.07061164739128677969548L},
    {0.3419940908257584730075L, 0.07288658239580405906051L},
    {0.2681521850072536811412L, 0.07472316905796826420019L},
    {0.1926975807013710997155L, 0.07611036190062624237156L},
    {0.1160840706752552084835L, 0.07703981816424796558831L},
    {0.03877241750605082193319L, 0.07750594797842481126372L},
};

static const double unit = BRUME_UNIT;
static const double bessel_from = 1.25 * DEGREES; /* where the recurrence is stable */

/* The panel's part of psi - 1, from its centre: sum of even (cos - 1) + i odd sin. */
static void by_points(const brume_panels *panels, size_t p, double theta, double *re, double *im)
{
    double angle[PAIRS], s[PAIRS], c[PAIRS], sum_re = 0, sum_im = 0;
    const double *even = panels->even + p * PAIRS, *odd = panels->odd + p * PAIRS;
    for (size_t j = 0; j < PAIRS; j++)
        angle[j] = 0.5 * theta * (double)brume_legendre_rule[j].place;
    brume_vector_sincos(angle, s, c, PAIRS);
    for (size_t j = 0; j < PAIRS; j++) {
        sum_re -= 2 * even[j] * s[j] * s[j];
        sum_im += 2 * odd[j] * s[j] * c[j];
    }
    *re = sum_re;
    *im = sum_im;
}

/* The same of LANES panels by their series: sum of a_n i^n j_n(theta), of which i^n = 1, i, -1, -i;
 * of use where theta is large. */
BRUME_BODY void by_series_body(const brume_panels *panels, size_t from,
                               const double *restrict theta, const double *restrict s,
                               const double *restrict c, double *restrict re, double *restrict im)
{
    double low[LANES], high[LANES], inverse[LANES], sum_re[LANES] = {0}, sum_im[LANES] = {0};
    for (size_t j = 0; j < LANES; j++) {
        inverse[j] = 1 / theta[j];
        low[j] = s[j] * inverse[j];
        high[j] = (low[j] - c[j]) * inverse[j]; /* j_0, j_1 */
    }
    for (int n = 0; n < DEGREES; n += 2) {
        const double *even = panels->series[n] + from, *odd = panels->series[n + 1] + from;
        double sign = n % 4 == 0 ? 1 : -1, first = 2 * n + 3, second = 2 * n + 5;
        for (size_t j = 0; j < LANES; j++) {
            double next = first * inverse[j] * high[j] - low[j];
            sum_re[j] += sign * (even[j] * low[j]);
            sum_im[j] += sign * (odd[j] * high[j]);
            low[j] = next;
            high[j] = second * inverse[j] * next - high[j];
        }
    }
    for (size_t j = 0; j < LANES; j++) {
        re[j] = sum_re[j] - panels->share[from + j];
        im[j] = sum_im[j];
    }
}
BRUME_PATHS(static, by_series,
            (const brume_panels *panels, size_t from, const double *theta, const double *s,
             const double *c, double *re, double *im),
            (panels, from, theta, s, c, re, im))

/* LANES panels from `from` on, added to psi - 1; which ways were taken. */
static void add_panels(const brume_law *law, size_t from, double y, double *re, double *im,
                       bool *series, bool *points)
{
    const brume_panels *panels = law->state;
    double theta[LANES], middle[LANES], s[LANES], c[LANES], part_re[LANES], part_im[LANES];
    double sign = law->reversed ? -1 : 1;
    size_t count = panels->count - from < LANES ? panels->count - from : LANES;
    bool far = false;
    for (size_t j = 0; j < LANES; j++) {
        bool there = j < count;
        theta[j] = there ? y * panels->length[from + j] : 1;
        middle[j] = there ? 0.5 * y * panels->centre[from + j] : 0;
        far |= theta[j] > bessel_from;
    }
    if (far) {
        brume_vector_sincos(theta, s, c, LANES);
        by_series(panels, from, theta, s, c, part_re, part_im);
    }
    brume_vector_sincos(middle, s, c, LANES);
    for (size_t j = 0; j < count; j++) {
        if (theta[j] > bessel_from) {
            *series = true;
        } else {
            *points = true;
            by_points(panels, from + j, theta[j], &part_re[j], &part_im[j]);
        }
        /* v grows with the place, the loss falls with it if reversed */
        double share = panels->share[from + j], one_re = part_re[j], one_im = sign * part_im[j];
        double turn_re = -2 * s[j] * s[j], turn_im = 2 * s[j] * c[j]; /* e^{iy centre} - 1 */
        *re += one_re + turn_re * (share + one_re) - turn_im * one_im;
        *im += one_im + turn_im * (share + one_re) + turn_re * one_im;
    }
}

brume_log_psi brume_sampled_laplace_node(brume_law *law, long index, double h)
{
    const brume_panels *panels = law->state;
    double y = (double)index * h, sign = law->reversed ? -1 : 1, s, c, re = 0, im = 0;
    /* sum of |phases| times their weights: of the losses, and of the panels' points from centres */
    double size = y * (panels->size + panels->widest * panels->middle);
    double shares[2] = {panels->top_share, panels->bottom_share};
    double places[2] = {sign * (double)panels->top, sign * (double)panels->bottom};
    for (int i = 0; i < 2; i++) {
        sincos(0.5 * y * places[i], &s, &c);
        re -= 2 * shares[i] * s * s;
        im += 2 * shares[i] * s * c;
    }
    bool series = false, points = false;
    for (size_t from = 0; from < panels->count; from += LANES)
        add_panels(law, from, y, &re, &im, &series, &points);
    /* phases: y by 3 units, places by one, products by two, sines by 4 of theirs and all by what
     * they multiply; sums of 20 and of the panels; shares and weights by 3 units */
    double error = unit * (40 * size + (160 + 4 * (double)panels->count) * fmin(size, 2)) +
                   panels->doubt * fmin(size, 2); /* |psi - 1| <= size */
    if (series) /* the recurrence: 24 n units of 1/theta, see the proof; its sum; shares */
        error += unit * (24.0 * DEGREES + 60) * panels->series_size / bessel_from +
                 60 * unit * panels->middle + panels->series_error;
    if (points) {
        double best = INFINITY, theta = fmin(y * panels->widest, bessel_from);
        for (int i = 0; i < RHOS; i++)
            best = fmin(best, panels->quadrature[i] +
                                  theta * 0.5 *
                                      (brume_sampled_laplace_rhos[i] -
                                       1 / brume_sampled_laplace_rhos[i])); /* sup |e^{iyv}| */
        error += 2 * exp(best); /* and of the share itself */
    }
    if (!(panels->ends < INFINITY))
        error = INFINITY;
    return brume_log_psi_of(re, im, error);
}
