/* Where a dense line stands: the c at which it is cheapest. Promise: none but a c with 24 bits; any
 * c serves, and what it certifies is worked out for that c. proofs/accountant.md, section 12.
 *
 * A larger c has fewer nodes, since their step grows with c. A smaller one has smaller nodes: far
 * from the real line |phi(c+iy)| e^{-c eps} is near P(top) e^{c (top - eps)}, so that a sieve
 * passes over nearly all of them, while the first ones grow slowly. */
#include <math.h>

#include "accountant/dense.h"

enum { FEW = 12, SAMPLES = 48 };
static const double own_rounding = 2e-14; /* of a draw's factor, relative to the first node */

/* A law's factor far from the real line: |psi|^2 = top (1 - bend sin^2 ya). */
static double far_factor(const brume_law *law, double c, double *bend)
{
    bool laplace = law->kind == BRUME_LAW_LAPLACE, binary = law->kind == BRUME_LAW_BINARY;
    double t = tanh(binary ? fabs((double)(law->lean + c * law->spread)) : (c + 0.5) * law->a);
    double below = laplace ? 1 + t / (2 * c + 1) : 1;
    *bend = 1 - t * t;
    return below;
}

/* The share of places y at which -log|psi| of all draws is below the threshold: of many laws by
 * its mean and deviation, of few by some places. A guess. */
static double kept_share(const brume_line *line, double c, double threshold)
{
    double sum = 0, square = 1e-9, bend;
    if (line->law_count > FEW) {
        for (size_t i = 0; i < line->law_count; i++) {
            const brume_law *law = &line->laws[i];
            double below = far_factor(law, c, &bend);
            double one = log(2 * below / (1 + sqrt(1 - bend)));
            sum += law->count * one;
            square += 1.7 * law->count * law->count * one * one;
        }
        /* the sieve's own bounds are a fifth or so below */
        return 0.5 * erfc((0.85 * sum - 2 - threshold) / (1.4 * sqrt(square)));
    }
    double height[SAMPLES] = {0}, kept = 0;
    for (size_t i = 0; i < line->law_count; i++) {
        double below = far_factor(&line->laws[i], c, &bend), count = line->laws[i].count;
        double turn = sqrt((double)(i + 2)) * 0.6180339887498949;
        for (int j = 0; j < SAMPLES; j++) {
            double x = (j + 0.5) * turn, wave = sin(M_PI * (x - floor(x)));
            height[j] += count * log(below * below / (1 - bend * wave * wave));
        }
    }
    for (int j = 0; j < SAMPLES; j++)
        kept += 0.5 * height[j] < threshold + 1;
    return kept / SAMPLES;
}

double brume_dense_place(const brume_line *line, double epsilon, double share, double goal)
{
    static const double ratios[] = {1, 1.5, 1.25, 0.9, 0.8, 0.7, 0.6, 0.5};
    double saddle = line->saddle > 0 ? line->saddle : line->c, best = INFINITY, place = saddle;
    double open = fmin(saddle * (saddle + 1) * line->width * line->width / 8, 1), draws = 0;
    double fill = brume_dense_price(line), end = 2 * M_PI / line->width, ground = 0;
    double sieve = 2 + 0.1 * (double)line->law_count;
    for (size_t i = 0; i < line->law_count; i++)
        draws += line->laws[i].count;
    for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++) {
        double c = (double)(float)(saddle * ratios[i]);
        double k = brume_cumulant_rough(line->laws, line->law_count, c, NULL);
        double scale = k - c * epsilon;
        double nodes = end / (2 * M_PI) * brume_line_spacing(line, epsilon, c, k, share);
        if (i == 0) {
            ground = scale;
            if (nodes * fill < 2e4) /* cheap as it is */
                break;
        }
        /* what rounds is relative to exp(scale): it must be little beside what the band leaves */
        double rounded = draws * own_rounding * exp(scale - goal) / (c * c);
        if (i > 0 && (!(scale <= ground + 7) || rounded > 0.1 * open))
            continue;
        double threshold = -log(BRUME_DENSE_PASSED * open * 0.2 * end) + scale - goal;
        double kept = fmin(4 * kept_share(line, c, threshold), 1); /* by whole blocks */
        double cost = nodes * (sieve + kept * fill);
        if (cost < best) {
            best = cost;
            place = c;
        }
    }
    return place;
}
