/* Dense lines. See the header and proofs/accountant/contour.md, section contour.3.
 *
 * With A = (c + 1/2) a, p = 1/(1 + e^{-2A}), q = 1 - p, g = 1/(2 sigma), R = e^{-2iya}:
 *   psi = e^{iya} [(p + qR) + g (p - qR)] / D,  pure: g = 0 and D = 1, binary: A = t + cw too.
 * The factors e^{iya} of all draws together only move epsilon. Promise: value and error as
 * brume_line_evaluate's, for every parameter within its 8 units. */
#include "accountant/contour/vector_nodes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/contour/vector_fill.h"

#define EACH(j) for (int j = 0; j < BLOCK; j++)

enum { BLOCK = BRUME_VECTOR_LINE_BLOCK, MOST_DRAWS = 8192, MOST_TURNS = 16 };

static const double unit = BRUME_UNIT;
static const double most_nodes = 2e7;
static const double finish_price = 40; /* of a node that is kept */

double brume_vector_line_price(const brume_line *line)
{
    double price = 8;
    for (size_t i = 0; i < line->law_count; i++)
        price += 0.7 + 0.6 * log2(line->laws[i].count);
    return price;
}

bool brume_vector_line_able(const brume_line *line)
{
    for (size_t i = 0; i < line->law_count; i++) {
        const brume_law *law = &line->laws[i];
        bool binary = law->kind == BRUME_LAW_SAMPLED_PURE && law->source.a <= 256;
        if (law->kind != BRUME_LAW_LAPLACE && law->kind != BRUME_LAW_PURE && !binary)
            return false;
    }
    return line->width > 0 && line->unit == 0;
}

bool brume_vector_line_suits(const brume_line *line)
{
    if (!brume_vector_line_able(line) || line->laying == BRUME_LAY_SINGLY)
        return false;
    double mean = 0, square = 1e-9, draws = 0, spread = 0, laws = (double)line->law_count;
    for (size_t i = 0; i < line->law_count; i++) {
        const brume_law *law = &line->laws[i];
        bool laplace = law->kind == BRUME_LAW_LAPLACE;
        /* at a random y: E log|psi| = log(p/D), and a deviation of some 1.3 of it */
        double typical = law->count *
                         log(0.5 * (1 + fabs(law->tanh_a)) / (laplace ? law->denominator : 1));
        mean += typical;
        square += 1.7 * typical * typical;
        draws += law->count;
        spread += law->count * law->a * law->a;
    }
    /* the share of single nodes that count, and how many are skipped at a time between them */
    double share = 0.5 * erfc((-40 - mean) / sqrt(2 * square));
    double skipped = fmax(M_PI / (8 * sqrt(spread / draws) * line->h), 2);
    double single = share * (500 + 200 * laws) + 500 * laws / skipped;
    return draws <= MOST_DRAWS && brume_vector_line_price(line) + finish_price * share < single;
}

double brume_vector_line_cost(const brume_line *line)
{
    const brume_vector_line *dense = &line->dense;
    return brume_vector_line_price(line) * dense->tried + finish_price * (double)dense->count;
}

typedef double lanes __attribute__((vector_size(4 * sizeof(double))));

/* The sum over a block of F e^{-iyx}, real part, and of y times its imaginary part. */
static inline __attribute__((always_inline)) void sum_block(const double *re, const double *im,
                                                            const double *turn_re,
                                                            const double *turn_im, double start_re,
                                                            double start_im, double *sum,
                                                            double *first, double *second)
{
    lanes part_re = {0}, part_im = {0}, lever = {0}, place = {0, 1, 2, 3};
    for (int j = 0; j < BLOCK; j += 4) {
        lanes x, y, co, s;
        memcpy(&x, turn_re + j, sizeof x);
        memcpy(&y, turn_im + j, sizeof y);
        co = start_re * x - start_im * y;
        s = start_re * y + start_im * x;
        memcpy(&x, re + j, sizeof x);
        memcpy(&y, im + j, sizeof y);
        lanes sine = y * co + x * s;
        part_re += x * co - y * s;
        part_im += sine;
        lever += place * sine;
        place += 4;
    }
    *sum = (part_re[0] + part_re[1]) + (part_re[2] + part_re[3]);
    *first = (part_im[0] + part_im[1]) + (part_im[2] + part_im[3]);
    *second = (lever[0] + lever[1]) + (lever[2] + lever[3]);
}

