/* The loss of a whole count or sum whose limit is chosen: the shipped brume_look buys the looks at
 * shipped prices, with noise that the test writes. It is walked through on two neighbouring tables
 * at once, over values of the numbers that differ, below, between and far above the true ones;
 * those that have the same law on both tables say nothing, but steer the choice: they are fixed, in
 * several scenes. All that is drawn is in the outcome, so its loss is the sum of what each number
 * says. Whatever was drawn, both tables buy the same look next: nothing that is private decides.
 *
 * Both adjacencies, both orders of neighbours: no outcome says more than the price, the numbers of
 * each look no more than its share; and controls that must fail. Pairs in which one unit is
 * replaced are walked by themselves too, since those where a unit comes or goes hide what they say.
 */
#include "check.h"

#include "query/price/limited.h"
#include "query/release/draw.h"

__attribute__((noinline)) static brume_status written_counts(brume_noise_kind kind, double scale,
                                                             const int64_t *counts, size_t count,
                                                             brume_bits *bits, double *noisy,
                                                             brume_error *error);
#define brume_draw_counts written_counts
#include "query/release/draw_look.c"
#undef brume_draw_counts

enum { BINS = BRUME_LIMIT_BINS, STEPS = BRUME_CHOICE_AGAIN + 1, CALLS = STEPS };
enum { NUMBERS = BINS + BRUME_LIMIT_PARTS, OTHERS = 3 }; /* other units in every bin near */
static const double values[] = {-40, 90, OTHERS + 2};

/* Prices, what is wrong with them, and the rule. */
typedef struct priced {
    brume_look_prices looks;
    double answer[STEPS]; /* noise for a limit of 1, by the last step that was bought */
    bool overlap;         /* a mutant: the bins below the parts are in the first of them too */
    bool shipped_rule;    /* limit/bar.h; else one that is quick */
} priced;

static priced price_of(double epsilon, bool replace, bool counted)
{
    brume_error error = {0};
    brume_limited_shape shape = {.cells = 1, .replace = replace, .choices = 1, .counted = counted};
    priced how = {0};
    for (int step = 0; step < STEPS; step++) {
        brume_measure rows = {.kind = BRUME_MEASURE_ROWS};
        brume_limited_price paid;
        brume_price price;
        assert_ok(brume_limited_pay(&rows, 1, &shape, BRUME_NOISE_DISCRETE_LAPLACE, epsilon, 0,
                                    (brume_choice_step)step, &paid, &price, &error));
        how.looks = (brume_look_prices){BRUME_NOISE_DISCRETE_LAPLACE, paid.count_scale,
                                        paid.histogram_scale, paid.tail_scale, paid.again_scale};
        how.answer[step] = rows.noise;
    }
    return how;
}

/* ---- what is written, and what is asked for ---- */

/* One look: its noisy numbers, and the true ones that were asked for. */
typedef struct look_call {
    size_t count;
    double scale, noisy[NUMBERS];
    int64_t truth[NUMBERS];
} look_call;

static struct {
    look_call *calls; /* `written` ones have numbers; the next one stops the walk */
    size_t written, asked;
    bool overlap;
} script;

static brume_status written_counts(brume_noise_kind kind, double scale, const int64_t *counts,
                                   size_t count, brume_bits *bits, double *noisy,
                                   brume_error *error)
{
    (void)kind;
    (void)bits;
    assert_true(script.asked < CALLS && count <= NUMBERS);
    look_call *one = &script.calls[script.asked++];
    one->count = count;
    one->scale = scale;
    memcpy(one->truth, counts, count * sizeof *counts);
    for (size_t i = 0; script.overlap && count != BINS && i + BRUME_LIMIT_PARTS < count; i++)
        one->truth[count - BRUME_LIMIT_PARTS] += counts[i];
    if (script.asked > script.written)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "to be written");
    memcpy(noisy, one->noisy, count * sizeof *noisy);
    return BRUME_OK;
}

