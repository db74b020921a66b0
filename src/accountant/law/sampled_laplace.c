/* The Laplace loss on a Poisson sample.
 *
 * Inner loss l in [-e, e] under Q: e^{-e}/2 at e, 1/2 at -e, between them (1/4) e^{-(l+e)/2} dl.
 * With v = log(1 - q + q e^l) and X = e^v - (1-q) = q e^l a record removed has the loss v of mass
 * Q e^v, a record added the loss -v of mass Q, and between the two atoms Q has in v the density
 *   (1/4) e^{-e/2} q^{1/2} e^v X^{-3/2},
 * analytic but for X = 0 (and its translates by 2 pi i). Panels whose l are at most 1/2 apart have
 * no singularity in the ellipse of rho = 6; on each the rule of 40 points serves the real line and
 * small y, and Legendre's expansion of the tilted density, whose transforms are spherical Bessel
 * functions, serves all larger ones. proofs/accountant/law.md, section law.6.
 * Promise: as law.h, for the parameters as given; law.c takes care of their errors. */
#include "accountant/law/family.h"
#include "accountant/law/law.h"
#include "base/error.h"
#include "number/elementary.h"
#include "number/paths.h"

/* The Gauss-Legendre rule of 40 points: the positive places, and the weights of either sign. */
enum { BRUME_LEGENDRE_PAIRS = 20 };

typedef struct brume_legendre_pair {
    long double place, weight;
} brume_legendre_pair;

