/* See the header and proofs/accountant.md, section 12.
 *
 * For a Laplace factor |psi| <= (r + x)/D with r^2 = 1 - k v, v = sin^2(ya), k = sech^2 A, x =
 * min(D
 * - 1, 1/(2y)); pure: D = 1, x = 0. log(r + x) is concave in v, so for any v0
 *   -log |psi| >= log D - log(r0 + x) + B (v - v0),  B = k/(2 r0 (r0 + x)).
 * With v = (1 - cos 2ya)/2 the sum over all draws is S = base - sum g cos(2ay), g = count B/2. Over
 * a cell of half width d around y its Taylor series to the third order bounds it from below, less
 * sum g (2ad)^4/24. */
#include "accountant/sieve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const unsigned most_turns = 512; /* each errs by 4 units: below 1e-12 of g in all */

/* What a law gives at v: log D - log(r + x), and its tangent's slope. */
static double gain(const brume_law *law, double v, double y, double *slope)
{
    bool laplace = law->kind == BRUME_LAW_LAPLACE;
    double below = laplace ? law->denominator : 1;
    double x = laplace ? fmin(below - 1, 0.5 / y) : 0, r = sqrt(1 - law->sech2 * v);
    *slope = 0.5 * law->sech2 / (r * (r + x));
    return log(below / (r + x));
}

/* Tangents for -log |psi| near `level`, at one v0 for all laws. */
static void choose_tangents(const brume_line *line, brume_sieve *sieve, double level, double y)
{
    double low = 0, high = 0.999;
    for (int i = 0; i < 12; i++) {
        double v = 0.5 * (low + high), sum = 0, slope;
        for (size_t j = 0; j < sieve->law_count; j++)
            sum += line->laws[j].count * gain(&line->laws[j], v, y, &slope);
        if (sum < level)
            low = v;
        else
            high = v;
    }
    double v = 0.5 * (low + high), base = 0, bend = 0, shake = 0;
    for (size_t j = 0; j < sieve->law_count; j++) {
        const brume_law *law = &line->laws[j];
        double slope, value = gain(law, v, y, &slope), g = 0.5 * law->count * slope;
        base += law->count * (value + slope * (0.5 - v));
        brume_sieve_lane *lane = &sieve->lane[j / 4];
        double turn = 2 * law->a * sieve->reach, square = turn * turn;
        bend += g * square * square / 24;
        shake += g * law->a;
        lane->size[j % 4] = g;
        lane->slope[j % 4] = g * turn;
        lane->curve[j % 4] = g * square / 2;
        lane->twist[j % 4] = g * square * turn / 6;
    }
    /* the angle 2ay by 24 units of it; the tables' rounding and the waves' */
    sieve->base = base - 1e-9 * (1 + fabs(level) + fabs(base)) -
                  64 * BRUME_UNIT * line->band.end * shake;
    sieve->bend = bend;
    sieve->level = level;
    sieve->from = y;
}

static void refresh(const brume_line *line, brume_sieve *sieve)
{
    double middle = sieve->index * line->h + sieve->reach;
    for (size_t j = 0; j < sieve->law_count; j++) {
        brume_sieve_lane *lane = &sieve->lane[j / 4];
        sincos(2 * line->laws[j].a * middle, &lane->wave_im[j % 4], &lane->wave_re[j % 4]);
    }
    sieve->turns = 0;
}

/* The threshold where the cell begins, and tangents that suit it. */
static void adjust(const brume_line *line, brume_sieve *sieve)
{
    double y = sieve->index * line->h;
    sieve->threshold = -log(sieve->allowed * y);
    if (fabs(sieve->threshold - sieve->level) > 1 || y > 4 * sieve->from)
        choose_tangents(line, sieve, sieve->threshold, y);
}

typedef double lanes __attribute__((vector_size(4 * sizeof(double))));