static brume_status decide_for_test(void *context, brume_found_limit *limit, brume_error *error)
{
    const priced *how = context;
    brume_looks looks = brume_found_looks(limit);
    brume_limit_cost cost = {.noise_95 = 3 * how->answer[limit->step], .cut_share = 1};
    if (how->shipped_rule)
        return brume_limit_choose(&looks, &cost, &limit->choice, error);
    size_t top = brume_looks_histogram(&looks) ? brume_looks_top(&looks) : 0;
    limit->choice.found = top != BRUME_LIMIT_NO_BIN;
    for (size_t p = 0; looks.tail > 0 && p < BRUME_LIMIT_PARTS; p++)
        if (looks.part[p].value > 20) {
            limit->choice.in_doubt = true;
            top = brume_looks_part(looks.tail, p);
        }
    limit->choice.limit = limit->choice.found ? brume_limit_edge(top) : 1;
    return BRUME_OK;
}

/* The looks at a table in which one unit has `rows` beside the others; false: a number is to be
 * written. */
static bool look_at(const priced *how, int64_t rows, const brume_plan_limit *of, look_call *calls,
                    size_t written, brume_found_limit *limit)
{
    brume_error error = {0};
    uint64_t units[BINS];
    for (size_t i = 0; i < BINS; i++)
        units[i] = OTHERS;
    if (rows > 0)
        units[brume_limit_bin((brume_u128)rows, 1, BINS)]++;
    *limit = (brume_found_limit){.of = of, .source = BRUME_LIMIT_AUTO};
    script.calls = calls;
    script.written = written;
    script.asked = 0;
    script.overlap = how->overlap;
    brume_status status =
        brume_look(units, &how->looks, NULL, decide_for_test, (void *)how, limit, &error);
    assert_true(status == BRUME_OK || status == BRUME_EINTERNAL);
    if (status == BRUME_OK)
        assert_ok(decide_for_test((void *)how, limit, &error));
    return status == BRUME_OK;
}

/* ---- the walk ---- */

/* What the numbers that do not differ are. */
typedef struct scene {
    double first, bins[14], parts[BRUME_LIMIT_PARTS];
} scene;

static const scene scenes[] = {
    {-1, {200}, {0}},                               /* one row each */
    {900, {200}, {0}},                              /* the same, but it is not seen at once */
    {900, {900, 500, 300, 200, 120, 70, 40}, {25}}, /* a tail, in doubt */
    {900, {900, 500, 300, 200, 120, 70, 40}, {0}},  /* that broke off */
    {900, {500, 0, 0, 0, 0, 60, 90}, {60, 40}},     /* and a crowd */
    {900, {0}, {0}},                                /* nothing is found */
};
enum { SCENES = sizeof scenes / sizeof *scenes };

typedef struct losses {
    double worst, of[STEPS], answer; /* of all numbers, of each step's, and of the answer */
    size_t reached[STEPS];           /* outcomes that end with each step */
} losses;

typedef struct walk {
    const priced *how;
    const scene *at;
    brume_plan_limit of;
    int64_t p, q; /* rows of the unit in which two tables differ; 0: it is not there */
    look_call calls[CALLS];
    losses found;
} walk;

/* A look is the first count, the histogram, or the tail for the first or the second time. */
static brume_choice_step step_of_call(const walk *all, size_t call)
{
    return (brume_choice_step)(call + !(all->how->looks.first > 0));
}

static double fixed(const walk *all, const look_call *one, brume_choice_step step, size_t i)
{
    size_t body = step >= BRUME_CHOICE_TAIL ? one->count - BRUME_LIMIT_PARTS : BINS;
    if (step == BRUME_CHOICE_COUNT)
        return all->at->first;
    return i >= body ? all->at->parts[i - body] : i < 14 ? all->at->bins[i] : 0;
}

static void end(walk *all, double loss, const brume_found_limit *p, const brume_found_limit *q)
{
    assert_true(p->step == q->step && p->choice.limit == q->choice.limit);
    int64_t limit = (int64_t)p->choice.limit;
    double moved =
        fabs((double)((all->p < limit ? all->p : limit) - (all->q < limit ? all->q : limit)));
    double answer = moved / (all->how->answer[p->step] * (double)limit);
    all->found.answer = fmax(all->found.answer, answer);
    all->found.worst = fmax(all->found.worst, loss + answer);
    all->found.reached[p->step]++;
}

