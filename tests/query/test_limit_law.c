/* The loss of a whole COUNT query whose limit is chosen: the first count, the histogram, the parts
 * of the tail, the second look at them and the clipped count, each with its noise, as the shipped
 * rule buys them and at the shipped price. Everything that is drawn is in the outcome, so the loss
 * of an outcome is the sum of what each number says; which numbers are drawn, and the limit, follow
 * from those before. On neighbouring tables, both adjacencies, both directions, no outcome says
 * more than epsilon, and some say all of it; and controls that must fail. The numbers of each step
 * say no more than that step's share: on pairs where a unit comes or goes and, by themselves, on
 * pairs where one is replaced by another, which move two bins and two parts.
 *
 * Numbers that have the same law on both tables say nothing, but steer the rule: they are fixed, in
 * several scenes. Numbers that differ run over values below, between and far above the true ones;
 * those of the second look over the first and the last of these.
 */
#include "check.h"

#include "query/limit/expect.h"
#include "query/limit/grid.h"
#include "query/limit/spread.h"
#include "query/limit/tail.h"
#include "query/price/limited.h"

enum { BINS = 14, VALUES = 3, STEPS = BRUME_CHOICE_AGAIN + 1 };

/* So many other units are in every bin of both tables: then 3 is a true number, or 4. */
enum { OTHERS = 3 };
static const double values[VALUES] = {-40, OTHERS + 2, 90};

typedef struct priced {
    double first, bin, part, again; /* scales of the noise, */
    double answer[STEPS];           /* for a limit of 1, by the last step that was bought */
} priced;

static priced price_of(double epsilon, bool replace)
{
    brume_error error = {0};
    brume_limited_shape shape = {.cells = 1, .replace = replace, .choices = 1};
    priced how = {0};
    for (int step = 0; step < STEPS; step++) {
        brume_measure rows = {.kind = BRUME_MEASURE_ROWS};
        brume_limited_price limited;
        brume_price price;
        assert_ok(brume_limited_pay(&rows, 1, &shape, BRUME_NOISE_DISCRETE_LAPLACE, epsilon, 0,
                                    (brume_choice_step)step, &limited, &price, &error));
        how.first = limited.count_scale;
        how.bin = limited.histogram_scale;
        how.part = limited.tail_scale;
        how.again = limited.again_scale;
        how.answer[step] = rows.noise;
    }
    return how;
}

/* ---- one unit, or none ---- */

/* What a unit with so many rows adds to each number; none: rows = 0. */
static int64_t above_one(int64_t rows)
{
    return rows > 1;
}

static int64_t in_bin(int64_t rows, size_t bin)
{
    return rows > 0 && brume_limit_bin((brume_u128)rows, 1, BINS) == bin;
}

static int64_t in_part(int64_t rows, size_t from, size_t part)
{
    int64_t sum = 0;
    for (size_t i = brume_limit_part_from(from, part, BINS);
         i < brume_limit_part_from(from, part + 1, BINS); i++)
        sum += in_bin(rows, i);
    return sum;
}

static int64_t clipped(int64_t rows, int64_t limit)
{
    return rows < limit ? rows : limit;
}

/* log(P/Q) of a noisy number: discrete Laplace noise on one more or less than the others. */
static double says(double noisy, double scale, int64_t p, int64_t q)
{
    return (fabs(noisy - OTHERS - (double)q) - fabs(noisy - OTHERS - (double)p)) / scale;
}

/* The most that any value says. */
static double most(double scale, int64_t p, int64_t q)
{
    return fabs((double)(p - q)) / scale;
}

/* ---- outcomes ---- */

typedef struct pair {
    int64_t p, q; /* rows of the unit in which two tables differ; 0: it is not there */
} pair;

/* What the numbers that do not differ are. */
typedef struct scene {
    double bins[BINS], parts[BRUME_LIMIT_PARTS];
} scene;

