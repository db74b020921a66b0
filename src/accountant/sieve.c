/* See the header and proofs/accountant.md, section 12.
 *
 * For a Laplace factor |psi| <= (r + x)/D with r^2 = 1 - k v, v = sin^2(ya), k = sech^2 A, x =
 * min(D - 1, 1/(2y)); pure: D = 1, x = 0. log(r + x) is concave in v, so for any v0
 *   -log |psi| >= log D - log(r0 + x) + B (v - v0),  B = k/(2 r0 (r0 + x)),
 * with v = (1 - cos 2ya)/2: its tangent. Or by harmonics: with rho = e^{-2A}, g = 1/(2 sigma),
 *   |psi| = |1 + g| |1 + rho kappa e^{-2iya}|/(D (1 + rho)),  |kappa| <= 1, |kappa - 1| <= 1/y,
 * two terms of whose logarithm's series are kept. All draws together have S = base - sum g cos(2ay)
 * + sum g' cos(4ay). sieve_cell.c bounds that over a cell. */
#include "accountant/sieve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 12 };                     /* laws */
static const unsigned most_turns = 512; /* each errs by 4 units: below 1e-12 of g in all */
static const double most_nodes = 1024;  /* of a cell */

/* A law by its frequency, and its waves' sizes. */
typedef struct tone {
    double a, size, second;
    size_t law;
} tone;

/* What a law gives at v: log D - log(r + x), and its tangent's slope. */
static double gain(const brume_law *law, double v, double y, double *slope)
{
    bool laplace = law->kind == BRUME_LAW_LAPLACE;
    double below = laplace ? law->denominator : 1;
    double x = laplace ? fmin(below - 1, 0.5 / y) : 0, r = sqrt(1 - law->sech2 * v);
    *slope = 0.5 * law->sech2 / (r * (r + x));
    return log(below / (r + x));
}

/* The v0 at which tangents of all laws together are near `level`. */
static double choose_place(const brume_line *line, double level, double y)
{
    double v = 0.5, slope;
    for (int i = 0; i < 6; i++) { /* Newton's steps: the sum is convex in v */
        double sum = 0, rise = 0;
        for (size_t j = 0; j < line->law_count; j++) {
            sum += line->laws[j].count * gain(&line->laws[j], v, y, &slope);
            rise += line->laws[j].count * slope;
        }
        if (fabs(sum - level) < 0.2)
            break;
        v = fmin(fmax(v - (sum - level) / rise, 1e-3), 0.999);
    }
    return v;
}

/* By harmonics, per draw: the constant part, from y on; rho is the first one's size. */
static double harmonic(const brume_law *law, double y, double *rho)
{
    double t = fabs(law->tanh_a), ratio = (1 - t) / (1 + t);
    double base = log1p(ratio) - ratio * ratio * ratio / (3 * (1 - ratio));
    if (law->kind == BRUME_LAW_LAPLACE) { /* log |1 + g| <= Re g + |g|^2/2, which falls in y */
        double square = law->tilt * law->tilt + y * y;
        base += log(law->denominator) - (0.5 * law->tilt + 0.125) / square -
                (ratio + ratio * ratio) / y;
    }
    *rho = ratio;
    return base;
}

/* Bounds for -log |psi| near `level`, from y on: of few laws by tangents, which are sharpest there;
 * of many, whose sum is near its mean, what has the larger mean. The sizes go to the laws' slots,
 * or to `tones` if there are none yet. */
static void choose_bounds(const brume_line *line, brume_sieve *sieve, double level, double y,
                          tone *tones)
{
    bool many = sieve->law_count >= MANY;
    double v = many ? 0.5 : choose_place(line, level, y), base = 0, shake = 0;
    for (size_t j = 0; j < sieve->law_count; j++) {
        const brume_law *law = &line->laws[j];
        double slope, value = gain(law, v, y, &slope), rho, second = 0, first = 0.5 * slope;
        value += slope * (0.5 - v);
        if (many) {
            double other = harmonic(law, y, &rho);
            if (other > value) {
                value = other;
                first = rho;
                second = 0.5 * rho * rho;
            }
        }
        base += law->count * value;
        first *= law->count;
        second *= law->count;
        shake += (first + 2 * second) * law->a;
        if (tones) {
            tones[j].size = first;
            tones[j].second = second;
        } else {
            brume_sieve_lane *lane = &sieve->lane[sieve->slot[j] / 4];
            lane->size[sieve->slot[j] % 4] = first;
            lane->second[sieve->slot[j] % 4] = second;
        }
    }
    /* the angle 2ay by 24 units of it; the tables' rounding and the waves' */
    sieve->base = base - 1e-9 * (1 + fabs(level) + fabs(base)) -
                  64 * BRUME_UNIT * line->band.end * shake;
    sieve->level = level;
    sieve->from = y;
}