static void walk_on(walk *all, size_t written, double loss);

/* Every value of the numbers that differ, from number `i` on; then the next look. */
static void write_numbers(walk *all, const int64_t *q, size_t call, size_t i, double before,
                          double said)
{
    look_call *one = &all->calls[call];
    brume_choice_step step = step_of_call(all, call);
    for (; i < one->count && one->truth[i] == q[i]; i++)
        one->noisy[i] = fixed(all, one, step, i);
    if (i == one->count) {
        all->found.of[step] = fmax(all->found.of[step], said);
        walk_on(all, call + 1, before + said);
        return;
    }
    double p_units = (double)one->truth[i], q_units = (double)q[i];
    for (size_t v = 0; v < (step <= BRUME_CHOICE_HISTOGRAM ? 3 : 2); v++) {
        double says = fabs(values[v] - q_units) - fabs(values[v] - p_units);
        one->noisy[i] = values[v];
        write_numbers(all, q, call, i + 1, before, said + says / one->scale);
    }
}

static void walk_on(walk *all, size_t written, double loss)
{
    brume_found_limit p, q;
    look_call other[CALLS];
    memcpy(other, all->calls, sizeof other);
    bool over = look_at(all->how, all->q, &all->of, other, written, &q);
    assert_int_equal(look_at(all->how, all->p, &all->of, all->calls, written, &p), over);
    if (over) {
        end(all, loss, &p, &q);
        return;
    }
    look_call *one = &all->calls[written];
    assert_true(one->count == other[written].count && one->scale == other[written].scale);
    write_numbers(all, other[written].truth, written, 0, loss, 0);
}

static const int64_t rows_of[] = {0, 1, 2, 9, 100};
enum { ROWS = sizeof rows_of / sizeof *rows_of };

/* Which pairs of tables: a unit comes or goes, or one is replaced by another. */
typedef enum pairs {
    COMES_OR_GOES = 1,
    REPLACED = 2,
    EITHER = COMES_OR_GOES | REPLACED, /* a replaced unit may be one without a row */
} pairs;

static losses worst_losses(const priced *how, pairs which)
{
    static walk all;
    all = (walk){.how = how, .of = {.of = {.kind = BRUME_TOTAL_ROWS}, .norm = 1}};
    all.of.reach = how->looks.first > 0 ? 1 : 64;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < ROWS; j++)
            for (size_t s = 0; s < SCENES; s++) {
                pairs this = i > 0 && j > 0 ? REPLACED : COMES_OR_GOES;
                if (i == j || !(this & which))
                    continue;
                all.p = rows_of[i];
                all.q = rows_of[j];
                all.at = &scenes[s];
                walk_on(&all, 0, 0);
            }
    return all.found;
}

static double worst_loss(const priced *how, pairs which)
{
    return worst_losses(how, which).worst;
}

/* ---- the price ---- */

static void a_whole_query_loses_no_more_than_its_price(void **state)
{
    (void)state;
    static const double prices[] = {0.4, 1, 6};
    for (size_t i = 0; i < 3; i++)
        for (int counted = 0; counted < 2; counted++)
            for (int replace = 0; replace < 2; replace++) {
                priced how = price_of(prices[i], replace, counted);
                losses found = worst_losses(&how, replace ? EITHER : COMES_OR_GOES);
                printf("# %s, %s, epsilon %g: loss %.6f\n", replace ? "replace" : "add-remove",
                       counted ? "count" : "sum", prices[i], found.worst);
                assert_holds(found.worst <= prices[i] * (1 + 1e-9));
                /* add-remove: nothing is paid for nothing */
                assert_holds(found.worst >= (replace ? 0.9 : 0.999) * prices[i]);
                for (int k = counted ? 0 : 1; k < STEPS; k++)
                    assert_holds(found.reached[k] > 0); /* every step was somewhere the last */
            }
}

/* With limit/bar.h to decide. */
static void the_shipped_rule_loses_no_more_than_its_price(void **state)
{
    (void)state;
    priced how = price_of(1, false, true);
    how.shipped_rule = true;
    losses found = worst_losses(&how, COMES_OR_GOES);
    assert_holds(found.worst <= 1 + 1e-9 && found.worst >= 0.999);
    for (int k = 0; k < STEPS; k++)
        assert_holds(found.reached[k] > 0);
}

