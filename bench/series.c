/* Series of running totals: how far off they are beside fresh answers, how long they take, and what
 * bars cover on a clinic that grows for 400 days, with rows that come late, are corrected and
 * deleted.
 *
 *   ./run bench series [RUNS]     RUNS clinics (10)
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <brume/bits.h>

#include "mechanism/series/running.h"
#include "query/series/limit.h"

static brume_error error;

static void need(brume_status status)
{
    if (status == BRUME_OK)
        return;
    fprintf(stderr, "bench series: %s\n", error.message);
    exit(1);
}

static double processor_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static brume_running *open_running(brume_rule rule, uint64_t horizon, brume_running_shape *shape)
{
    brume_running *running = NULL;
    need(brume_running_choose(rule, horizon, shape, &error));
    need(brume_running_open(shape, &running, &error));
    return running;
}

static double root_of(const brume_running *running, uint64_t horizon)
{
    const uint32_t *c = brume_running_coefficients(running);
    double square = 0;
    for (uint64_t k = 0; k < horizon; k++)
        square += (double)c[k] * c[k];
    return sqrt(square);
}

/* ---- errors ---- */

static void print_errors(uint64_t horizon, double best)
{
    brume_running_shape shape;
    brume_running *running = open_running(BRUME_RULE_CONCENTRATED, horizon, &shape);
    double total = 0, day = 0, month = 0, tree = 0, root = root_of(running, horizon);
    need(brume_running_spread(running, 0, horizon - 1, &total, &error));
    need(brume_running_spread(running, horizon - 1, horizon - 1, &day, &error));
    need(brume_running_spread(running, horizon - 30, horizon - 1, &month, &error));
    brume_running_close(running);
    running = open_running(BRUME_RULE_PURE, horizon, &shape);
    for (uint64_t last = 0; last < horizon; last++) {
        double blocks = 0;
        need(brume_running_spread(running, 0, last, &blocks, &error));
        tree = fmax(tree, (double)shape.levels * sqrt(blocks));
    }
    brume_running_close(running);
    printf(
        "%5d days: fresh answers added up %5.1f   square root: total %.2f (%.3f of the best known), "
        "one day %.2f, 30 days %.2f   trees, pure: total %.1f\n",
        (int)horizon, sqrt((double)horizon), root * total, root * total / best, root * day,
        root * month, tree);
}

/* ---- time ---- */

static void print_time(uint64_t horizon)
{
    brume_running_shape shape;
    brume_running *running = open_running(BRUME_RULE_CONCENTRATED, horizon, &shape);
    brume_i128 *x = calloc(horizon, sizeof *x), *y = calloc(horizon, sizeof *y);
    double total = 0;
    if (!x || !y)
        exit(1);
    for (uint64_t k = 0; k < horizon; k++)
        x[k] = (brume_i128)(k * 7919 % 100003);
    double began = processor_ms();
    for (uint64_t t = 0; t < horizon; t++)
        brume_running_encode(running, t, x, &y[t]);
    double encoded = processor_ms();
    for (uint64_t t = 0; t < horizon; t++)
        need(brume_running_total(running, y, 0, t, &total, &error));
    printf("%5d days: encode %.2f ms, decode %.2f ms of processor time\n", (int)horizon,
           encoded - began, processor_ms() - encoded);
    free(x);
    free(y);
    brume_running_close(running);
}

/* ---- a clinic ---- */

enum { DAYS = 400, PEOPLE = 4000, VISITS = 40000, LIMIT = 3, SHOWN = 4 };

typedef struct visit {
    uint32_t person, day, ward, comes, goes; /* there from close `comes` until `goes` */
} visit;

static uint64_t random_word(brume_bits *bits)
{
    static uint64_t words[512];
    static size_t left;
    if (left == 0) {
        left = sizeof words / sizeof *words;
        need(brume_bits_words(bits, words, left, &error));
    }
    return words[--left];
}

/* How rows come: a share of them up to 10 days late, a share is deleted, half of which are
 * corrected (another day takes their place); and so many days after its end a window closes. */
typedef struct habits {
    double late, gone;
    uint32_t delay;
} habits;

/* Two wards. */
static size_t make_clinic(brume_bits *bits, visit *visits, const habits *how)
{
    size_t count = 0;
    for (size_t i = 0; i < VISITS; i++) {
        uint64_t w = random_word(bits), chance = random_word(bits) % 10000;
        visit one = {(uint32_t)(w % PEOPLE), (uint32_t)((w >> 16) % DAYS), (uint32_t)(w >> 40) % 2,
                     0, UINT32_MAX};
        one.comes = one.day;
        if ((double)chance < 10000 * how->late)
            one.comes += 1 + (uint32_t)((w >> 48) % 10);
        else if ((double)chance >= 10000 * (1 - how->gone))
            one.goes = one.day + 1 + (uint32_t)((w >> 48) % 60);
        visits[count++] = one;
        if (one.goes < UINT32_MAX && chance % 2 == 0) {
            visit other = one;
            other.comes = one.goes;
            other.goes = UINT32_MAX;
            other.day = one.day > 3 ? one.day - 3 : 0;
            visits[count++] = other;
        }
    }
    return count;
}

