/* The limit with the shortest bar: recorded choices, what moves a bar and what must not, and that
 * bars cover the truth.
 *
 * No draw is fresh. A right program would fail the test of cover with the probability that stands
 * there if the seed were drawn. */
#include "check.h"

#include "query/limit/bar.h"
#include "query/price/limited.h"
#include "sequence.h"

enum { BINS = BRUME_LIMIT_BINS, PEOPLE = 5000 };

static brume_error error;
static uint64_t random_state;

static double uniform(void)
{
    return ((double)(sequence_next(&random_state) >> 11) + 0.5) * 0x1p-53;
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

static double noise(bool gaussian, double scale)
{
    if (gaussian)
        return scale * normal();
    double u = uniform();
    return u < 0.5 ? scale * log(2 * u) : -scale * log(2 - 2 * u);
}

/* ---- people, and looks at them ---- */

typedef struct people {
    double in[BINS], cut[BINS]; /* units in a bin; what all have beyond its edge */
} people;

static void add_people(people *all, double units, double rows)
{
    all->in[brume_limit_bin((brume_u128)rows, 1, BINS)] += units;
    for (size_t i = 0; i < BINS && (double)brume_limit_edge(i) < rows; i++)
        all->cut[i] += units * (rows - (double)brume_limit_edge(i));
}

static double units_in(const people *all, size_t from, size_t end)
{
    double units = 0;
    for (size_t i = from; i < end; i++)
        units += all->in[i];
    return units;
}

typedef struct prices {
    bool gaussian;
    double looks[4], answer[4]; /* scales; of the answer after a step */
} prices;

static prices prices_of(double epsilon, bool gaussian)
{
    prices at = {.gaussian = gaussian};
    int p = gaussian ? 2 : 1;
    for (int i = 0; i < 4; i++) {
        double share = brume_limited_step_share(p, epsilon, (brume_choice_step)i);
        double left = 1 - brume_limited_choice_share(p, epsilon, (brume_choice_step)i, true);
        at.looks[i] = 1 / (epsilon * (gaussian ? sqrt(share) : share));
        at.answer[i] = 1 / (epsilon * (gaussian ? sqrt(left) : left));
    }
    return at;
}

static brume_limit_cost cost_of(double scale, bool gaussian)
{
    return (brume_limit_cost){
        .noise_95 = scale * (gaussian ? 1.959964 : 2.995732), .gaussian = gaussian, .cut_share = 1};
}

/* A number with so much noise; none of it is drawn where `exact`. */
static void count(brume_noisy *number, double truth, const prices *at, int step, bool exact)
{
    double scale = at->looks[step];
    brume_noisy_pool(number, truth + (exact ? 0 : noise(at->gaussian, scale)),
                     (at->gaussian ? 1 : M_SQRT2) * scale);
}

static void count_tail(const people *all, const prices *at, int step, bool exact,
                       brume_looks *looks)
{
    for (size_t i = 0; i < looks->tail; i++)
        count(&looks->bin[i], all->in[i], at, step, exact);
    for (size_t p = 0; p < BRUME_LIMIT_PARTS; p++)
        count(&looks->part[p],
              units_in(all, brume_looks_part(looks->tail, p), brume_looks_part(looks->tail, p + 1)),
              at, step, exact);
}

/* The steps of choice.c for a count of rows; returns the last one. */
static int look(const people *all, const prices *at, bool exact, brume_looks *looks,
                brume_limit_choice *choice)
{
    brume_limit_cost cost = cost_of(at->answer[1], at->gaussian);
    *looks = (brume_looks){.gaussian = at->gaussian};
    count(&looks->first, units_in(all, 1, BINS), at, 0, exact);
    if (brume_looks_are_quiet(looks)) {
        assert_ok(brume_limit_choose(looks, &cost, choice, &error));
        return 0;
    }
    for (size_t i = 0; i < BINS; i++)
        count(&looks->bin[i], all->in[i], at, 1, exact);
    assert_ok(brume_limit_choose(looks, &cost, choice, &error));
    if (!choice->found)
        return 1;
    looks->tail = brume_looks_next_tail(looks);
    for (int step = 2; step < 4; step++) {
        count_tail(all, at, step, exact, looks);
        cost = cost_of(at->answer[step], at->gaussian);
        assert_ok(brume_limit_choose(looks, &cost, choice, &error));
        if (!choice->in_doubt)
            return step;
    }
    return 3;
}

/* ---- shapes ---- */

static double geometric(double u)
{
    return ceil(log(u) / log(0.5));
}

static double power_law(double u)
{
    return fmin(1e6, floor(1 / sqrt(u)));
}

static double up_to_30(double u)
{
    return 1 + floor(30 * u);
}

/* The median is 3, or 13 for those who write a lot. */
static double lognormal(double u)
{
    (void)u;
    return ceil(exp(log(28) - 1.125 + 1.5 * normal()));
}

typedef double (*shape)(double u);
static const shape shapes[] = {geometric, power_law, lognormal, up_to_30};

static people draw_people(shape of)
{
    people all = {0};
    for (int i = 0; i < PEOPLE; i++)
        add_people(&all, 1, of(uniform()));
    return all;
}

/* ---- vectors ---- */

/* Units above x fall as exp(-slope t - bend t^2), t = log x; and a crowd with 600. */
static people lawful(double slope, double bend, double crowd)
{
    people all = {.in = {5000, [18] = crowd}};
    double before = 1e4;
    for (size_t i = 1; i < 30; i++) {
        double t = log((double)brume_limit_edge(i)), above = 1e4 * exp(-slope * t - bend * t * t);
        all.in[i] += before - above;
        before = above;
    }
    return all;
}

/* What the rule chose when it was measured (bench/bars.c), of numbers without noise. Rejects: a
 * rule that somebody changed without measuring it again. */
static void recorded_choices_stay_as_they_are(void **state)
{
    (void)state;
    static const struct {
        double slope, bend, crowd, epsilon;
        struct {
            double limit, allowance, reach;
        } is[2]; /* Laplace, Gaussian */
    } vectors[] = {
        {2, 0, 0, 1, {{64, 189.346769, 768}, {128, 168.320585, 1536}}},
        {2, 0, 0, 0.3, {{32, 167.453405, 384}, {48, 236.643646, 768}}},
        {0.3, 0.3, 0, 1, {{256, 277.61368, 1536}, {256, 224.718668, 3072}}},
        {1, 0.8, 0, 1, {{16, 31.8571511, 384}, {24, 4.17987591, 384}}},
        {1, 0.8, 100, 1, {{3072, 9980.68998, 262144}, {768, 511.332931, 24576}}},
        {9, 0, 60, 1, {{768, 2495.1725, 65536}, {768, 661.858494, 24576}}},
    };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        for (int gaussian = 0; gaussian < 2; gaussian++) {
            people all = lawful(vectors[i].slope, vectors[i].bend, vectors[i].crowd);
            prices at = prices_of(vectors[i].epsilon, gaussian);
            brume_looks looks;
            brume_limit_choice choice;
            look(&all, &at, true, &looks, &choice);
            assert_true(choice.found);
            assert_holds((double)choice.limit == vectors[i].is[gaussian].limit);
            assert_holds(choice.reach == vectors[i].is[gaussian].reach);
            assert_close(choice.allowance, vectors[i].is[gaussian].allowance, 1e-7);
        }
}

static void what_needs_no_law(void **state)
{
    (void)state;
    brume_limit_cost cost = cost_of(1, false);
    brume_limit_choice choice;
    brume_looks looks = {.first = {10, 20}}; /* quiet */
    assert_ok(brume_limit_choose(&looks, &cost, &choice, &error));
    assert_true(choice.found && choice.limit == 1 && choice.bin == 0 && choice.reach == 1);
    assert_holds(choice.allowance == 0 && choice.hidden == brume_looks_hidden(&looks, 0));
    for (size_t i = 0; i < BINS; i++)
        looks.bin[i] = (brume_noisy){0, 10};
    assert_ok(brume_limit_choose(&looks, &cost, &choice, &error));
    assert_false(choice.found);
    assert_holds(choice.allowance == 0 && isnan(choice.hidden));
}

static void every_group_allows_for_all_that_is_cut(void **state)
{
    (void)state;
    assert_holds(brume_limit_cut_share(1, 1) == 1 && brume_limit_cut_share(20, 1) == 1);
    assert_close(brume_limit_cut_share(80, 1), 0.25, 1e-15);
    assert_holds(brume_limit_cut_share(400, 2) == 1);
    assert_close(brume_limit_cut_share(1600, 2), 0.5, 1e-15);
}

/* ---- what moves a bar ---- */

/* Any numbers at all, with noise from little to far more than there are units. */
static brume_looks any_looks(void)
{
    brume_looks looks = {.gaussian = uniform() < 0.5, .base = uniform() < 0.5 ? 0 : 20};
    double spread = exp(12 * uniform()), units = exp(14 * uniform()), slope = 3 * uniform();
    looks.tail = uniform() < 0.2 ? 0 : 1 + (size_t)(124 * uniform() * uniform());
    for (size_t i = 0; i < BINS; i++) {
        double truth = uniform() < 0.1 ? units * uniform() : units * exp(-slope * (double)i);
        looks.bin[i] = (brume_noisy){truth + noise(looks.gaussian, spread), spread};
    }
    for (size_t p = 0; looks.tail > 0 && p < BRUME_LIMIT_PARTS; p++)
        looks.part[p] = (brume_noisy){
            (uniform() < 0.3 ? units * uniform() : 0) + noise(looks.gaussian, spread), spread};
    return looks;
}

static double bar_of(const brume_limit_cost *cost, const brume_limit_choice *choice)
{
    return cost->noise_95 * (double)choice->limit + choice->allowance;
}

/* Rejects: a bar that is shorter than that of noise, one that is no number, a limit off the grid or
 * above the ceiling; of whatever is drawn. */
static void a_bar_is_a_number_and_covers_the_noise(void **state)
{
    (void)state;
    size_t found = 0;
    random_state = 3;
    for (int i = 0; i < 1500; i++) {
        brume_looks looks = any_looks();
        brume_limit_cost cost = cost_of(exp(10 * uniform() - 5), looks.gaussian);
        brume_limit_choice choice;
        if (uniform() < 0.3)
            cost.ceiling = 1 + (uint64_t)exp(20 * uniform());
        assert_ok(brume_limit_choose(&looks, &cost, &choice, &error));
        if (!choice.found)
            continue;
        found++;
        assert_holds(choice.allowance >= 0 && isfinite(choice.allowance));
        assert_holds(choice.reach >= (double)choice.limit && isfinite(choice.reach));
        assert_true(isnan(choice.hidden) ? looks.tail == 0 : choice.hidden >= 0);
        if (cost.ceiling)
            assert_true(choice.limit <= cost.ceiling);
        assert_true(choice.limit == brume_limit_edge(choice.bin) || choice.limit == cost.ceiling);
    }
    assert_true(found > 500);
}

/* A bar for a smaller share of what is cut is not longer, nor that of a cheaper limit. */
static void less_to_cover_makes_shorter_bars(void **state)
{
    (void)state;
    random_state = 5;
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int gaussian = 0; gaussian < 2; gaussian++) {
            people all = draw_people(shapes[s]);
            prices at = prices_of(1, gaussian);
            brume_limit_cost cost = cost_of(at.answer[2], gaussian);
            brume_limit_choice choice, less;
            brume_looks looks;
            look(&all, &at, false, &looks, &choice);
            double last = INFINITY;
            for (double share = 1; share > 0.01; share /= 3) {
                cost.cut_share = share;
                assert_ok(brume_limit_choose(&looks, &cost, &less, &error));
                assert_holds(bar_of(&cost, &less) <= last * 1.02);
                last = bar_of(&cost, &less);
            }
            cost.cut_share = 1;
            last = INFINITY;
            for (double cheaper = 1; cheaper > 0.01; cheaper /= 2) {
                brume_limit_cost now = cost;
                now.noise_95 *= cheaper;
                assert_ok(brume_limit_choose(&looks, &now, &less, &error));
                assert_holds(bar_of(&now, &less) <= last * 1.02);
                last = bar_of(&now, &less);
            }
        }
}