/* Does each look say no more than its share, and somewhere all of it? And the answer no more than
 * what the steps before it leave. */
static bool steps_say_their_shares(const priced *how, double epsilon, bool counted, pairs which)
{
    losses found = worst_losses(how, which);
    double least = brume_limited_choice_share(
        1, epsilon, counted ? BRUME_CHOICE_COUNT : BRUME_CHOICE_HISTOGRAM, counted);
    bool all = found.answer <= (1 - least) * epsilon * (1 + 1e-9);
    for (int k = counted ? 0 : 1; k < STEPS; k++) {
        double share = brume_limited_step_share(1, epsilon, (brume_choice_step)k) * epsilon;
        all = all && found.of[k] <= share * (1 + 1e-9) && found.of[k] >= share * (1 - 1e-9);
    }
    return all;
}

/* Rejects: a price that covers one number where two move, and one that covers two where one moves.
 */
static void each_step_says_its_share_on_pairs_of_each_kind(void **state)
{
    (void)state;
    for (int counted = 0; counted < 2; counted++)
        for (int replace = 0; replace < 2; replace++) {
            priced good = price_of(1, replace, counted), how = good;
            pairs which = replace ? REPLACED : COMES_OR_GOES;
            assert_holds(steps_say_their_shares(&good, 1, counted, which));
            double *const scales[] = {&how.looks.histogram, &how.looks.tail, &how.looks.again,
                                      &how.looks.first};
            for (size_t k = 0; k < (counted ? 4 : 3); k++)
                for (int twice = 0; twice < 2; twice++) {
                    how = good;
                    *scales[k] *= twice ? 2 : 0.5;
                    assert_holds(!steps_say_their_shares(&how, 1, counted, which));
                }
        }
}

static void broken_prices_are_found(void **state)
{
    (void)state;
    const priced good = price_of(1, false, true), replaced = price_of(1, true, true);
    priced how = good;
    how.answer[BRUME_CHOICE_AGAIN] = how.answer[BRUME_CHOICE_TAIL]; /* a second look for nothing */
    assert_holds(worst_loss(&how, COMES_OR_GOES) > 1.05);
    how = good;
    how.answer[BRUME_CHOICE_TAIL] = how.answer[BRUME_CHOICE_HISTOGRAM];
    assert_holds(worst_loss(&how, COMES_OR_GOES) > 1.05);
    how = price_of(1, false, false); /* the first count's share is left out */
    how.looks.first = good.looks.first;
    assert_holds(worst_loss(&how, COMES_OR_GOES) > 1.05);
    for (int replace = 0; replace < 2; replace++) { /* a unit in two numbers of a tail */
        how = price_of(1, replace, false);
        how.overlap = true;
        assert_holds(!steps_say_their_shares(&how, 1, false, replace ? REPLACED : COMES_OR_GOES));
        assert_holds(worst_loss(&how, replace ? EITHER : COMES_OR_GOES) > (replace ? 1 : 1.05));
    }
    /* charged as if one number moved where two do: pairs that come or go do not tell */
    for (int tail = 0; tail < 2; tail++) {
        how = replaced;
        *(tail ? &how.looks.tail : &how.looks.histogram) = tail ? good.looks.tail
                                                                : good.looks.histogram;
        assert_holds(!steps_say_their_shares(&how, 1, true, REPLACED));
        assert_holds(worst_loss(&how, COMES_OR_GOES) <= 1 + 1e-9);
    }
    /* one more or less is priced as such */
    assert_holds(worst_loss(&good, EITHER) > 1.05);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_query_loses_no_more_than_its_price),
        cmocka_unit_test(the_shipped_rule_loses_no_more_than_its_price),
        cmocka_unit_test(each_step_says_its_share_on_pairs_of_each_kind),
        cmocka_unit_test(broken_prices_are_found),
    };
    return cmocka_run_group_tests_name("law of limit and answer", tests, NULL, NULL);
}