/* The shares of the derivatives, from the sizes. */
static void fill_derivatives(brume_sieve *sieve)
{
    double bend = 0;
    for (size_t j = 0; j < sieve->lane_count; j++)
        for (size_t k = 0; k < 4; k++) {
            brume_sieve_lane *lane = &sieve->lane[j];
            double g = lane->size[k], turn = lane->frequency[k] * sieve->reach;
            double square = turn * turn;
            lane->slope[k] = g * turn;
            lane->second_slope[k] = lane->second[k] * 2 * turn;
            bend += lane->second[k] * 2 * square;
            if (sieve->group_count > 0) {
                bend += g * square / 2;
            } else {
                bend += g * square * square / 24;
                lane->curve[k] = g * square / 2;
                lane->twist[k] = g * square * turn / 6;
            }
        }
    sieve->bend = bend * (1 + 1e-9);
}

static void refresh(const brume_line *line, brume_sieve *sieve)
{
    double middle = sieve->index * line->h + sieve->reach;
    for (size_t j = 0; j < sieve->lane_count; j++)
        for (size_t k = 0; k < 4; k++) {
            brume_sieve_lane *lane = &sieve->lane[j];
            sincos(lane->frequency[k] * middle, &lane->wave_im[k], &lane->wave_re[k]);
        }
    sieve->turns = 0;
    sieve->stand = sieve->index;
}

/* The threshold where the cell begins, and tangents that suit it. */
static void adjust(const brume_line *line, brume_sieve *sieve)
{
    double y = sieve->index * line->h;
    sieve->threshold = -log(sieve->allowed * y);
    bool moved = fabs(sieve->threshold - sieve->level) > 1 && sieve->law_count < MANY;
    if (moved || y > 4 * sieve->from) {
        choose_bounds(line, sieve, sieve->threshold, y, NULL);
        fill_derivatives(sieve);
    }
}

static int by_frequency(const void *left, const void *right)
{
    double x = ((const tone *)left)->a, y = ((const tone *)right)->a;
    return x < y ? -1 : x > y;
}

/* What a cell of half width `reach` usually leaves of the bound: law by law, or by `groups` bands
 * of frequencies as wide as each other. */
static double usual_bound(const brume_sieve *sieve, const tone *tones, size_t groups, double reach)
{
    double bound = sieve->base, least = tones[0].a, most = tones[sieve->law_count - 1].a;
    if (groups == 0) {
        double square = 0;
        for (size_t j = 0; j < sieve->law_count; j++) {
            double turn = 2 * tones[j].a * reach, s = turn * turn, g = tones[j].size;
            double other = tones[j].second;
            square += g * g * (1 + s + s * s / 4 + s * s * s / 36) + other * other * (1 + 4 * s);
            bound -= g * s * s / 24 + other * 2 * s;
        }
        return bound - (sieve->law_count < MANY ? 1 : 1.4) * sqrt(square);
    }
    double span = (most - least) / (double)groups;
    for (size_t j = 0, k = 0; k < groups; k++) {
        double square = 0, second = 0, centre = least + span * ((double)k + 0.5);
        for (; j < sieve->law_count &&
               (tones[j].a <= least + span * (double)(k + 1) || k + 1 == groups);
             j++) {
            double turn = 2 * (tones[j].a - centre) * reach, s = turn * turn, g = tones[j].size;
            double other = tones[j].second;
            square += g * g * (1 + s);
            second += other * other * (1 + 4 * s);
            bound -= (g + 4 * other) * s / 2;
        }
        bound -= (1 + 1 / sqrt((double)groups)) * (sqrt(square) + sqrt(second));
    }
    return bound;
}

/* Lay the laws into lanes, in `groups` bands of frequencies. */
static void lay_lanes(brume_sieve *sieve, const tone *tones, size_t groups)
{
    double least = tones[0].a, most = tones[sieve->law_count - 1].a;
    size_t slot = 0, j = 0;
    sieve->group_count = groups;
    for (size_t k = 0; k < (groups ? groups : 1); k++) {
        double span = groups ? (most - least) / (double)groups : 0;
        double centre = groups ? least + span * ((double)k + 0.5) : 0;
        for (; j < sieve->law_count &&
               (groups == 0 || tones[j].a <= least + span * (double)(k + 1) || k + 1 == groups);
             j++, slot++) {
            sieve->slot[tones[j].law] = slot;
            sieve->lane[slot / 4].frequency[slot % 4] = 2 * (tones[j].a - centre);
            sieve->lane[slot / 4].size[slot % 4] = tones[j].size;
            sieve->lane[slot / 4].second[slot % 4] = tones[j].second;
        }
        slot = (slot + 3) / 4 * 4;
        if (groups)
            sieve->group_end[k] = slot / 4;
    }
    sieve->lane_count = slot / 4;
}

/* The longest cells over which the bound still passes where all waves are as they usually are; 0:
 * there are none that are longer than `longest`. */
