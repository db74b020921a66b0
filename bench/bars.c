/* bars: how long the bars of chosen limits are beside the shortest that one could have, by
 * simulation.
 *
 *   bars [PEOPLE [EPSILON [NOISE [SETS [DRAWS [LOOKS]]]]]]
 *   bars prices [PEOPLE [NOISE [SETS [DRAWS]]]]
 *                       10,000 people, epsilon 1, laplace, 6 data sets of each shape, 50 draws of
 * each; `prices`: the geometric mean of the bars at nine prices, from 0.1 to 3, and what it is of
 * the one before at most; LOOKS: so many queries of the same price looked before (1: this one
 * alone)
 *
 * The rule is the shipped one (limit/bar.h), with the shipped shares of the price; noise is not on
 * a grid, and nothing is read or collected, so that thousands of draws take seconds. `answers`
 * measures the same through the whole path of a query. NOISE `gaussian` pays rho = EPSILON^2 / 2.
 *
 * `oracle` is the shortest of the bars noise95(T) + cut(T) over all T with the whole price, by
 * someone who sees the data. Then, of bar / oracle, the median and the 99th percentile; how often
 * in 100 the bar covers the whole truth (`cover`), and the truth up to the reach that the answer
 * names (`reach`); how often no limit is found (`none`); the geometric mean of T; the share of the
 * price that looks took; the mean of `hidden`, and how often not more units than that are above T
 * (`holds`). The shapes are laws of people.h; the last six were fixed before the rule was
 * measured on them, three of them before it chose limits by the bar itself. Crowds (a few units far
 * above all others) and power laws of an index of 1.5 and less stand apart: no count can tell of
 * the former, and single units decide the latter. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/limit/bar.h"
#include "query/price/limited.h"

#include "people.h"

enum { BINS = BRUME_LIMIT_BINS };

typedef enum kind { SMOOTH, CROWD, HEAVY, HELD_OUT } kind;
static const char *const titles[] = {"tails and ends", "crowds", "heavy power laws", "held out"};

typedef struct shape {
    const char *name;
    long (*rows)(void);
    kind kind;
    bool sum; /* of prices, and not a count */
} shape;

static long rows_geometric(void)
{
    return (long)ceil(log(uniform()) / log(0.5));
}

static long rows_few(void)
{
    return 1 + (uniform() < 0.2) + (uniform() < 0.05);
}

static long rows_zipf12(void)
{
    return (long)fmin(1e6, floor(pow(uniform(), -1 / 1.2)));
}