typedef struct walk {
    const priced *how;
    pair unit;
    brume_limit_histogram histogram;
    double noisy[BINS];
    double worst;
    double before[STEPS], worst_of[STEPS]; /* said before a step, and at most by its own numbers */
    double worst_answer;
    size_t reached[STEPS]; /* outcomes that end with each step */
} walk;

/* All numbers of a step are drawn. */
static void end_step(walk *all, double loss, brume_choice_step step)
{
    all->worst_of[step] = fmax(all->worst_of[step], loss - all->before[step]);
}

static void end(walk *all, double loss, size_t bin, brume_choice_step step)
{
    int64_t limit = (int64_t)brume_limit_edge(bin == BRUME_LIMIT_NO_BIN ? 0 : bin);
    double answer = most(all->how->answer[step] * (double)limit, clipped(all->unit.p, limit),
                         clipped(all->unit.q, limit));
    all->worst_answer = fmax(all->worst_answer, answer);
    all->worst = fmax(all->worst, loss + answer);
    all->reached[step]++;
}

static double need_at(const walk *all, brume_choice_step step)
{
    return brume_limit_need(all->how->answer[step], false, 1);
}

static void end_tail(walk *all, double loss, brume_choice_step step)
{
    double need = need_at(all, step);
    end(all, loss, brume_limit_decide(&all->histogram, need), step);
}

/* Every value of the parts that differ, from `part` on; then what follows. */
static void draw_parts(walk *all, const scene *at, double loss, double noisy[BRUME_LIMIT_PARTS],
                       size_t part, bool second)
{
    size_t from = all->histogram.tail.from;
    double scale = second ? all->how->again : all->how->part;
    brume_choice_step step = second ? BRUME_CHOICE_AGAIN : BRUME_CHOICE_TAIL;
    if (part == 0)
        all->before[step] = loss;
    if (part < BRUME_LIMIT_PARTS) {
        int64_t p = in_part(all->unit.p, from, part), q = in_part(all->unit.q, from, part);
        for (size_t v = 0; v < (p == q ? 1 : VALUES); v += second ? VALUES - 1 : 1) {
            noisy[part] = p == q ? at->parts[part] : values[v];
            draw_parts(all, at, loss + says(noisy[part], scale, p, q), noisy, part + 1, second);
        }
        return;
    }
    brume_limit_tail kept = all->histogram.tail;
    end_step(all, loss, step);
    if (second) {
        brume_limit_look_again(&all->histogram, noisy, scale);
        end_tail(all, loss, BRUME_CHOICE_AGAIN);
    } else {
        double again[BRUME_LIMIT_PARTS];
        memcpy(all->histogram.tail.noisy, noisy, sizeof all->histogram.tail.noisy);
        all->histogram.tail.scale = scale;
        if (brume_limit_is_in_doubt(&all->histogram))
            draw_parts(all, at, loss, again, 0, true);
        else
            end_tail(all, loss, BRUME_CHOICE_TAIL);
    }
    all->histogram.tail = kept;
}

static void draw_bins(walk *all, const scene *at, double loss, size_t bin)
{
    if (bin == 0)
        all->before[BRUME_CHOICE_HISTOGRAM] = loss;
    if (bin < BINS) {
        int64_t p = in_bin(all->unit.p, bin), q = in_bin(all->unit.q, bin);
        for (size_t v = 0; v < (p == q ? 1 : VALUES); v++) {
            all->noisy[bin] = p == q ? at->bins[bin] : values[v];
            draw_bins(all, at, loss + says(all->noisy[bin], all->how->bin, p, q), bin + 1);
        }
        return;
    }
    double parts[BRUME_LIMIT_PARTS];
    end_step(all, loss, BRUME_CHOICE_HISTOGRAM);
    size_t limit = brume_limit_decide(&all->histogram, need_at(all, BRUME_CHOICE_HISTOGRAM));
    if (limit == BRUME_LIMIT_NO_BIN) {
        end(all, loss, limit, BRUME_CHOICE_HISTOGRAM);
        return;
    }
    all->histogram.tail = (brume_limit_tail){.from = limit + 1, .looks = 1};
    draw_parts(all, at, loss, parts, 0, false);
    all->histogram.tail = (brume_limit_tail){0};
}