static double choose_cells(const brume_line *line, const brume_sieve *sieve, const tone *tones,
                           size_t groups, double longest)
{
    for (double nodes = most_nodes; nodes >= 2 && nodes > longest; nodes /= 2)
        if (usual_bound(sieve, tones, groups, 0.5 * (nodes - 1) * line->h) > sieve->threshold)
            return nodes;
    return 0;
}

bool brume_sieve_open(const brume_line *line, double index, double block, double allowed, bool wide,
                      brume_sieve *out)
{
    static const size_t choices[] = {0, 1, 2, 4, BRUME_SIEVE_GROUPS};
    size_t n = line->law_count, most_lanes = n / 4 + 1 + BRUME_SIEVE_GROUPS, groups = 0;
    brume_sieve sieve = {
        .law_count = n, .block = block, .allowed = allowed, .index = index, .level = INFINITY};
    tone *tones = malloc((n + 1) * sizeof *tones);
    sieve.lane = calloc(most_lanes, sizeof *sieve.lane);
    sieve.slot = malloc((n + 1) * sizeof *sieve.slot);
    if (!tones || !sieve.lane || !sieve.slot) {
        free(tones);
        brume_sieve_close(&sieve);
        return false;
    }
    double y = index * line->h;
    sieve.threshold = -log(allowed * y);
    choose_bounds(line, &sieve, sieve.threshold, y, tones);
    for (size_t j = 0; j < n; j++) {
        tones[j].a = line->laws[j].a;
        tones[j].law = j;
    }
    qsort(tones, n, sizeof *tones, by_frequency);
    for (size_t i = 0; i < sizeof choices / sizeof *choices && n >= 4 * choices[i]; i++) {
        double nodes = choose_cells(line, &sieve, tones, choices[i], sieve.nodes);
        if (nodes > 0) {
            sieve.nodes = nodes;
            groups = choices[i];
        }
    }
    sieve.useful = sieve.nodes > 0;
    if (sieve.useful) {
        sieve.reach = 0.5 * (sieve.nodes - 1) * line->h;
        lay_lanes(&sieve, tones, groups);
        fill_derivatives(&sieve);
        for (size_t j = 0; j < sieve.lane_count; j++)
            for (size_t k = 0; k < 4; k++) {
                brume_sieve_lane *lane = &sieve.lane[j];
                double cell = lane->frequency[k] * (sieve.nodes * line->h);
                double leap = lane->frequency[k] * ((block - sieve.nodes) * line->h);
                sincos(cell, &lane->turn_im[k], &lane->turn_re[k]);
                sincos(leap, &lane->leap_im[k], &lane->leap_re[k]);
            }
        refresh(line, &sieve);
    }
    sieve.cell = groups > 0 ? (wide ? brume_sieve_group_wide : brume_sieve_group)
                            : (wide ? brume_sieve_cell_wide : brume_sieve_cell);
    free(tones);
    *out = sieve;
    return true;
}

double brume_sieve_next(const brume_line *line, brume_sieve *sieve, double end, double *passed)
{
    while (sieve->index < end) {
        if (sieve->turns >= most_turns)
            refresh(line, sieve);
        adjust(line, sieve);
        double first = sieve->index, sum = 0;
        double last = fmin(fmin(first + 64 * sieve->nodes, 1.25 * first + 1), end);
        bool counts = false;
        while (sieve->index < last && !counts) {
            double bound = sieve->cell(sieve);
            counts = !(bound >= sieve->threshold);
            sieve->turns++;
            sieve->stand += sieve->nodes;
            if (!counts) { /* |psi| <= exp(-bound) at its nodes */
                sum += exp(-bound) * (1 + 1e-12);
                sieve->index += sieve->nodes;
            }
        }
        if (sum > 0) { /* of cells as long as each other the first has the largest weight */
            double low = (first - 1) * line->h, high = low + sieve->nodes * line->h;
            *passed += sum * brume_band_weight(&line->band, low, high) * 1.0001;
        }
        if (counts)
            return sieve->index;
    }
    return end;
}

/* From the cell after one that counted to the one behind its block. */
static void leap(brume_sieve *sieve)
{
    for (size_t j = 0; j < sieve->lane_count; j++)
        for (size_t k = 0; k < 4; k++) {
            brume_sieve_lane *lane = &sieve->lane[j];
            double old = lane->wave_re[k];
            lane->wave_re[k] = old * lane->leap_re[k] - lane->wave_im[k] * lane->leap_im[k];
            lane->wave_im[k] = old * lane->leap_im[k] + lane->wave_im[k] * lane->leap_re[k];
        }
    sieve->turns++;
    sieve->stand = sieve->index;
}

void brume_sieve_go(const brume_line *line, brume_sieve *sieve, double index)
{
    sieve->index = index;
    if (sieve->stand + sieve->block - sieve->nodes == index && sieve->turns < most_turns)
        leap(sieve);
    else
        refresh(line, sieve);
    adjust(line, sieve);
}

void brume_sieve_close(brume_sieve *sieve)
{
    free(sieve->lane);
    free(sieve->slot);
    sieve->lane = NULL;
    sieve->slot = NULL;
}