typedef void sum_function(const double *re, const double *im, const double *turn_re,
                          const double *turn_im, double start_re, double start_im, double *sum,
                          double *first, double *second);

static void sum_plain(const double *re, const double *im, const double *turn_re,
                      const double *turn_im, double start_re, double start_im, double *sum,
                      double *first, double *second)
{
    sum_block(re, im, turn_re, turn_im, start_re, start_im, sum, first, second);
}

#if defined(__x86_64__)
/* The same operations four at a time; no contraction, so the same numbers. */
__attribute__((target("avx2"))) static void sum_wide(const double *re, const double *im,
                                                     const double *turn_re, const double *turn_im,
                                                     double start_re, double start_im, double *sum,
                                                     double *first, double *second)
{
    sum_block(re, im, turn_re, turn_im, start_re, start_im, sum, first, second);
}

static bool wide(const brume_line *line)
{
    __builtin_cpu_init();
    return line->laying == BRUME_LAY_QUICKEST && __builtin_cpu_supports("avx2");
}
#else
static sum_function *const sum_wide = sum_plain;

static bool wide(const brume_line *line)
{
    (void)line;
    return false;
}
#endif

/* A bound, as a log, of everything from y on. */
static double bound_from(brume_line *line, double y)
{
    double bound = log(brume_band_weight(&line->band, y, line->band.end));
    for (size_t i = 0; i < line->law_count; i++)
        bound += line->laws[i].count * brume_law_envelope(&line->laws[i], y, INFINITY);
    return bound;
}

/* From where on may everything be left out, and a bound of what that is; the band's end at last.
 * The bound falls with y. */
static double find_end(brume_line *line, double limit, double *rest)
{
    double low = 64 * line->h, high = 0.8 * line->band.end, bound = 0;
    if (low < high && (bound = bound_from(line, high)) < limit) {
        for (int i = 0; i < 40 && high > 1.3 * low; i++) {
            double middle = sqrt(low) * sqrt(high), other = bound_from(line, middle);
            if (other < limit) {
                high = middle;
                bound = other;
            } else {
                low = middle;
            }
        }
        *rest = exp(bound);
        return high;
    }
    *rest = 0;
    return line->band.end * (1 - 1e-15);
}

/* The transforms of the band at the nodes of one block. */
static void kernel_block(const brume_line *line, const brume_band_turns *turns, double y,
                         brume_band_block *out)
{
    if (y * line->band.width >= BRUME_BAND_LEAST) {
        brume_band_fill(&line->band, turns, y, wide(line), out);
        return;
    }
    EACH(j)
    {
        brume_band_pair k = brume_band_at(&line->band, y + j * line->h);
        out->upper_re[j] = k.upper_re;
        out->upper_im[j] = k.upper_im;
        out->lower_re[j] = k.lower_re;
        out->lower_im[j] = k.lower_im;
        out->error[j] = k.error;
    }
}

/* Nodes `start` .. of one block, those before `end`: psi -> psi M^ and psi m^, and their share of
 * the line's bounds. */