static void draw_first(walk *all, const scene *at)
{
    int64_t p = above_one(all->unit.p), q = above_one(all->unit.q);
    static const double same[] = {-1, 200}; /* quiet, or not */
    for (size_t v = 0; v < (p == q ? 2 : VALUES); v++) {
        double noisy = p == q ? same[v] : values[v], loss = says(noisy, all->how->first, p, q);
        end_step(all, loss, BRUME_CHOICE_COUNT);
        all->histogram.scale = 0;
        all->histogram.first = (brume_limit_count){1, noisy, all->how->first};
        if (brume_limit_is_quiet(&all->histogram)) {
            end(all, loss, brume_limit_decide(&all->histogram, 1), BRUME_CHOICE_COUNT);
        } else {
            all->histogram.scale = all->how->bin;
            draw_bins(all, at, loss, 0);
        }
    }
}

static const scene scenes[] = {
    {{200}, {0}},                              /* one row each */
    {{900, 500, 300, 200, 120, 70, 40}, {25}}, /* a tail, in doubt */
    {{900, 500, 300, 200, 120, 70, 40}, {0}},  /* that broke off */
    {{500, 0, 0, 0, 0, 60, 90}, {60, 40}},     /* and a crowd */
};
enum { SCENES = sizeof scenes / sizeof *scenes };
static const int64_t rows_of[] = {0, 1, 2, 9, 40, 100};
enum { ROWS = sizeof rows_of / sizeof *rows_of };

/* Which pairs of tables: a unit comes or goes, or one is replaced by another. */
typedef enum pairs {
    COMES_OR_GOES = 1,
    REPLACED = 2,
    EITHER = COMES_OR_GOES | REPLACED, /* a replaced unit may be one without a row */
} pairs;

typedef struct losses {
    double worst, of[STEPS], answer; /* of all numbers, of each step's, and of the answer */
    size_t reached[STEPS];           /* outcomes that end with each step */
} losses;

static losses worst_losses(const priced *how, pairs which)
{
    losses found = {0};
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < ROWS; j++)
            for (size_t s = 0; s < SCENES; s++) {
                pairs this = i > 0 && j > 0 ? REPLACED : COMES_OR_GOES;
                if (i == j || !(this & which))
                    continue;
                walk all = {.how = how, .unit = {rows_of[i], rows_of[j]}};
                all.histogram = (brume_limit_histogram){.noisy = all.noisy, .bins = BINS};
                draw_first(&all, &scenes[s]);
                found.worst = fmax(found.worst, all.worst);
                found.answer = fmax(found.answer, all.worst_answer);
                for (int k = 0; k < STEPS; k++) {
                    found.of[k] = fmax(found.of[k], all.worst_of[k]);
                    found.reached[k] += all.reached[k];
                }
            }
    return found;
}

static double worst_loss(const priced *how, pairs which)
{
    return worst_losses(how, which).worst;
}

static void a_whole_count_loses_no_more_than_its_price(void **state)
{
    (void)state;
    static const double prices[] = {0.4, 1, 6};
    for (size_t i = 0; i < 3; i++)
        for (int replace = 0; replace < 2; replace++) {
            priced how = price_of(prices[i], replace);
            losses found = worst_losses(&how, replace ? EITHER : COMES_OR_GOES);
            printf("# %s, epsilon %g: loss %.6f\n", replace ? "replace" : "add-remove", prices[i],
                   found.worst);
            assert_holds(found.worst <= prices[i] * (1 + 1e-9));
            assert_holds(found.worst >= 0.999 * prices[i]); /* nothing is paid for nothing */
            for (int k = 0; k < STEPS; k++)
                assert_holds(found.reached[k] > 0); /* every step was somewhere the last */
        }
}

/* What each step may say. */
static double share_of(double epsilon, int step)
{
    double up_to = brume_limited_choice_share(1, epsilon, (brume_choice_step)step);
    return step == 0
               ? up_to
               : up_to - brume_limited_choice_share(1, epsilon, (brume_choice_step)(step - 1));
}