/* A lower bound of -log |psi| over the current cell; then turn to the next one. */
static inline __attribute__((always_inline)) double cell_bound(brume_sieve *sieve)
{
    lanes value = {0}, slope = {0}, curve = {0}, twist = {0};
    for (size_t j = 0; j < sieve->lane_count; j++) {
        brume_sieve_lane *lane = &sieve->lane[j];
        lanes re, im, turn_re, turn_im, part;
        memcpy(&re, lane->wave_re, sizeof re);
        memcpy(&im, lane->wave_im, sizeof im);
        memcpy(&turn_re, lane->turn_re, sizeof re);
        memcpy(&turn_im, lane->turn_im, sizeof re);
        memcpy(&part, lane->size, sizeof re);
        value += part * re;
        memcpy(&part, lane->slope, sizeof re);
        slope += part * im;
        memcpy(&part, lane->curve, sizeof re);
        curve += part * re;
        memcpy(&part, lane->twist, sizeof re);
        twist += part * im;
        lanes next_re = re * turn_re - im * turn_im, next_im = re * turn_im + im * turn_re;
        memcpy(lane->wave_re, &next_re, sizeof re);
        memcpy(lane->wave_im, &next_im, sizeof re);
    }
    double sum = (value[0] + value[1]) + (value[2] + value[3]);
    double first = (slope[0] + slope[1]) + (slope[2] + slope[3]);
    double second = (curve[0] + curve[1]) + (curve[2] + curve[3]);
    double third = (twist[0] + twist[1]) + (twist[2] + twist[3]);
    return sieve->base - sum - fabs(first) + (second < 0 ? second : 0) - fabs(third) - sieve->bend;
}

static double cell_plain(brume_sieve *sieve)
{
    return cell_bound(sieve);
}

#if defined(__x86_64__)
/* The same operations four at a time; no contraction, so the same numbers. */
__attribute__((target("avx2"))) static double cell_wide(brume_sieve *sieve)
{
    return cell_bound(sieve);
}
#else
static double (*const cell_wide)(brume_sieve *) = cell_plain;
#endif

bool brume_sieve_open(const brume_line *line, double index, double block, double allowed, bool wide,
                      brume_sieve *out)
{
    size_t n = line->law_count;
    brume_sieve sieve = {.law_count = n, .allowed = allowed, .index = index, .level = INFINITY};
    sieve.cell = wide ? cell_wide : cell_plain;
    sieve.lane_count = (n + 3) / 4;
    sieve.lane = calloc(sieve.lane_count, sizeof *sieve.lane);
    if (!sieve.lane)
        return false;
    /* the widest cell over which the bound still passes where all waves are as they usually are */
    for (sieve.nodes = block; sieve.nodes >= 2; sieve.nodes /= 2) {
        sieve.reach = 0.5 * (sieve.nodes - 1) * line->h;
        sieve.level = INFINITY;
        adjust(line, &sieve);
        double square = 0;
        for (size_t j = 0; j < n; j++) {
            const brume_sieve_lane *lane = &sieve.lane[j / 4];
            size_t k = j % 4;
            square += lane->size[k] * lane->size[k] + lane->slope[k] * lane->slope[k] +
                      lane->curve[k] * lane->curve[k] + lane->twist[k] * lane->twist[k];
        }
        double usual = sieve.base - sieve.bend - sqrt(square);
        sieve.useful = usual > sieve.threshold;
        if (sieve.useful)
            break;
    }
    for (size_t j = 0; j < n; j++) {
        brume_sieve_lane *lane = &sieve.lane[j / 4];
        sincos(2 * line->laws[j].a * sieve.nodes * line->h, &lane->turn_im[j % 4],
               &lane->turn_re[j % 4]);
    }
    refresh(line, &sieve);
    *out = sieve;
    return true;
}

double brume_sieve_next(const brume_line *line, brume_sieve *sieve, double end, double *passed)
{
    while (sieve->index < end) {
        if (sieve->turns >= most_turns)
            refresh(line, sieve);
        adjust(line, sieve);
        double first = sieve->index, last = fmin(first + 64 * sieve->nodes, end);
        bool counts = false;
        while (sieve->index < last && !counts) {
            counts = !(sieve->cell(sieve) >= sieve->threshold);
            sieve->turns++;
            sieve->index += counts ? 0 : sieve->nodes; /* then the waves are a cell ahead */
        }
        if (sieve->index > first) { /* |psi| <= exp(-threshold) at nodes first .. index - 1 */
            double low = (first - 1) * line->h, high = (fmin(sieve->index, end) - 1) * line->h;
            *passed += sieve->allowed * first * line->h *
                       brume_band_weight(&line->band, low, high) * 1.0001;
        }
        if (counts)
            return sieve->index;
    }
    return end;
}

void brume_sieve_go(const brume_line *line, brume_sieve *sieve, double index)
{
    sieve->index = index;
    adjust(line, sieve);
    refresh(line, sieve);
}

void brume_sieve_close(brume_sieve *sieve)
{
    free(sieve->lane);
    sieve->lane = NULL;
}