static const shape shapes[] = {
    {"one row each", rows_one, SMOOTH, false},
    {"few rows", rows_few, SMOOTH, false},
    {"geometric", rows_geometric, SMOOTH, false},
    {"Poisson", rows_poisson, SMOOTH, false},
    {"orders", rows_orders, SMOOTH, false},
    {"line items", rows_items, SMOOTH, false},
    {"line items, SUM", rows_items, SMOOTH, true},
    {"uniform 1..30", rows_uniform, SMOOTH, false},
    {"lognormal 1", rows_lognormal1, SMOOTH, false},
    {"text", rows_text, SMOOTH, false},
    {"text, SUM", rows_text, SMOOTH, true},
    {"lognormal 2", rows_lognormal2, SMOOTH, false},
    {"Weibull 0.6", rows_weibull, SMOOTH, false},
    {"mixed tails", rows_mixed, SMOOTH, false},
    {"visits", rows_visits, SMOOTH, false},
    {"Zipf 3", rows_zipf3, SMOOTH, false},
    {"Zipf 2", rows_zipf, SMOOTH, false},
    {"Pareto 1.8 to 500", rows_pareto_short, SMOOTH, false},
    {"Pareto 1.3 to 200", rows_pareto_200, SMOOTH, false},
    {"two speeds", rows_two_speeds, SMOOTH, false},
    {"shops", rows_shops, SMOOTH, false},
    {"Zipf 1.5", rows_zipf15, HEAVY, false},
    {"Zipf 1.2", rows_zipf12, HEAVY, false},
    {"1 % with 500", rows_two_kinds, CROWD, false},
    {"two crowds", rows_two_crowds, CROWD, false},
    {"bots", rows_bots, CROWD, false},
    {"forum", rows_forum, CROWD, false},
    {"dialysis", rows_dialysis, HELD_OUT, false},
    {"loans to 400", rows_loans, HELD_OUT, false},
    {"log lines", rows_log_lines, HELD_OUT, false},
    {"calls", rows_calls, HELD_OUT, false},
    {"cards", rows_cards, HELD_OUT, false},
    {"staff", rows_staff, HELD_OUT, false},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static bool is_gaussian;
static double epsilon = 1;
static int looks_before = 1;

static double noise(double scale)
{
    if (is_gaussian)
        return scale * gaussian();
    double u = uniform();
    return scale * (u < 0.5 ? log(2 * u) : -log(2 * (1 - u)));
}

/* The scale or sigma that a share of the price buys for a number that moves by 1. */
static double scale_of(double share)
{
    return 1 / (epsilon * (is_gaussian ? sqrt(share) : share));
}

/* ---- data ---- */

typedef struct people {
    double in[BINS], above[BINS],
        cut[BINS]; /* units in a bin, above its edge; what they have beyond */
} people;

static void make(const shape *of, long count, people *all)
{
    double had[BINS] = {0}, units = 0, sum = 0;
    memset(all, 0, sizeof *all);
    for (long i = 0; i < count; i++) {
        long rows = of->rows();
        double has = (double)rows;
        for (has = of->sum ? 0 : has; of->sum && rows > 0; rows--)
            has += floor((1 + floor(50 * uniform())) * (900 + 1200 * uniform()));
        size_t bin = brume_limit_bin((brume_u128)has, 1, BINS);
        all->in[bin]++;
        had[bin] += has;
    }
    for (size_t i = BINS; i-- > 0;) {
        all->above[i] = units;
        all->cut[i] = sum - units * (double)brume_limit_edge(i);
        units += all->in[i];
        sum += had[i];
    }
}

static double oracle(const people *all)
{
    double best = INFINITY;
    for (size_t i = 0; i < BINS; i++)
        best = fmin(best, (is_gaussian ? 1.96 : 2.9957) * (double)brume_limit_edge(i) / epsilon +
                              all->cut[i]);
    return best;
}

/* ---- one draw ---- */

static void count(brume_noisy *number, double truth, double scale)
{
    double deviation = is_gaussian ? scale : M_SQRT2 * scale;
    brume_noisy_pool(number, truth + noise(scale), deviation);
}

static void look_at_tail(const people *all, double scale, brume_looks *looks)
{
    for (size_t i = 0; i < looks->tail; i++)
        count(&looks->bin[i], all->in[i], scale);
    for (size_t p = 0; p < BRUME_LIMIT_PARTS; p++) {
        double units = 0;
        for (size_t i = brume_looks_part(looks->tail, p); i < brume_looks_part(looks->tail, p + 1);
             i++)
            units += all->in[i];
        count(&looks->part[p], units, scale);
    }
}

static void choose(const brume_looks *looks, double share, brume_limit_choice *choice)
{
    brume_limit_cost cost = {.noise_95 = (is_gaussian ? 1.959964 : 2.995732) * scale_of(1 - share),
                             .gaussian = is_gaussian,
                             .cut_share = 1};
    if (brume_limit_choose(looks, &cost, choice, NULL) != BRUME_OK)
        exit(1);
}

/* As choice.c buys looks; returns the share of the price that they took. */
static double look(const people *all, const shape *of, brume_looks *looks,
                   brume_limit_choice *choice)
{
    int p = is_gaussian ? 2 : 1;
    bool first = looks->base == 0;
    double shares[4], scales[4];
    for (int i = 0; i < 4; i++) {
        shares[i] = brume_limited_choice_share(p, epsilon, (brume_choice_step)i, !of->sum);
        scales[i] = scale_of(shares[i] - (i > 0 ? shares[i - 1] : 0));
    }
    if (first)
        count(&looks->first, all->above[0], scales[0]);
    if (first && brume_looks_are_quiet(looks)) {
        choose(looks, shares[0], choice);
        return shares[0];
    }
    for (size_t i = 0; i < BINS; i++)
        count(&looks->bin[i], all->in[i], scales[1]);
    choose(looks, shares[1], choice);
    if (!choice->found)
        return shares[1];
    size_t tail = brume_looks_next_tail(looks);
    if (tail != looks->tail)
        memset(looks->part, 0, sizeof looks->part);
    looks->tail = tail;
    look_at_tail(all, scales[2], looks);
    choose(looks, shares[2], choice);
    if (!choice->in_doubt)
        return shares[2];
    look_at_tail(all, scales[3], looks);
    choose(looks, shares[3], choice);
    return shares[3];
}

typedef struct score {
    double median, high, usual, cover, reach, none, limit, share, hidden, holds;
    int draws;
} score;

static int by_size(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void add_draw(const people *all, const shape *of, double best, score *sum, double *ratios)
{
    brume_looks looks = {.gaussian = is_gaussian,
                         .base = of->sum ? brume_limit_bin(105000, 1, BINS) : 0};
    brume_limit_choice choice;
    double share = 0;
    for (int i = 0; i < looks_before; i++)
        share = look(all, of, &looks, &choice);
    if (looks_before > 1)
        choose(&looks, share = 0, &choice);
    sum->draws++;
    if (!choice.found) {
        sum->none++;
        return;
    }
    double limit = (double)choice.limit, scale = limit * scale_of(1 - share), drawn = noise(scale);
    double bar = (is_gaussian ? 1.959964 : 2.995732) * scale + choice.allowance;
    double beyond =
        choice.reach >= 0x1p62 ? 0 : all->cut[brume_limit_bin((brume_u128)choice.reach, 1, BINS)];
    sum->cover += fabs(drawn - all->cut[choice.bin]) <= bar;
    sum->reach += fabs(drawn - (all->cut[choice.bin] - fmin(beyond, all->cut[choice.bin]))) <= bar;
    sum->usual += log(bar);
    sum->limit += log(limit);
    sum->share += share;
    sum->hidden += choice.hidden;
    sum->holds += all->above[choice.bin] <= choice.hidden + 0.5;
    ratios[sum->draws - 1 - (int)sum->none] = bar / best;
}

static score run(const shape *of, long persons, int sets, int draws)
{
    score sum = {0};
    people all;
    double *ratios = calloc((size_t)(sets * draws) + 1, sizeof *ratios);
    if (!ratios)
        exit(1);
    for (int set = 0; set < sets; set++) {
        seed = 1000 * (uint64_t)(set + 1) + (uint64_t)persons;
        for (int i = 0; i < 8; i++)
            uniform();
        make(of, persons, &all);
        for (int i = 0; i < draws; i++)
            add_draw(&all, of, oracle(&all), &sum, ratios);
    }
    double found = fmax(1, sum.draws - sum.none);
    qsort(ratios, (size_t)found, sizeof *ratios, by_size);
    sum = (score){.usual = exp(sum.usual / found),
                  .median = ratios[(int)(found / 2)],
                  .high = ratios[(int)(0.99 * (found - 1))],
                  .cover = 100 * sum.cover / found,
                  .reach = 100 * sum.reach / found,
                  .none = 100 * sum.none / sum.draws,
                  .limit = exp(sum.limit / found),
                  .share = sum.share / found,
                  .hidden = sum.hidden / found,
                  .holds = 100 * sum.holds / found};
    free(ratios);
    return sum;
}

static void print_kind(kind of, const score *scores)
{
    double median = 0, high = 0, cover = 0, holds = 0, count = 0, covered = 0;
    for (int i = 0; i < SHAPES; i++) {
        if (shapes[i].kind != of || scores[i].none > 50)
            continue;
        median += log(scores[i].median);
        high += log(scores[i].high);
        cover += scores[i].cover;
        covered += scores[i].cover >= 95;
        holds += scores[i].holds;
        count++;
    }
    printf(
        "%s: median %.2f, 99th percentile %.2f (geometric means); cover %.1f, at least 95 in %.0f of %.0f; "
        "hidden holds in %.1f\n",
        titles[of], exp(median / count), exp(high / count), cover / count, covered, count,
        holds / count);
}

/* In parts of the bar at a price of 0.1. */
static void run_prices(long persons, int sets, int draws)
{
    static const double prices[] = {0.1, 0.2, 0.3, 0.45, 0.7, 1, 1.5, 2.2, 3};
    printf("%-18s", "epsilon");
    for (size_t j = 0; j < sizeof prices / sizeof *prices; j++)
        printf(" %7g", prices[j]);
    printf(" %7s\n", "most");
    for (int i = 0; i < SHAPES; i++) {
        double first = 0, last = 0, most = 0;
        printf("%-18s", shapes[i].name);
        for (size_t j = 0; j < sizeof prices / sizeof *prices; j++) {
            epsilon = prices[j];
            double bar = run(&shapes[i], persons, sets, draws).usual;
            first = j == 0 ? bar : first;
            most = j == 0 ? 0 : fmax(most, bar / last);
            last = bar;
            printf(" %7.3f", bar / first);
        }
        printf(" %7.2f\n", most);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    score scores[SHAPES];
    if (argc > 1 && strcmp(argv[1], "prices") == 0) {
        is_gaussian = argc > 3 && strcmp(argv[3], "gaussian") == 0;
        run_prices(argc > 2 ? atol(argv[2]) : 10000, argc > 4 ? atoi(argv[4]) : 6,
                   argc > 5 ? atoi(argv[5]) : 50);
        return 0;
    }
    long persons = argc > 1 ? atol(argv[1]) : 10000;
    epsilon = argc > 2 ? atof(argv[2]) : 1;
    is_gaussian = argc > 3 && strcmp(argv[3], "gaussian") == 0;
    int sets = argc > 4 ? atoi(argv[4]) : 6, draws = argc > 5 ? atoi(argv[5]) : 50;
    looks_before = argc > 6 ? atoi(argv[6]) : 1;
    printf(
        "%ld people, epsilon %g, %s noise, %d draws\n%-18s %7s %7s %6s %6s %5s %9s %6s %7s %6s\n",
        persons, epsilon, is_gaussian ? "gaussian" : "laplace", sets * draws, "bar / oracle",
        "median", "99 %", "cover", "reach", "none", "T", "share", "hidden", "holds");
    for (int i = 0; i < SHAPES; i++) {
        score one = scores[i] = run(&shapes[i], persons, sets, draws);
        printf("%-18s %7.2f %7.2f %6.1f %6.1f %5.1f %9.0f %6.2f %7.0f %6.1f\n", shapes[i].name,
               one.median, one.high, one.cover, one.reach, one.none, one.limit, one.share,
               one.hidden, one.holds);
        fflush(stdout);
    }
    for (kind i = SMOOTH; i <= HELD_OUT; i++)
        print_kind(i, scores);
    return 0;
}