/* Does each step say no more than its share, and somewhere all of it? And the answer what is left
 * by the first count at most; a replaced unit is one in both tables, so not quite all of it. */
static bool steps_say_their_shares(const priced *how, double epsilon, pairs which)
{
    losses found = worst_losses(how, which);
    bool all = found.answer <= (1 - share_of(epsilon, 0)) * epsilon * (1 + 1e-9);
    for (int k = 0; k < STEPS; k++) {
        double share = share_of(epsilon, k) * epsilon;
        all = all && found.of[k] <= share * (1 + 1e-9) && found.of[k] >= share * (1 - 1e-9);
    }
    return all;
}

/* Pairs by themselves: in a replaced pair both units are there, and no other pair hides what it
 * says. Rejects: a price that covers one bin or one part where two move, and one that covers two
 * where one moves. */
static void each_step_says_its_share_on_pairs_of_each_kind(void **state)
{
    (void)state;
    static const double prices[] = {0.4, 1};
    for (size_t i = 0; i < 2; i++)
        for (int replace = 0; replace < 2; replace++) {
            priced good = price_of(prices[i], replace), how = good;
            pairs which = replace ? REPLACED : COMES_OR_GOES;
            assert_holds(steps_say_their_shares(&good, prices[i], which));
            assert_holds(worst_loss(&good, which) <= prices[i] * (1 + 1e-9));
            double *const scales[] = {&how.first, &how.bin, &how.part, &how.again};
            for (size_t k = 0; i == 1 && k < sizeof scales / sizeof *scales; k++)
                for (int twice = 0; twice < 2; twice++) {
                    how = good;
                    *scales[k] *= twice ? 2 : 0.5;
                    assert_holds(!steps_say_their_shares(&how, prices[i], which));
                }
        }
    /* charged as one more or less: only pairs that are replaced tell that histogram and tail are
     * too cheap, and those that come or go do not */
    priced how = price_of(1, true), cheap = price_of(1, false);
    how.bin = cheap.bin;
    assert_holds(!steps_say_their_shares(&how, 1, REPLACED));
    assert_holds(worst_loss(&how, COMES_OR_GOES) < 1);
    how.part = cheap.part;
    how.again = cheap.again;
    assert_holds(worst_loss(&how, REPLACED) > 1.05);
    assert_holds(worst_loss(&how, COMES_OR_GOES) <= 1 + 1e-9);
}

static void broken_prices_are_found(void **state)
{
    (void)state;
    priced good = price_of(1, false), how = good;
    how.bin /= 2; /* a histogram charged half */
    assert_holds(worst_loss(&how, COMES_OR_GOES) > 1.05);
    how = good;
    how.first /= 2;
    assert_holds(worst_loss(&how, COMES_OR_GOES) > 1.05);
    how = good;
    how.part /= 2;
    assert_holds(worst_loss(&how, COMES_OR_GOES) > 1.05);
    how = good;
    how.again /= 2;
    assert_holds(worst_loss(&how, COMES_OR_GOES) > 1.05);
    how = good;
    how.answer[BRUME_CHOICE_AGAIN] = how.answer[BRUME_CHOICE_TAIL]; /* a second look for nothing */
    assert_holds(worst_loss(&how, COMES_OR_GOES) > 1.05);
    how = good;
    how.answer[BRUME_CHOICE_TAIL] = how.answer[BRUME_CHOICE_HISTOGRAM];
    assert_holds(worst_loss(&how, COMES_OR_GOES) > 1.05);
    /* one more or less is priced as such: bins and parts move twice where one is replaced */
    assert_holds(worst_loss(&good, EITHER) > 1.05);
    how = price_of(1, true);
    how.part /= 2; /* the tail of a replaced unit charged as a count, */
    how.again /= 2;
    assert_holds(worst_loss(&how, EITHER) > 1.02);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_count_loses_no_more_than_its_price),
        cmocka_unit_test(each_step_says_its_share_on_pairs_of_each_kind),
        cmocka_unit_test(broken_prices_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
