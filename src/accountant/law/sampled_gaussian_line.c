/* The subsampled Gaussian on the moved line Im x = d: psi by a table that serves every y. See
 * sampled_gaussian.c and proofs/accountant/law.md, section law.3.
 *
 * psi(y) = sum w_j exp(i y lambda_j), w_j complex, Im lambda_j >= 0. Promise: |error of psi| as
 * brume_sampled_node and the envelope say, for every parameter within its 8 units. */
#include "accountant/law/sampled_gaussian.h"

#include "accountant/law/family.h"
#include "accountant/law/points.h"
#include "number/elementary.h"
#include "number/elementary_body.h"

enum { BLOCK = BRUME_WAVE_BLOCK, ROW = BRUME_WAVE_ROW, FRESH = 16 };

static const double unit = BRUME_UNIT;

/* No table reaches this line: nothing is claimed of psi but |psi| <= 1. */
void brume_sampled_claim_nothing(brume_law *law)
{
    brume_sampled_tables *tables = law->state;
    tables->rule_error = 2; /* |psi - 1| is not above it */
    tables->moved.live = 0;
}

/* log r(x + id) = atom + i spot, removed, and log of N0(x + id) r^power = weight + i wave_im, for a
 * block of places; added: at x - id, everything conjugate. */
static void fill_shifted(brume_law *law, size_t from, double angle, double power)
{
    brume_points *p = &brume_sampled_tables_of(law)->moved;
    size_t count = p->count - from < BLOCK ? p->count - from : BLOCK;
    double square = law->a * law->a, q = law->rate, sign = law->reversed ? -1 : 1;
    double cosine = cos(angle), sine = sin(angle), half = sin(0.5 * angle);
    double t[BLOCK], less[BLOCK], whole[BLOCK], excess[BLOCK], log_size[BLOCK], z_im[BLOCK];
    bool small = false;
    brume_sampled_logits(p->place + from, count, square, t);
    brume_vector_expm1(t, less, count);
    brume_vector_exp(t, whole, count);
    for (size_t j = 0; j < count; j++) {
        /* r = 1 + z; its real part is a sum of positive terms, the angle being below pi/2 */
        double z_re = q * (less[j] * cosine - 2 * half * half);
        z_im[j] = q * whole[j] * sine;
        excess[j] = 2 * z_re + z_re * z_re + z_im[j] * z_im[j]; /* |r|^2 - 1 */
        t[j] = 1 - q + q * whole[j] * cosine;
        small |= excess[j] < -0.5;
    }
    brume_vector_log1p(excess, log_size, count);
    for (size_t j = 0; small && j < count; j++)
        if (excess[j] < -0.5)
            log_size[j] = log(t[j] * t[j] + z_im[j] * z_im[j]);
    for (size_t j = 0; j < count; j++) {
        double x = p->place[from + j], log_re = 0.5 * log_size[j], log_im = atan2(z_im[j], t[j]);
        p->atom[from + j] = sign * log_re;
        p->spot[from + j] = log_im;
        p->weight[from + j] = -x * x / (2 * square) + power * log_re;
        p->wave_im[from + j] = sign * (-x * angle + power * log_im);
    }
}

/* A block of the complex weights loss + i log_mass, not normalised, and their sum. */
static void weigh_shifted(brume_points *p, size_t from, double top, double *sum_re, double *sum_im)
{
    size_t count = p->count - from < BLOCK ? p->count - from : BLOCK;
    double exponent[BLOCK] = {0}, modulus[BLOCK];
    for (size_t j = 0; j < count; j++)
        exponent[j] = p->weight[from + j] - top;
    brume_vector_exp(exponent, modulus, count);
    brume_vector_sincos(p->wave_im + from, p->log_mass + from, p->loss + from, count);
    for (size_t j = 0; j < count; j++) {
        *sum_re += p->loss[from + j] *= modulus[j];
        *sum_im += p->log_mass[from + j] *= modulus[j];
    }
}

typedef struct shifted_sums {
    double sum_re, sum_im, top, power; /* in */
    double size, moment, deviation, spread, moved;
} shifted_sums;

