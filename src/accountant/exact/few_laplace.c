/* Few Laplace draws. See the header, and proofs/accountant/exact.md, section exact.1 and exact.2.
 *
 *   delta(eps) = e^{eps/2} N sum over patterns with b > eps of C F_{A,B}((b - eps)/2),  eps >= 0,
 * and for eps < 0 by delta(eps) = 1 - e^eps + e^eps delta(-eps): half the patterns, and those that
 * cancel least. */
#include "accountant/exact/atom_sum.h"

#include <math.h>
#include <string.h>

static const double unit = BRUME_UNIT;

/* Rows of F_{A,K-A} for 1 <= A <= K-1: 2 q_{K-1-j}/j! at x^j, q = (tau+1)^{A-1}(tau-1)^{B-1}; for A
 * = K: -2 S_{K-1-j}/j!, and 2^K (e^x - 1). All are exact but for the division. */
static void fill_rows(brume_few_laplace *few)
{
    size_t k = few->draws;
    for (size_t ups = 1; ups <= k; ups++) {
        double q[BRUME_FEW_DRAWS + 1] = {1}; /* q_0 .. */
        size_t downs = k - ups, degree = 0;
        for (size_t i = 1; i < ups; i++, degree++)
            for (size_t j = degree + 1; j > 0; j--)
                q[j] += q[j - 1]; /* times 1 + tau */
        for (size_t i = 1; i < downs; i++, degree++) {
            for (size_t j = degree + 1; j > 0; j--)
                q[j] = q[j - 1] - q[j]; /* times tau - 1 */
            q[0] = -q[0];
        }
        if (ups == k) /* S_m = sum of C(K-1, i), i <= m */
            for (size_t j = 1; j < k; j++)
                q[j] += q[j - 1];
        double factorial = 1;
        for (size_t j = 0; j < k; factorial *= (double)++j)
            few->row[ups][j] = (ups == k ? -2 : 2) * q[k - 1 - j] / factorial;
        few->row[ups][0] = 0; /* F(0) = 0: q_{K-1} = 0, and S_{K-1} is in e^x - 1 */
    }
}

static void add_patterns(brume_few_laplace *few, const brume_law *const *laws, const double *moved,
                         size_t kinds, double shift, double weight, size_t ups)
{
    if (kinds == 0) {
        if (shift > 0) { /* insert, the largest first */
            size_t at = few->patterns++;
            for (; at > 0 && few->shift[at - 1] < shift; at--) {
                few->shift[at] = few->shift[at - 1];
                few->weight[at] = few->weight[at - 1];
                few->ups[at] = few->ups[at - 1];
            }
            few->shift[at] = shift;
            few->weight[at] = weight;
            few->ups[at] = ups;
        }
        return;
    }
    double count = laws[0]->count, choose = 1;
    for (double j = 0; j <= count; j++) { /* j draws down */
        add_patterns(few, laws + 1, moved + 1, kinds - 1, shift + (count - 2 * j) * moved[0],
                     weight * choose, ups + (size_t)(count - j));
        choose *= (count - j) / (j + 1); /* whole numbers below 1000: exact in the end */
        choose = round(choose);
    }
}

bool brume_few_laplace_open(const brume_law *laws, size_t count, brume_side side,
                            brume_few_laplace *out)
{
    const brume_law *kinds[BRUME_FEW_DRAWS];
    double moved[BRUME_FEW_DRAWS], draws = 0, patterns = 1;
    size_t kind_count = 0;
    memset(out, 0, sizeof *out);
    out->normal = 1;
    for (size_t i = 0; i < count; i++) {
        if (!brume_law_is_laplace(&laws[i]))
            continue;
        draws += laws[i].count;
        patterns *= laws[i].count + 1;
        if (!(draws <= BRUME_FEW_DRAWS) || !(patterns <= BRUME_FEW_PATTERNS))
            return false;
        kinds[kind_count] = &laws[i];
        moved[kind_count] = brume_parameter_moved(laws[i].a, side);
        out->top += laws[i].count * moved[kind_count];
        out->normal *= pow(0.5 * exp(-0.5 * moved[kind_count]), laws[i].count);
        kind_count++;
    }
    out->draws = (size_t)draws;
    if (out->draws == 0)
        return true;
    fill_rows(out);
    add_patterns(out, kinds, moved, kind_count, 0, 1, 0);
    double most = 0.5 * out->top;
    for (size_t i = 0; i < out->patterns; i++) {
        const double *row = out->row[out->ups[i]];
        double slope = out->ups[i] == out->draws ? ldexp(exp(most), (int)draws) : 0;
        for (size_t j = out->draws; j-- > 1;)
            slope += (double)j * fabs(row[j]) * pow(most, (double)j - 1);
        out->steepness += out->weight[i] * slope;
    }
    return isfinite(out->steepness);
}

double brume_few_laplace_value(const brume_few_laplace *few, double x, double *error)
{
    *error = 0;
    if (x >= few->top) /* all losses count, and E e^{-L} = 1 */
        return x > 0 ? -expm1(-x) : 0;
    if (x <= -few->top)
        return 0;
    double epsilon = fabs(x), sum = 0, size = 0;
    size_t k = few->draws;
    for (size_t i = 0; i < few->patterns && few->shift[i] > epsilon; i++) {
        double y = 0.5 * (few->shift[i] - epsilon), value = 0, modulus = 0;
        const double *row = few->row[few->ups[i]];
        for (size_t j = k; j-- > 1;) {
            value = (value + row[j]) * y;
            modulus = (modulus + fabs(row[j])) * y;
        }
        if (few->ups[i] == k) {
            double rise = ldexp(expm1(y), (int)k);
            value += rise;
            modulus += rise;
        }
        sum += few->weight[i] * value;
        size += few->weight[i] * modulus;
    }
    double scale = exp(0.5 * epsilon) * few->normal;
    double value = scale * sum;
    /* Horner: 2 units a step, rows 2, expm1 4, sums one a pattern; shifts by K + 4 units of top */
    double bound = unit * scale *
                   ((2 * (double)k + 16 + (double)few->patterns) * size +
                    ((double)k + 4) * few->top * few->steepness);
    if (x > 0) {
        double fade = exp(-x);
        value = -expm1(-x) + fade * value;
        bound = fade * bound + 8 * unit * value;
    }
    *error = 1.01 * bound;
    return fmax(value, 0);
}