/* Nothing is cut at the owner's ceiling: it is the limit where that bar is the shortest. */
static void a_near_ceiling_is_the_limit(void **state)
{
    (void)state;
    people all = lawful(1, 0.8, 0);
    prices at = prices_of(1, false);
    brume_limit_choice open, choice;
    brume_looks looks;
    look(&all, &at, true, &looks, &open);
    brume_limit_cost cost = cost_of(at.answer[2], false);
    uint64_t longest = (uint64_t)(bar_of(&cost, &open) / cost.noise_95);
    size_t taken = 0;
    for (cost.ceiling = 13; cost.ceiling < 4 * longest; cost.ceiling++) {
        assert_ok(brume_limit_choose(&looks, &cost, &choice, &error));
        assert_holds(choice.limit <= cost.ceiling && choice.reach <= (double)cost.ceiling);
        assert_holds(bar_of(&cost, &choice) <= cost.noise_95 * (double)cost.ceiling * (1 + 1e-9));
        if (choice.limit == cost.ceiling) {
            assert_holds(choice.allowance == 0 && choice.hidden == 0);
            taken++;
        }
    }
    assert_true(taken > 1);
    cost.ceiling = 1000 * longest; /* one that is far away moves nothing */
    assert_ok(brume_limit_choose(&looks, &cost, &choice, &error));
    assert_int_equal(choice.limit, open.limit);
    assert_close(choice.allowance, open.allowance, 1e-12);
    /* units above it are seen: it is no bound of anything */
    all.in[18] = 500;
    look(&all, &at, true, &looks, &open);
    cost.ceiling = 30;
    assert_ok(brume_limit_choose(&looks, &cost, &choice, &error));
    assert_holds(choice.limit <= 30 && choice.allowance > 400 * 500 && choice.hidden >= 500);
}