/* Divide the weights by their sum; and bounds of what they and their errors amount to. */
BRUME_BODY void finish_shifted_body(double *restrict re, double *restrict im,
                                    double *restrict weight, const double *restrict atom,
                                    const double *restrict spot, const double *restrict phase,
                                    const double *restrict place, const double *restrict moved,
                                    double *restrict doubt, size_t count, double square,
                                    shifted_sums *restrict all)
{
    double sum_re = all->sum_re, sum_im = all->sum_im, norm = sum_re * sum_re + sum_im * sum_im;
    double steady = 4 * fabs(all->top) + 40, power = all->power;
    double size[ROW] = {0}, moment[ROW] = {0}, wrong[ROW] = {0}, spread[ROW] = {0}, far[ROW] = {0};
    for (size_t from = 0; from < count; from += ROW)
        for (size_t k = 0; k < ROW; k++) { /* beyond the last point: all 0 */
            size_t j = from + k;
            double old = re[j];
            re[j] = (old * sum_re + im[j] * sum_im) / norm;
            im[j] = (im[j] * sum_re - old * sum_im) / norm;
            double modulus = sqrt(re[j] * re[j] + im[j] * im[j]);
            double reach = sqrt(atom[j] * atom[j] + spot[j] * spot[j]);
            /* exponent and angle by their sizes, the logs by 24 units, the parameters through r */
            double deviation = unit * (4 * fabs(weight[j]) + 4 * fabs(phase[j]) + steady +
                                       power * (24 * reach + moved[j]) +
                                       30 * place[j] * place[j] / square);
            size[k] += modulus;
            moment[k] += modulus * reach;
            wrong[k] += modulus * deviation;
            spread[k] += modulus * deviation * reach;
            far[k] += modulus * moved[j];
            weight[j] = modulus;
            doubt[j] = modulus * deviation;
        }
    for (size_t k = 0; k < ROW; k++) {
        all->size += size[k];
        all->moment += moment[k];
        all->deviation += wrong[k];
        all->spread += spread[k];
        all->moved += far[k];
    }
}
BRUME_PATHS(static, finish_shifted,
            (double *re, double *im, double *weight, const double *atom, const double *spot,
             const double *phase, const double *place, const double *moved, double *doubt,
             size_t count, double square, shifted_sums *all),
            (re, im, weight, atom, spot, phase, place, moved, doubt, count, square, all))

/* The table on the moved line: atom + i spot = lambda_j with Im lambda >= 0, weights in
 * loss + i log_mass (they are complex), psi(y) = sum w_j exp(i y lambda_j). */
bool brume_sampled_lay(brume_law *law)
{
    brume_sampled_tables *tables = law->state;
    double sigma = law->a, square = sigma * sigma, c = law->c;
    double height = 0.5 * brume_strip_height(law, c), angle = height / square;
    double step = brume_strip_step(law, c, height, 2 * height);
    /* only where the real tilted weights are alive */
    const brume_points *real = &tables->real;
    double low = real->spot[0] - 2 * tables->step,
           high = real->spot[real->live - 1] + 2 * tables->step;
    double points = ceil((high - low) / step) + 1;
    if (!(points < BRUME_SAMPLED_MOST)) {
        brume_sampled_claim_nothing(law);
        return true;
    }
    if (!brume_points_allocate(&tables->moved, (size_t)points))
        return false;
    brume_points *p = &tables->moved;
    double power = law->reversed ? -c : c + 1, top = -INFINITY;
    for (size_t j = 0; j < p->count; j++)
        p->place[j] = low + step * (double)j;
    for (size_t from = 0; from < p->count; from += BLOCK)
        fill_shifted(law, from, angle, power);
    for (size_t j = 0; j < p->count; j++)
        top = p->weight[j] > top ? p->weight[j] : top;
    double sum_re = 0, sum_im = 0;
    for (size_t from = 0; from < p->count; from += BLOCK)
        weigh_shifted(p, from, top, &sum_re, &sum_im);
    brume_sampled_loss_errors(law, p->place, p->count, p->moved);
    shifted_sums all = {.sum_re = sum_re, .sum_im = sum_im, .top = top, .power = fabs(power)};
    finish_shifted(p->loss, p->log_mass, p->weight, p->atom, p->spot, p->wave_im, p->place,
                   p->moved, p->doubt, p->count, square, &all);
    tables->size = all.size;
    tables->moment = all.moment;
    tables->deviation = all.deviation;
    tables->spread = all.spread;
    tables->moved.loss_error = all.moved;
    p->live = p->count;
    tables->height = height;
    tables->moved_step = step;
    double growth = 1 + brume_strip_growth(law, c, 2 * height);
    tables->rule_error = 2.2 * (growth / expm1(2 * M_PI * height / step) + 1e-17);
    /* between points log|w| rises above its ends by at most step^2/8 of its curvature */
    tables->bend = exp(step * step / 8 * (1 / square + fabs(power) / (square * square)));
    brume_points_restart(p);
    return true;
}