typedef struct coverage {
    uint64_t covered[SHOWN],
        all; /* the total, the day, 30 days; the total beside what is not cut */
    double width, lean;
} coverage;

/* Close day after day; compare with the totals of the rows that are there then, limited or not. */
static void run_clinic(brume_bits *bits, const habits *how, coverage *told)
{
    static visit visits[2 * VISITS];
    static brume_series_row rows[2 * VISITS];
    static brume_i128 totals[2 * DAYS], whole[2 * DAYS], numbers[2][DAYS];
    const brume_series_limit limit = {LIMIT, true, BRUME_SERIES_ROWS};
    const brume_series_limit none = {1u << 30, true, BRUME_SERIES_ROWS};
    size_t count = make_clinic(bits, visits, how);
    brume_running_shape shape;
    brume_running_noise noise;
    brume_decimal amount;
    brume_charge price;
    brume_running *running = open_running(BRUME_RULE_CONCENTRATED, DAYS, &shape);
    need(brume_decimal_parse("0.125", &amount, &error));
    need(brume_charge_make(BRUME_RULE_CONCENTRATED, &amount, NULL, &price, &error));
    need(brume_running_pay(running, &price, LIMIT, false, false, &noise, &error));
    for (uint32_t t = 0; t < DAYS; t++) {
        for (int limited = 0; limited < 2; limited++) {
            size_t there = 0;
            brume_i128 *to = limited ? totals : whole;
            for (uint32_t i = 0; i < 2 * (t + 1); i++)
                to[i] = 0;
            for (size_t i = 0; i < count; i++)
                if (visits[i].day <= t && visits[i].comes <= t + how->delay &&
                    t + how->delay < visits[i].goes)
                    rows[there++] =
                        (brume_series_row){visits[i].person, visits[i].day, visits[i].ward, 0, 1};
            brume_series_limit_rows(rows, there, limited ? &limit : &none, to, t + 1);
        }
        for (int ward = 0; ward < 2; ward++) {
            const brume_i128 *x = &totals[ward * (int)(t + 1)], *all = &whole[ward * (int)(t + 1)];
            brume_running_encode(running, t, x, &numbers[ward][t]);
            need(brume_running_draw(&noise, bits, &numbers[ward][t], 1, &error));
            const uint32_t first[] = {0, t, t > 29 ? t - 29 : 0, 0};
            for (int i = 0; i < SHOWN; i++) {
                double value = 0, spread = 0, truth = 0;
                need(brume_running_total(running, numbers[ward], first[i], t, &value, &error));
                need(brume_running_spread(running, first[i], t, &spread, &error));
                for (uint32_t k = first[i]; k <= t; k++)
                    truth += (double)(i == 3 ? all : x)[k];
                double width = 1.959964 * noise.scale * spread;
                told->covered[i] += fabs(value - truth) <= width;
                told->width += i == 0 ? width : 0;
                told->lean += i == 0 ? value - truth : 0;
            }
            told->all++;
        }
    }
    brume_running_close(running);
}

static void print_clinics(brume_bits *bits, int runs, const habits *how)
{
    coverage told = {0};
    for (int i = 0; i < runs; i++)
        run_clinic(bits, how, &told);
    double all = (double)told.all / 100;
    printf(
        "%3.0f %% late, %1.0f %% deleted or corrected, closed after %2u days: bars cover the total in "
        "%.1f %%, the day %.1f %%, 30 days %.1f %%, the total without a limit %.1f %%; bar %.1f, mean "
        "lean %+.2f\n",
        100 * how->late, 100 * how->gone, how->delay, (double)told.covered[0] / all,
        (double)told.covered[1] / all, (double)told.covered[2] / all, (double)told.covered[3] / all,
        told.width / (double)told.all, told.lean / (double)told.all);
}

int main(int count, char **words)
{
    int runs = count > 1 ? atoi(words[1]) : 10;
    brume_bits *bits = NULL;
    need(brume_bits_open(&bits, &error));
    printf("errors in standard deviations of one count at the whole price\n");
    print_errors(365, 2.859);
    print_errors(3650, 3.592);
    printf("time\n");
    print_time(365);
    print_time(3650);
    printf("clinics of %d days, %d visits of %d people, at most %d a day, rho 0.125, %d runs\n",
           DAYS, VISITS, PEOPLE, LIMIT, runs);
    static const habits all[] = {{0, 0, 0}, {0.05, 0, 0}, {0.05, 0, 10}, {0.05, 0.02, 10}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        print_clinics(bits, runs, &all[i]);
    brume_bits_close(bits);
    return 0;
}