static const brume_legendre_pair legendre_rule[BRUME_LEGENDRE_PAIRS] = {
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

enum {
    BRUME_SAMPLED_LAPLACE_POINTS = 2 * BRUME_LEGENDRE_PAIRS,
    BRUME_SAMPLED_LAPLACE_DEGREES = 28,
    BRUME_SAMPLED_LAPLACE_PANELS = 128,
    BRUME_SAMPLED_LAPLACE_RHOS = 5
};

static const double rhos[BRUME_SAMPLED_LAPLACE_RHOS] = {1.5, 2, 3, 4, 6};

/* Points of panel p are p * POINTS ..., the upper half of the rule first, then the lower one. */
typedef struct brume_panels {
    size_t count;
    double tilt;   /* the c that they were laid for */
    double spread; /* half the distance of the end atoms */
    bool able;     /* they cover everything */
    long double start[BRUME_SAMPLED_LAPLACE_PANELS],
        half[BRUME_SAMPLED_LAPLACE_PANELS];         /* v at the left end, half
                                       the length */
    long double rise[BRUME_SAMPLED_LAPLACE_PANELS]; /* X at the left end */
    long double loss[BRUME_SAMPLED_LAPLACE_PANELS * BRUME_SAMPLED_LAPLACE_POINTS];
    long double
        mass[BRUME_SAMPLED_LAPLACE_PANELS * BRUME_SAMPLED_LAPLACE_POINTS]; /* under the first law */
    long double top, bottom, top_mass, bottom_mass;                        /* v of the atoms */

    /* on the line */
    double top_share, bottom_share, share[BRUME_SAMPLED_LAPLACE_PANELS];
    double length[BRUME_SAMPLED_LAPLACE_PANELS],
        centre[BRUME_SAMPLED_LAPLACE_PANELS]; /* half; of the loss */
    double even[BRUME_SAMPLED_LAPLACE_PANELS * BRUME_LEGENDRE_PAIRS],
        odd[BRUME_SAMPLED_LAPLACE_PANELS * BRUME_LEGENDRE_PAIRS];
    double series[BRUME_SAMPLED_LAPLACE_DEGREES][BRUME_SAMPLED_LAPLACE_PANELS];
    double size, widest;                           /* E|L|; the largest half */
    double series_error;                           /* of the expansions, all panels together */
    double series_size;                            /* sum of their coefficients' sizes */
    double quadrature[BRUME_SAMPLED_LAPLACE_RHOS]; /* logs of the rule's error on each rho's
                                                      ellipse, y = 0 */
    double ends, middle;                           /* the density at its ends, added; its share */
    double doubt;                                  /* a bound of the relative error of all shares */
} brume_panels;

enum {
    POINTS = BRUME_SAMPLED_LAPLACE_POINTS,
    DEGREES = BRUME_SAMPLED_LAPLACE_DEGREES,
    MOST_PANELS = BRUME_SAMPLED_LAPLACE_PANELS,
    RHOS = BRUME_SAMPLED_LAPLACE_RHOS
};

static const double unit = BRUME_UNIT;
static const double long_unit = 0x1p-63;

/* log of a bound, on the ellipse of rho around panel p, of the density times e^{tilt v}. */
static double log_size(const brume_law *law, const brume_panels *panels, size_t p, double power,
                       double rho)
{
    double half = (double)panels->half[p], reach = 0.5 * (rho + 1 / rho);
    double centre = (double)(panels->start[p] + panels->half[p]);
    /* |e^v - (1-q)| is at least its value at the leftmost point, which is d right of the start */
    double d = half * (1 - reach),
           X = (double)panels->rise[p] * exp(d) + (1 - law->rate) * expm1(d);
    if (!(X > 0))
        return INFINITY;
    return log(0.25 * half) - 0.5 * law->a + 0.5 * log(law->rate) + power * centre +
           fabs(power) * half * reach - 1.5 * log(X) + 1e-6; /* more than these sums lose */
}

/* log of the rule's error over all panels for e^{power v} times the density of Q over e^v. */
static double log_rule_error(const brume_law *law, const brume_panels *panels, double power,
                             double rho)
{
    double most = -INFINITY;
    for (size_t p = 0; p < panels->count; p++)
        most = fmax(most, log_size(law, panels, p, power, rho));
    return most + log(64.0 / 15 * (double)panels->count / (1 - 1 / (rho * rho))) -
           2 * POINTS * log(rho);
}

/* dv/dl = X/e^v, which grows with l. */
static double steepness(const brume_law *law, double inner)
{
    double rise = law->rate * exp(inner);
    return rise / (1 - law->rate + rise);
}

/* Choose panels for a tilt of c, from the heavy end on: at most 1/2 of the inner loss each, and in
 * v at most 1.5/(c+2) or half of the way come, for what lies further is lighter. False if too many.
 */
static bool choose_panels(brume_law *law, double c, long double *left, long double *step)
{
    long double e = law->a, at = 0; /* how far from the heavy end */
    double way = 0;                 /* the same in v, roughly */
    size_t count = 0;
    while (at < 2 * e && count < MOST_PANELS) {
        double inner = (double)(law->reversed ? at - e : e - at);
        double steep = steepness(law, law->reversed ? inner + 0.5 : inner);
        long double length = fmin(0.5, fmax(1.5 / (c + 2), way / 2) / steep);
        if (at + 1.2L * length > 2 * e)
            length = 2 * e - at;
        left[count] = law->reversed ? at - e : e - at - length;
        step[count++] = length;
        way += 0.5 * (double)length *
               (steepness(law, inner) + steepness(law, (double)left[count - 1]));
        at += length;
        if (length >= 2 * e - (at - length)) /* the last one */
            at = 2 * e;
    }
    ((brume_panels *)law->state)->count = count;
    return at >= 2 * e;
}

/* Lay the panels for a tilt of c. */
static bool lay_panels(brume_law *law, double c)
{
    brume_panels *panels = law->state;
    long double e = law->a, q = law->rate;
    long double lefts[MOST_PANELS], steps[MOST_PANELS];
    law->c = -1;
    panels->tilt = c;
    panels->able = choose_panels(law, c, lefts, steps);
    long double normal = expl(-e / 2) * sqrtl(q) / 4, rest = 1 - q;
    for (size_t p = 0; p < panels->count; p++) {
        long double left = lefts[p], step = steps[p]; /* of the inner loss */
        long double start = brume_sampled_log_ratio(left, q), rise = q * expl(left);
        /* log(r'/r) = log1p(X (e^step - 1)/r) */
        long double half = log1pl(rise * expm1l(step) / expl(start)) / 2;
        panels->start[p] = start;
        panels->half[p] = half;
        panels->rise[p] = rise;
        for (int j = 0; j < POINTS; j++) {
            const brume_legendre_pair *pair = &legendre_rule[j % BRUME_LEGENDRE_PAIRS];
            long double d = half * (j < BRUME_LEGENDRE_PAIRS ? 1 + pair->place : 1 - pair->place);
            /* X = rise e^d + (1-q) (e^d - 1), all positive, and e^v = X + 1 - q */
            long double v = start + d, X = rise + (rise + rest) * expm1l(d), growth = X + rest;
            long double mass = normal * growth / (X * sqrtl(X)) * (law->reversed ? 1 : growth);
            panels->loss[p * POINTS + (size_t)j] = law->reversed ? -v : v;
            panels->mass[p * POINTS + (size_t)j] = pair->weight * half * mass;
        }
    }
    return panels->able;
}

/* Are the panels good for the rule with e^{cL}? Lay them again if not; false if too many. */
static bool cover(brume_law *law, double c)
{
    const brume_panels *panels = law->state;
    if (panels->tilt < 0)
        return lay_panels(law, c <= 8 ? 0 : 2 * c);
    return c <= 4 * panels->tilt + 8 ? panels->able : lay_panels(law, 2 * c);
}

/* How far a mass is off at most, relative, and with it a sum of all: logarithms of q and of e^e. */
static double mass_error(const brume_law *law)
{
    const brume_panels *panels = law->state;
    return long_unit * (200 + 8 * (law->a - log(law->rate)) + (double)(panels->count * POINTS));
}

/* log phi(c) in doubles, of panels that cover c. */
static double rough_cumulant(const brume_law *law, double c, double *slope)
{
    const brume_panels *panels = law->state;
    double sign = law->reversed ? -1 : 1, base = c * law->top;
    double upper = sign * (double)panels->top, lower = sign * (double)panels->bottom;
    double one = (double)panels->top_mass * exp(c * upper - base);
    double two = (double)panels->bottom_mass * exp(c * lower - base);
    long double sum = (long double)one + two; /* thousands of terms, of 6 units each at most */
    double moment = one * upper + two * lower;
    for (size_t j = 0; j < panels->count * POINTS; j++) {
        double loss = (double)panels->loss[j];
        double term = (double)panels->mass[j] * exp(c * loss - base);
        sum += term;
        moment += term * loss;
    }
    if (slope)
        *slope = moment / (double)sum;
    return base + (double)logl(sum);
}

static long double cumulant(brume_law *law, double at, double *slope, double *error)
{
    brume_panels *panels = law->state;
    if (!cover(law, at)) {
        if (slope)
            *slope = law->top;
        if (error)
            *error = INFINITY;
        return at * (long double)law->top;
    }
    if (!error)
        return rough_cumulant(law, at, slope);
    long double c = at, upper = law->reversed ? -panels->top : panels->top, sum = 0, moment = 0;
    long double lower = law->reversed ? -panels->bottom : panels->bottom;
    long double most = fmaxl(panels->top, -panels->bottom), size = 0;
    size_t count = panels->count * POINTS;
    bool small = c * most < 0.5L, series = most <= 0.25L && c * most <= 0.25L;
    long double base = small ? 0 : c * (long double)law->top;
    if (small) { /* as the two atoms' of pure.c */
        sum = panels->top_mass * brume_moment_term(c, upper, series) +
              panels->bottom_mass * brume_moment_term(c, lower, series);
        for (size_t j = 0; j < count; j++)
            sum += panels->mass[j] * brume_moment_term(c, panels->loss[j], series);
    }
    long double one = panels->top_mass * expl(c * upper - base);
    long double two = panels->bottom_mass * expl(c * lower - base), all = one + two;
    moment = one * upper + two * lower;
    size = one * fabsl(upper) + two * fabsl(lower);
    for (size_t j = 0; j < count; j++) {
        long double term = panels->mass[j] * expl(c * panels->loss[j] - base);
        all += term;
        moment += term * panels->loss[j];
        size += term * fabsl(panels->loss[j]);
    }
    if (slope)
        *slope = (double)(moment / all);
    size /= all;
    if (!small)
        sum = all;
    long double value = small ? log1pl(sum) : base + logl(sum);
    double rule = INFINITY;
    for (int i = 0; i < RHOS; i++)
        rule = fmin(rule, log_rule_error(law, panels, law->reversed ? 1 - at : at + 2, rhos[i]));
    double masses = mass_error(law);
    if (small) {
        /* e^{cL}, 1 and e^{-L} are each integrated by the rule; atoms move by 16 long units */
        double others = INFINITY;
        for (int i = 0; i < RHOS; i++)
            others = fmin(others, fmax(log_rule_error(law, panels, 1, rhos[i]),
                                       log_rule_error(law, panels, 2, rhos[i])));
        *error = (double)value * (masses + long_unit * 40 * (double)most) + exp(rule) +
                 (1 + 2 * at) * exp(others);
        *error += series ? long_unit * 40 * at * (at + 1) * (double)size * (double)most
                         : long_unit * 60 * at * (double)(size + most);
    } else {
        *error = masses + long_unit * 64 * at * (double)most + 1.1 * exp(rule - (double)value);
    }
    return value;
}

/* Legendre's polynomials at the upper points of the rule; at the lower ones odd ones change sign.
 */
typedef struct polynomials {
    long double at[DEGREES][BRUME_LEGENDRE_PAIRS];
} polynomials;

static void fill_polynomials(polynomials *out)
{
    for (int j = 0; j < BRUME_LEGENDRE_PAIRS; j++) {
        long double t = legendre_rule[j].place, low = 1, high = t;
        for (int n = 0; n < DEGREES; n++) {
            long double next = ((2 * n + 3) * t * high - (n + 1) * low) / (n + 2);
            out->at[n][j] = low;
            low = high;
            high = next;
        }
    }
}

/* Legendre's coefficients of the tilted density of panel p, from its points. */
static void expand(brume_panels *panels, size_t p, const polynomials *legendre,
                   const long double *tilted)
{
    long double parts[2][BRUME_LEGENDRE_PAIRS];
    for (int j = 0; j < BRUME_LEGENDRE_PAIRS; j++) {
        parts[0][j] = tilted[j] + tilted[j + BRUME_LEGENDRE_PAIRS];
        parts[1][j] = tilted[j] - tilted[j + BRUME_LEGENDRE_PAIRS];
        panels->even[p * BRUME_LEGENDRE_PAIRS + (size_t)j] = (double)parts[0][j];
        panels->odd[p * BRUME_LEGENDRE_PAIRS + (size_t)j] = (double)parts[1][j];
    }
    for (int n = 0; n < DEGREES; n++) {
        long double sum = 0;
        for (int j = 0; j < BRUME_LEGENDRE_PAIRS; j++)
            sum += parts[n % 2][j] * legendre->at[n][j];
        /* a_n = (2n+1)/2 sum, and the integral of P_n e^{i theta t} is 2 i^n j_n(theta) */
        panels->series[n][p] = (double)((2 * n + 1) * sum);
        panels->series_size += fabs(panels->series[n][p]);
    }
}

static bool settle(brume_law *law)
{
    brume_panels *panels = law->state;
    double error, at = law->c;
    if (!(panels->tilt >= at / 1.2 && panels->tilt <= 2 * at + 1) && !lay_panels(law, at))
        panels->able = false; /* for the series too, and not more than it takes */
    long double c = at, value = cumulant(law, at, NULL, &error);
    law->c = at; /* the panels may have been laid anew for it */
    long double top = law->reversed ? -panels->top : panels->top;
    long double bottom = law->reversed ? -panels->bottom : panels->bottom;
    panels->top_share = (double)(panels->top_mass * expl(c * top - value));
    panels->bottom_share = (double)(panels->bottom_mass * expl(c * bottom - value));
    panels->size = panels->top_share * fabs((double)top) +
                   panels->bottom_share * fabs((double)bottom);
    panels->series_size = panels->widest = panels->middle = 0;
    polynomials legendre;
    fill_polynomials(&legendre);
    for (size_t p = 0; p < panels->count; p++) {
        long double tilted[POINTS], sum = 0;
        for (size_t j = 0; j < POINTS; j++) {
            long double loss = panels->loss[p * POINTS + j];
            tilted[j] = panels->mass[p * POINTS + j] * expl(c * loss - value);
            sum += tilted[j];
            panels->size += (double)(tilted[j] * fabsl(loss));
        }
        panels->share[p] = (double)sum;
        panels->middle += (double)sum;
        panels->length[p] = (double)panels->half[p];
        panels->centre[p] = (law->reversed ? -1 : 1) * (double)(panels->start[p] + panels->half[p]);
        panels->widest = fmax(panels->widest, panels->length[p]);
        expand(panels, p, &legendre, tilted);
    }
    double power = law->reversed ? 1 - at : at + 2, best = INFINITY;
    for (int i = 0; i < RHOS; i++) {
        double rho = rhos[i], most = -INFINITY;
        panels->quadrature[i] = log_rule_error(law, panels, power, rho) - (double)value;
        for (size_t p = 0; p < panels->count; p++)
            most = fmax(most, log_size(law, panels, p, power, rho));
        /* cut after DEGREES terms, and the rule for P_n f, |P_n| <= rho^n on the ellipse */
        double all = (2 + 2.0 * DEGREES * DEGREES) * 2 / (rho - 1) * pow(rho, 1 - DEGREES) +
                     DEGREES * DEGREES * 64.0 / 15 / (1 - 1 / (rho * rho)) *
                         pow(rho, DEGREES - 2 * POINTS);
        best = fmin(best, exp(most - (double)value) * all);
    }
    panels->series_error = (double)panels->count * best;
    double most = (double)fmaxl(panels->top, -panels->bottom);
    panels->doubt = error + mass_error(law) + long_unit * 64 * at * most;
    /* the tilted density at its two ends; up: by the exponents' own units too */
    double scale = 0.25 * exp(-0.5 * law->a) * sqrt(law->rate);
    double low = power * (double)panels->bottom - 1.5 * (log(law->rate) - law->a);
    double high = power * (double)panels->top - 1.5 * (log(law->rate) + law->a);
    double sizes = fabs(power) * most + 2 * (law->a - log(law->rate)) + fabs((double)value);
    panels->ends = scale * (exp(low - (double)value) + exp(high - (double)value)) *
                   (1 + 1e-9 + 16 * unit * sizes + panels->doubt);
    if (!(error < 1e-3))
        panels->ends = INFINITY; /* nothing is known: only |psi| <= 1 */
    return true;
}

static double envelope(brume_law *law, double low, double high)
{
    /* the atoms: |A + B e^{i phase}|^2 = (A+B)^2 - 4 A B sin^2(phase/2); the rest at most its share
     * and, by parts, (ends + variation)/y, its variation being at most its ends: it falls, then
     * rises */
    const brume_panels *panels = law->state;
    if (!(panels->ends < INFINITY))
        return 0;
    double one = panels->top_share, two = panels->bottom_share, both = one + two;
    double sine = brume_smallest_sine_square(low * panels->spread, high * panels->spread);
    double lost = 4 * one * two * sine * (1 - 1e-9);
    double rest = fmin(panels->middle, 2 * panels->ends / low);
    double bound = (sqrt(fmax(both * both - lost, 0)) + rest) * (1 + 1e-12) + 1e-15 +
                   2 * panels->doubt;
    return bound < 1 ? log(bound) : 0;
}

static double node_cost(const brume_law *law)
{
    const brume_panels *panels = law->state;
    return 120 + 20 * (double)panels->count;
}

static brume_log_psi sampled_laplace_node(brume_law *law, long index, double h);

static const brume_law_family family = {.name = "Laplace on a Poisson sample",
                                        .cumulant = cumulant,
                                        .settle = settle,
                                        .node = sampled_laplace_node,
                                        .envelope = envelope,
                                        .node_cost = node_cost};

brume_status brume_sampled_laplace_open(brume_law *law, brume_error *error)
{
    static const double most = 17; /* of the inner epsilon */
    long double e = law->a, q = law->rate;
    law->family = &family;
    BRUME_TRY(brume_law_allocate(law, sizeof(brume_panels), error));
    brume_panels *panels = law->state;
    panels->top = brume_sampled_log_ratio(e, q);
    panels->bottom = brume_sampled_log_ratio(-e, q);
    panels->top_mass = 0.5L * expl(law->reversed ? -e : panels->top - e);
    panels->bottom_mass = 0.5L * (law->reversed ? 1 : expl(panels->bottom));
    panels->spread = (double)((panels->top - panels->bottom) / 2);
    if (!(panels->spread >= 1e-300) || !(e <= most))
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL,
                          "loss law: a sampled Laplace of epsilon %.3g", law->a);
    law->orders_differ = true;
    law->bounded = true;
    law->top = (double)(law->reversed ? -panels->bottom : panels->top);
    law->log_top_mass = (double)logl(law->reversed ? panels->bottom_mass : panels->top_mass);
    long double lefts[MOST_PANELS], steps[MOST_PANELS];
    panels->tilt = -1; /* laid when they are asked for: a closed form does without them */
    panels->able = choose_panels(law, 0, lefts, steps);
    if (!panels->able)
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL, "loss law: too many panels");
    return BRUME_OK;
}