static void finish_block(brume_line *line, const brume_band_turns *turns,
                         brume_vector_line_nodes *b, size_t start, size_t end, double steady,
                         double growing)
{
    brume_vector_line *dense = &line->dense;
    double first = (double)start * line->h, error = 0, all = 0, lever = 0;
    brume_band_block k;
    kernel_block(line, turns, first, &k);
    dense->start[dense->count / BLOCK] = start;
    if (start == 0) { /* the first block is always kept, and its first node halved */
        b->re[0] *= 0.5;
        b->im[0] *= 0.5;
    }
    double *re = dense->re + dense->count, *im = dense->im + dense->count;
    double *lower_re = dense->lower_re + dense->count, *lower_im = dense->lower_im + dense->count;
    EACH(j)
    {
        re[j] = b->re[j] * k.upper_re[j] - b->im[j] * k.upper_im[j];
        im[j] = b->re[j] * k.upper_im[j] + b->im[j] * k.upper_re[j];
        lower_re[j] = b->re[j] * k.lower_re[j] - b->im[j] * k.lower_im[j];
        lower_im[j] = b->re[j] * k.lower_im[j] + b->im[j] * k.lower_re[j];
        double upper = fabs(k.upper_re[j]) + fabs(k.upper_im[j]);
        double lower = fabs(k.lower_re[j]) + fabs(k.lower_im[j]);
        double kernel = upper > lower ? upper : lower, size = fabs(b->re[j]) + fabs(b->im[j]);
        double y = first + j * line->h;
        /* psi is off by steady + growing y at most; products: 8 units, with the sum's below */
        error += (steady + growing * y) * kernel + 1.1 * size * k.error[j];
        all += kernel * size;
        lever += kernel * size * y;
    }
    for (size_t j = end > start ? end - start : 0; j < BLOCK; j++) /* beyond the end: nothing */
        re[j] = im[j] = lower_re[j] = lower_im[j] = 0;
    dense->error += error;
    dense->size += all;
    dense->lever += lever;
    dense->count += BLOCK;
}

/* Is psi, known up to `most`, nothing but rounding in this block, or below what may be passed over?
 * Then it is not kept. */
static bool drop_block(brume_line *line, const brume_vector_line_nodes *b, double y, double most,
                       double allowed)
{
    double sum = 0;
    EACH(j)
    {
        double size = fabs(b->re[j]) + fabs(b->im[j]);
        sum = size > sum ? size : sum;
    }
    if (!(y > 0) || !(sum <= fmax(most, allowed * y)))
        return false;
    line->skipped += 1.01 * (sum + most) *
                     brume_band_weight(&line->band, y - line->h, y + BLOCK * line->h);
    return true;
}

/* Room for one more block. */
static bool make_room(brume_vector_line *dense)
{
    if (dense->count + BLOCK <= dense->capacity)
        return true;
    size_t capacity = dense->capacity ? 4 * dense->capacity : 16 * BLOCK;
    double **const parts[] = {&dense->re, &dense->im, &dense->lower_re, &dense->lower_im};
    for (size_t i = 0; i < 4; i++) {
        double *more = realloc(*parts[i], capacity * sizeof *more);
        if (!more)
            return false;
        *parts[i] = more;
    }
    size_t *start = realloc(dense->start, capacity / BLOCK * sizeof *start);
    if (!start)
        return false;
    dense->start = start;
    dense->capacity = capacity;
    return true;
}