/* A few units, counted with hardly any noise: laws are not known by them, but what they have is.
 * Rejects: a law with nobody above a low limit, which fits two units by chance. */
static void units_that_are_seen_are_not_cut_unsaid(void **state)
{
    (void)state;
    for (double units = 1; units < 9; units++)
        for (size_t bin = 2; bin < 40; bin++) {
            people all = {0};
            brume_looks looks = {.base = bin};
            brume_limit_cost cost = cost_of(0.001, false);
            brume_limit_choice choice;
            add_people(&all, units, (double)brume_limit_edge(bin));
            for (size_t i = 0; i < BINS; i++)
                looks.bin[i] = (brume_noisy){all.in[i], 0.02};
            looks.tail = bin + 1;
            for (size_t p = 0; p < BRUME_LIMIT_PARTS; p++)
                looks.part[p] = (brume_noisy){0, 0.02};
            assert_ok(brume_limit_choose(&looks, &cost, &choice, &error));
            assert_holds(choice.found && all.cut[choice.bin] <= choice.allowance * 1.5);
        }
}

/* ---- cover ---- */

enum { DRAWS = 1000 };

/* In how many draws |noise - cut| is within a bar with so much of the allowance. Each draw has
 * people of its own. */
static size_t covers(shape of, const prices *at, double allowed)
{
    size_t found = 0;
    random_state = 17;
    for (size_t d = 0; d < DRAWS; d++) {
        people all = draw_people(of);
        brume_looks looks;
        brume_limit_choice choice;
        int step = look(&all, at, false, &looks, &choice);
        assert_true(choice.found);
        double scale = at->answer[step] * (double)choice.limit;
        double noise_95 = scale * (at->gaussian ? 1.959964 : 2.995732);
        found += fabs(noise(at->gaussian, scale) - all.cut[choice.bin]) <=
                 noise_95 + allowed * choice.allowance;
    }
    return found;
}