/* psi of a Laplace loss on a Poisson sample at one node, all panels at once. See sampled_laplace.c
 * and proofs/accountant/law.md, section law.6.
 *
 * Promise: as law.h. All instruction sets give the same bits. */

enum { PAIRS = BRUME_LEGENDRE_PAIRS, PANELS = BRUME_SAMPLED_LAPLACE_PANELS, LANES = 16 };

static const double bessel_from = 1.25 * DEGREES; /* where the recurrence is stable */

/* The panel's part of psi - 1, from its centre: sum of even (cos - 1) + i odd sin. */
static void by_points(const brume_panels *panels, size_t p, double theta, double *re, double *im)
{
    double angle[PAIRS], s[PAIRS], c[PAIRS], sum_re = 0, sum_im = 0;
    const double *even = panels->even + p * PAIRS, *odd = panels->odd + p * PAIRS;
    for (size_t j = 0; j < PAIRS; j++)
        angle[j] = 0.5 * theta * (double)legendre_rule[j].place;
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

/* As law.h. */
static brume_log_psi sampled_laplace_node(brume_law *law, long index, double h)
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
                                  theta * 0.5 * (rhos[i] - 1 / rhos[i])); /* sup |e^{iyv}| */
        error += 2 * exp(best); /* and of the share itself */
    }
    if (!(panels->ends < INFINITY))
        error = INFINITY;
    return brume_log_psi_of(re, im, error);
}