/* z = w (exp(2 i angle - decay) - 1), less = e^{-decay} - 1 */
BRUME_BODY void swings_body(const double *restrict w_re, const double *restrict w_im,
                            const double *restrict less, const double *restrict s,
                            const double *restrict co, size_t count, double *restrict re,
                            double *restrict im)
{
    for (size_t j = 0; j < count; j++) {
        double twice = (1 + less[j]) * 2 * s[j];
        double e_re = less[j] - twice * s[j], e_im = twice * co[j];
        re[j] = w_re[j] * e_re - w_im[j] * e_im;
        im[j] = w_re[j] * e_im + w_im[j] * e_re;
    }
}
BRUME_PATHS(static, swings,
            (const double *w_re, const double *w_im, const double *less, const double *s,
             const double *co, size_t count, double *re, double *im),
            (w_re, w_im, less, s, co, count, re, im))

/* w_j (exp(i y lambda_j) - 1) of a block of points, without cancellation: to some 20 units of its
 * size; into whole rows. */
static void waves_at(const brume_points *p, size_t from, double y, double *re, double *im)
{
    size_t count = p->live - from < BLOCK ? p->live - from : BLOCK;
    double angle[BLOCK] = {0}, decay[BLOCK] = {0}, less[BLOCK], s[BLOCK], co[BLOCK];
    for (size_t j = 0; j < count; j++) {
        angle[j] = 0.5 * y * p->atom[from + j];
        decay[j] = -y * p->spot[from + j];
    }
    brume_vector_expm1(decay, less, count);
    brume_vector_sincos(angle, s, co, count);
    swings(p->loss + from, p->log_mass + from, less, s, co, count, re, im);
    for (size_t j = count; j < brume_wave_rows(count); j++)
        re[j] = im[j] = 0;
}

static void direct_sum(const brume_points *p, double y, double *re, double *im)
{
    double sum_re = 0, sum_im = 0;
    for (size_t from = 0; from < p->live; from += BLOCK) {
        double wave_re[BLOCK], wave_im[BLOCK], part_re, part_im;
        size_t count = p->live - from < BLOCK ? p->live - from : BLOCK;
        waves_at(p, from, y, wave_re, wave_im);
        brume_waves_sum(wave_re, wave_im, brume_wave_rows(count), &part_re, &part_im);
        sum_re += part_re;
        sum_im += part_im;
    }
    *re = sum_re;
    *im = sum_im;
}

static double direct_error(const brume_sampled_tables *tables, double y)
{
    double fresh = fmin(y * tables->moment, 2 * tables->size);
    return unit * (y * (20 * tables->moment + tables->moved.loss_error) +
                   (60 + (double)tables->moved.live) * fresh) +
           fmin(y * (tables->spread + tables->deviation * tables->moment),
                2 * tables->deviation * (1 + tables->size)) *
               1.1 +
           tables->rule_error;
}

/* Sums of weights and doubts times min(y (|l| + d), 2), a bound of |exp(i y lambda_j) - 1|, over
 * whole rows. */
BRUME_BODY void add_swings_body(const brume_points *p, size_t count, double y,
                                double *restrict size, double *restrict doubt)
{
    const double *restrict atom = p->atom, *restrict spot = p->spot, *restrict weight = p->weight;
    const double *restrict own = p->doubt;
    double sizes[ROW] = {0}, doubts[ROW] = {0};
    for (size_t from = 0; from < count; from += ROW)
        for (size_t j = 0; j < ROW; j++) {
            double reach = y * (fabs(atom[from + j]) + spot[from + j]);
            double most = brume_choose(brume_mask(reach > 2), 2, reach);
            sizes[j] += weight[from + j] * most;
            doubts[j] += own[from + j] * most;
        }
    *size = *doubt = 0;
    for (size_t j = 0; j < ROW; j++) {
        *size += sizes[j];
        *doubt += doubts[j];
    }
}
BRUME_PATHS(static, add_swings,
            (const brume_points *p, size_t count, double y, double *size, double *doubt),
            (p, count, y, size, doubt))

/* Stand the waves z_j = w_j (exp(i y lambda_j) - 1) at node `index`, fresh every 16 nodes, else
 * from those of the node before: z_j turned by exp(i h lambda_j), and w_j (exp(i h lambda_j) - 1).
 * So they stay small, and their errors too, where psi is near 1. Their sum is returned. */