/* On four shapes: 950 in 1,000 draws, less what a cover of 0.95 needs for a false alarm of 1e-9 in
 * all (Bernstein). */
static void bars_cover_what_they_say(void **state)
{
    (void)state;
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        bool gaussian = shapes[s] == power_law || shapes[s] == up_to_30;
        prices at = prices_of(gaussian ? 0.3 : 1, gaussian);
        size_t found = covers(shapes[s], &at, 1);
        assert_true(found >= 950 - 54);
        if (shapes[s] == power_law) { /* a control: no allowance */
            found = covers(shapes[s], &at, 0);
            assert_true(found < 950 - 54);
        }
    }
}

/* The geometric mean of bars at a price, of fresh looks at fresh people. */
static double usual_bar(shape of, double epsilon, bool gaussian)
{
    enum { BARS = 40 };
    prices at = prices_of(epsilon, gaussian);
    double sum = 0;
    random_state = 23;
    for (size_t d = 0; d < BARS; d++) {
        people all = draw_people(of);
        brume_looks looks;
        brume_limit_choice choice;
        int step = look(&all, &at, false, &looks, &choice);
        assert_true(choice.found);
        brume_limit_cost cost = cost_of(at.answer[step], gaussian);
        sum += log(bar_of(&cost, &choice)) / BARS;
    }
    return exp(sum);
}

/* On skewed shapes, at prices that are near each other. Crowds are no such shapes: who pays little
 * does not see them, and has a short bar that misses them. `bench bars prices` has all shapes. */
static void more_price_makes_no_longer_bars(void **state)
{
    (void)state;
    static const double paid[] = {0.3, 0.45, 0.7, 1, 1.5};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        double last = INFINITY, first = 0;
        for (size_t i = 0; i < sizeof paid / sizeof *paid; i++) {
            double bar = usual_bar(shapes[s], paid[i], s % 2 > 0);
            assert_holds(bar <= last);
            first = i == 0 ? bar : first;
            last = bar;
        }
        assert_holds(last < first * 0.9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_choices_stay_as_they_are),
        cmocka_unit_test(what_needs_no_law),
        cmocka_unit_test(every_group_allows_for_all_that_is_cut),
        cmocka_unit_test(a_bar_is_a_number_and_covers_the_noise),
        cmocka_unit_test(less_to_cover_makes_shorter_bars),
        cmocka_unit_test(a_near_ceiling_is_the_limit),
        cmocka_unit_test(units_that_are_seen_are_not_cut_unsaid),
        cmocka_unit_test(bars_cover_what_they_say),
        cmocka_unit_test(more_price_makes_no_longer_bars),
    };
    return cmocka_run_group_tests_name("limits with the shortest bar", tests, NULL, NULL);
}
