/* The nodes of a line, a block at a time: where a band makes a line long and its laws are quickly
 * computed, all steps are done on many nodes at once. See line.h.
 *
 * psi of all draws is the product of powers of psi of one draw, by squaring, not exp(n log psi):
 * each product is rounded by less than 3 units of itself, so n draws by n times what one is off by
 * and 6 n units. That is little for thousands of draws, and no line of more of them is long.
 * Promise: as brume_line_node. */
#include "accountant/contour/line.h"

#include <math.h>

#include "number/paths.h"

enum { BLOCK = BRUME_PSI_BLOCK };

static const double unit = BRUME_UNIT;
static const double most_draws = 2e4;
static const double most_error = 0.1; /* relative, of a node that is summed */

bool brume_line_has_blocks(const brume_line *line)
{
    double draws = 0;
    for (size_t i = 0; i < line->law_count; i++) {
        if (!line->laws[i].family->psi_block)
            return false;
        draws += line->laws[i].count;
    }
    return line->unit == 0 && line->band.width > 0 && line->centre == 0 && draws <= most_draws;
}

/* The product so far times re + i im to the power of `count`. */
BRUME_BODY void multiply_powers_body(double *restrict re, double *restrict im,
                                     const double *restrict base_re, const double *restrict base_im,
                                     unsigned long count)
{
    double power_re[BLOCK], power_im[BLOCK];
    for (size_t j = 0; j < BLOCK; j++) {
        power_re[j] = base_re[j];
        power_im[j] = base_im[j];
    }
    for (;; count /= 2) {
        if (count % 2)
            for (size_t j = 0; j < BLOCK; j++) {
                double old = re[j];
                re[j] = old * power_re[j] - im[j] * power_im[j];
                im[j] = old * power_im[j] + im[j] * power_re[j];
            }
        if (count <= 1)
            break;
        for (size_t j = 0; j < BLOCK; j++) {
            double old = power_re[j];
            power_re[j] = (old - power_im[j]) * (old + power_im[j]);
            power_im[j] = 2 * old * power_im[j];
        }
    }
}
BRUME_PATHS(static, multiply_powers,
            (double *re, double *im, const double *base_re, const double *base_im,
             unsigned long count),
            (re, im, base_re, base_im, count))

/* psi of all draws, off by error[j] of itself, and a bound of the log of its modulus. */
typedef struct all_psi {
    double re[BLOCK], im[BLOCK], error[BLOCK], ceiling[BLOCK];
} all_psi;

static void multiply_laws(const brume_line *line, const double *y, all_psi *all)
{
    for (size_t j = 0; j < BLOCK; j++) {
        all->re[j] = 1;
        all->im[j] = all->error[j] = all->ceiling[j] = 0;
    }
    for (size_t i = 0; i < line->law_count; i++) {
        const brume_law *law = &line->laws[i];
        double re[BLOCK], im[BLOCK], error[BLOCK];
        law->family->psi_block(law, y, BLOCK, re, im, error);
        for (size_t j = 0; j < BLOCK; j++) {
            double size = sqrt(re[j] * re[j] + im[j] * im[j]);
            all->error[j] += law->count * (error[j] / size + 8 * unit);
            if (!(all->error[j] <= most_error)) /* not summed: its modulus is all that is used */
                all->ceiling[j] += law->count * log(fmin(size * (1 + 4 * unit) + error[j], 1));
        }
        multiply_powers(all->re, all->im, re, im, (unsigned long)law->count);
    }
}

void brume_line_block(const brume_line *line, long from, brume_node_block *out)
{
    double y[BLOCK];
    all_psi psi;
    brume_band_block kernel;
    out->from = from;
    for (size_t j = 0; j < BLOCK; j++) /* beyond the end of the band: any place will do */
        y[j] = fmin((double)(from + (long)j) * line->h, line->band.end * (1 - 1e-15));
    multiply_laws(line, y, &psi);
    brume_band_at_block(&line->band, y, BLOCK, &kernel);
    for (size_t j = 0; j < BLOCK; j++) {
        double first_re = kernel.upper_re[j], first_im = kernel.upper_im[j];
        double second_re = kernel.lower_re[j], second_im = kernel.lower_im[j];
        double first = sqrt(first_re * first_re + first_im * first_im) * (1 + 8 * unit);
        double second = sqrt(second_re * second_re + second_im * second_im) * (1 + 8 * unit);
        brume_node *node = &out->node[j];
        *node = (brume_node){.y = y[j]};
        if (!(psi.error[j] <= most_error)) {
            double bound = exp(psi.ceiling[j]) * (1 + 1e-9);
            node->error = bound * (first + kernel.error[j]) * (1 + 1e-9) + 1e-280;
            node->second_error = bound * (second + kernel.error[j]) * (1 + 1e-9) + 1e-280;
            out->size[j] = bound * first;
            continue;
        }
        double re = psi.re[j], im = psi.im[j], size = sqrt(re * re + im * im) * (1 + 4 * unit);
        node->first_re = re * first_re - im * first_im;
        node->first_im = re * first_im + im * first_re;
        node->second_re = re * second_re - im * second_im;
        node->second_im = re * second_im + im * second_re;
        /* |e^w - 1| <= 1.1 |w|; products of both: 16 units; what underflows is not nothing */
        double off = 1.1 * psi.error[j] + 16 * unit;
        node->error = size * (first * off + 1.2 * kernel.error[j]) + 1e-280;
        node->second_error = size * (second * off + 1.2 * kernel.error[j]) + 1e-280;
        out->size[j] = size * first;
    }
}