bool brume_vector_line_lay(brume_line *line, double limit)
{
    brume_vector_line *dense = &line->dense;
    /* of what the band leaves open, c(c+1)w^2/8, some hundredths may be passed over */
    double c = line->saddle > 0 ? line->saddle : line->c;
    double open = fmin(c * (c + 1) * line->width * line->width / 8, 1);
    double allowed = BRUME_VECTOR_LINE_PASSED * open * exp(limit) / brume_line_tolerance(line);
    double rest, stop = fmin(find_end(line, log(0.5 * allowed), &rest), most_nodes * line->h);
    size_t end = (size_t)floor(stop / line->h) + 1;
    brume_vector_line_wave *waves = brume_vector_line_waves_open(line);
    if (!waves)
        return false;
    dense->count = 0;
    dense->tried = 0;
    dense->error = dense->size = dense->lever = dense->top = 0;
    double steady = 0, growing = 0, turning = 0;
    for (size_t i = 0; i < line->law_count; i++) {
        /* a factor: 2 (15 + 15) of its shares, q (48 y a + 32) of R, 20 of g and rounding; a
         * product: 3; the big phase: 12 y a; R turned from block to block: 10 each time */
        const brume_law *law = &line->laws[i];
        steady += law->count * (87 + 32 * waves[i].low) + 3;
        turning += law->count * 20 * waves[i].low;
        growing += law->count * law->a * (50 * waves[i].low + 12);
        dense->top += law->count * law->a;
    }
    steady *= 1.01 * unit; /* second order: below a hundredth while the sum is */
    turning *= 1.01 * unit;
    growing *= 1.01 * unit;
    double reach = (double)end * line->h * 1.1;
    bool lost = !(steady + turning * MOST_TURNS + growing * reach <
                  0.01); /* the bounds mean nothing: say nothing */
    line->cut = lost || !(stop < most_nodes * line->h);
    if (line->cut && !lost) {
        rest = brume_band_weight(&line->band, stop, line->band.end);
        lost =
            !(rest < 10 * exp(limit) / brume_line_tolerance(line)); /* ten times what is sought */
    }
    if (lost && end > BLOCK)
        end = BLOCK; /* and lay no more than shows that */
    line->skipped += rest * 1.0001;
    brume_fill_function *fill = NULL;
    brume_filling filling = line->laying == BRUME_LAY_QUICKEST ? BRUME_FILL_EIGHT
                                                               : BRUME_FILL_PLAIN;
    while (!(fill = brume_vector_line_filler(filling)))
        filling--;
    brume_band_turns turns;
    brume_band_turns_open(&line->band, line->h, &turns);
    int turned = 0; /* how often the waves were turned since they started afresh */
    bool alive = true;
    for (size_t start = 0; start < end && alive; start += BLOCK) {
        brume_vector_line_nodes b = {.tilt = line->c + 0.5, .h = line->h};
        double first = (double)start * line->h;
        turned = start > 0 && turned < MOST_TURNS ? turned + 1 : 0;
        double fixed = steady + turning * turned,
               most = fixed + growing * (first + BLOCK * line->h);
        brume_vector_line_waves_turn(waves, line->law_count, first, turned > 0);
        b.y = first;
        fill(&b, waves, line->law_count);
        dense->tried += BLOCK;
        if (!drop_block(line, &b, first, most, start >= 2 * BLOCK ? allowed : 0)) {
            alive = make_room(dense);
            if (alive)
                finish_block(line, &turns, &b, start, end, fixed, growing);
        }
    }
    brume_vector_line_waves_close(waves);
    if (lost)
        dense->error = INFINITY;
    line->count = dense->count;
    return alive;
}

brume_line_sum brume_vector_line_evaluate(const brume_line *line, double epsilon, bool lower)
{
    const brume_vector_line *dense = &line->dense;
    const double *re = lower ? dense->lower_re : dense->re;
    const double *im = lower ? dense->lower_im : dense->im;
    double c = line->c, x = epsilon, middle = x - line->centre, turn = middle - dense->top;
    double turn_re[BLOCK], turn_im[BLOCK];
    EACH(j) sincos(-turn * (j * line->h), &turn_im[j], &turn_re[j]);
    sum_function *sum_of = wide(line) ? sum_wide : sum_plain;
    long double sum = 0, slope = 0;
    for (size_t at = 0; at < dense->count; at += BLOCK) {
        double y = (double)dense->start[at / BLOCK] * line->h, s, co, part, first, second;
        sincos(-turn * y, &s, &co);
        sum_of(re + at, im + at, turn_re, turn_im, co, s, &part, &first, &second);
        sum += part;
        slope -= c * part - y * first - line->h * second; /* d/d eps multiplies by -s */
    }
    /* a term: the angle by 4 units of y (|turn| + |x| + top), two sines and cosines, their product
     * and the term's, 40 units; the sum: 12 of each block's terms */
    double angle = 4 * (fabs(turn) + fabs(x) + dense->top);
    if (line->centre != 0) /* x - centre */
        angle += 4 * fabs(middle) + line->centre_error / unit;
    double error = 1.01 * (dense->error + unit * ((40 + 40) * dense->size + angle * dense->lever));
    long double exponent = line->cumulant - (long double)c * x;
    double shift = line->cumulant_error + 2 * unit * c * fabs(x);
    double scale = exp((double)exponent), weight = line->h / M_PI;
    double size = 16 * unit * (1 + (double)fabsl(exponent));
    brume_line_sum out = {.value = scale * weight * (double)sum,
                          .slope = scale * weight * (double)slope};
    out.error = scale *
                    ((weight * error + line->skipped) * (1 + expm1(shift) + size) +
                     weight * (double)fabsl(sum) * (expm1(shift) + size)) *
                    1.0001 +
                1e-300;
    return out;
}