static void turn_waves(brume_sampled_tables *tables, long index, double h, double *sum_re,
                       double *sum_im)
{
    brume_points *p = &tables->moved;
    bool new_step = p->wave_index < 0 || p->wave_step != h;
    size_t rows = brume_wave_rows(p->live);
    if (new_step) {
        brume_waves turns = {.loss = p->atom, .decay = p->spot};
        double unused;
        brume_waves_start(&turns, p->live, h, p->turn_re, p->turn_im);
        for (size_t from = 0; from < p->live; from += BLOCK)
            waves_at(p, from, h, p->gain_re + from, p->gain_im + from);
        add_swings(p, rows, h, &tables->wave_gain, &unused);
    }
    if (new_step || p->wave_index != index - 1 || index % FRESH == 0) {
        double y = (double)index * h;
        for (size_t from = 0; from < p->live; from += BLOCK)
            waves_at(p, from, y, p->wave_re + from, p->wave_im + from);
        brume_waves_sum(p->wave_re, p->wave_im, rows, sum_re, sum_im);
        /* until they are fresh again */
        add_swings(p, rows, y + (FRESH - 1) * h, &tables->wave_size, &tables->wave_doubt);
    } else {
        brume_waves_gain(p->wave_re, p->wave_im, (const double *[]){p->turn_re, p->turn_im},
                         (const double *[]){p->gain_re, p->gain_im}, rows, sum_re, sum_im);
    }
    p->wave_index = index;
    p->wave_step = h;
}

brume_log_psi brume_sampled_node(brume_law *law, long index, double h)
{
    brume_sampled_tables *tables = law->state;
    const brume_points *p = &tables->moved;
    double y = (double)index * h, re, im;
    turn_waves(tables, index, h, &re, &im);
    /* the phases y lambda_j; fresh waves by 24 units, 15 turns of 14, blocks of 16; what 15 turns
     * add, by 20 units each; the weights' own errors, and that of their sum; the quadrature */
    double error =
        unit * (y * (28 * tables->moment + tables->moved.loss_error) +
                (254 + (double)(p->live / 16)) * tables->wave_size + 300 * tables->wave_gain) +
        1.1 * (tables->wave_doubt + tables->deviation * tables->wave_size) + tables->rule_error;
    return brume_log_psi_of(re, im, error);
}

/* From the nested layers: |psi(y)| <= 1 - sum_i w_i |I_i| (1 - sup_{y' >= y} |sinc(y' |I_i|/2)|) */
static double layer_bound(const brume_law *law, double low)
{
    const brume_sampled_tables *tables = law->state;
    double bound = 1;
    for (int i = 0; i < BRUME_SAMPLED_LAYERS; i++) {
        double g = 0.5 * low * tables->layer_length[i];
        double sinc = g < 1e-9 ? 1 : g < 2.5 ? sin(g) / g : 0.2173;
        double below = i + 1 < BRUME_SAMPLED_LAYERS ? tables->layer_height[i + 1] : 0;
        bound -= (tables->layer_height[i] - below) * tables->layer_length[i] * (1 - sinc);
    }
    return bound + 1e-12 + brume_sampled_real_error(law, law->c);
}

/* Bounds at `low`: of |psi| from there on, and at the point itself. */
static void bound_from(brume_law *law, double low)
{
    brume_sampled_tables *tables = law->state;
    const brume_points *p = &tables->moved;
    tables->envelope_low = low;
    tables->bound_from = fmin(1, layer_bound(law, low));
    tables->bound_at = 1;
    if (p->live == 0)
        return;
    /* the integral of the modulus on the moved line: arg r grows with x, so each cell decays at
     * least as its left end; it falls with y */
    double modulus = tables->rule_error, exponent[BLOCK], decay[BLOCK];
    for (size_t from = 0; from + 1 < p->live; from += BLOCK) {
        size_t count = p->live - 1 - from < BLOCK ? p->live - 1 - from : BLOCK;
        for (size_t j = 0; j < count; j++)
            exponent[j] = -low * p->spot[from + j];
        brume_vector_exp(exponent, decay, count);
        const double *weight = p->weight + from;
        for (size_t j = 0; j < count; j++)
            modulus += (weight[j] > weight[j + 1] ? weight[j] : weight[j + 1]) * decay[j];
    }
    tables->bound_from = fmin(tables->bound_from, modulus * tables->bend * 1.0001);
    if (tables->bound_from > 0.5) {
        double re, im;
        direct_sum(p, low, &re, &im);
        tables->bound_at = hypot(1 + re, im) + direct_error(tables, low);
    }
}

double brume_sampled_envelope(brume_law *law, double low, double high)
{
    brume_sampled_tables *tables = law->state;
    if (tables->envelope_low != low)
        bound_from(law, low);
    /* |psi| is Lipschitz in y with constant E|L| */
    double bound =
        fmin(tables->bound_from, tables->bound_at + (high - low) * tables->real.mean_size);
    return bound < 1 ? log(bound) : 0;
}
