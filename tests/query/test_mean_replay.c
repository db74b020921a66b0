/* Whole queries of means, replayed on neighbours: keys, looks at numbers, centres, looks about them
 * and the sums are drawn on a table, and the same outcomes are written to its neighbours. These
 * must ask for the same draws with the same noise, and what the draws say of the pair must add up
 * to no more than the price, on every transcript and in both directions. Prices that are wrong must
 * fail.
 */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "asked.h"
#include "query/release/choice.h"
#include "query/release/draw.h"
#include "query/release/rank.h"
#include "random/tape.h"
#include "registered.h"

__attribute__((noinline)) static brume_status replayed_counts(brume_noise_kind kind, double scale,
                                                              const int64_t *counts, size_t count,
                                                              brume_bits *bits, double *noisy,
                                                              brume_error *error);
__attribute__((noinline)) static brume_status replayed_rank(brume_bits *bits,
                                                            const brume_ranked *list, int64_t low,
                                                            int64_t high, int64_t num, int64_t den,
                                                            double rate, int64_t *out,
                                                            brume_error *error);
#define brume_draw_counts replayed_counts
#define brume_rank_in     replayed_rank
#include "query/release/centre.c"
#include "query/release/draw_look.c"
#undef brume_draw_counts
#undef brume_rank_in

enum { CALLS = 40, NUMBERS = BRUME_LIMIT_BINS + BRUME_LIMIT_PARTS, POINTS = 101, GROUPS = 3 };
enum { SEEDS = 6, UNITS = 60 };

/* ---- draws that are recorded and replayed ---- */

/* One draw: of counts of units, or of a centre (count 0). */
typedef struct one_draw {
    size_t count;
    double scale, noisy[NUMBERS]; /* of a centre: its rate; noisy[0] is what came out */
    int64_t truth[NUMBERS];
    double law[POINTS];
} one_draw;

typedef struct transcript {
    one_draw draws[CALLS];
    size_t count;
} transcript;

static struct {
    transcript *now;
    const transcript *first; /* whose outcomes are written; NULL: they are drawn */
} script;

static one_draw *next_draw(size_t count, double scale)
{
    assert_true(script.now->count < CALLS && count <= NUMBERS);
    if (script.first) { /* the same draw, whatever the rows are */
        const one_draw *before = &script.first->draws[script.now->count];
        assert_true(script.now->count < script.first->count);
        assert_true(before->count == count && before->scale == scale);
    }
    one_draw *one = &script.now->draws[script.now->count++];
    *one = (one_draw){.count = count, .scale = scale};
    if (script.first)
        memcpy(one->noisy, script.first->draws[script.now->count - 1].noisy, sizeof one->noisy);
    return one;
}

static brume_status replayed_counts(brume_noise_kind kind, double scale, const int64_t *counts,
                                    size_t count, brume_bits *bits, double *noisy,
                                    brume_error *error)
{
    one_draw *one = next_draw(count, scale);
    memcpy(one->truth, counts, count * sizeof *counts);
    if (!script.first)
        BRUME_TRY(brume_draw_counts(kind, scale, counts, count, bits, one->noisy, error));
    memcpy(noisy, one->noisy, count * sizeof *noisy);
    return BRUME_OK;
}

/* log P[each cell]: exp(-rate * how far its ranks are from the middle). */
static void law_of_median(const brume_ranked *list, double rate, size_t points, double *law)
{
    double all = (double)list->upto[list->count], total = 0;
    for (size_t v = 0, i = 0; v < points; v++) {
        bool here = i < list->count && list->values[i] == (int64_t)v;
        double below = (double)list->upto[i], upto = (double)list->upto[here ? i + 1 : i];
        i += here;
        law[v] = -rate * fmax(0, fmax(below - all / 2, all / 2 - upto));
        total += exp(law[v]);
    }
    for (size_t v = 0; v < points; v++)
        law[v] -= log(total);
}

static brume_status replayed_rank(brume_bits *bits, const brume_ranked *list, int64_t low,
                                  int64_t high, int64_t num, int64_t den, double rate, int64_t *out,
                                  brume_error *error)
{
    assert_true(low == 0 && high == POINTS - 1 && num == 1 && den == 2 && !list->weighted);
    one_draw *one = next_draw(0, rate);
    law_of_median(list, rate, POINTS, one->law);
    if (!script.first) {
        BRUME_TRY(brume_rank_in(bits, list, low, high, num, den, rate, out, error));
        one->noisy[0] = (double)*out;
    }
    *out = (int64_t)one->noisy[0];
    return BRUME_OK;
}

/* ---- tables ---- */

/* What the last unit has: as in the first table, nothing, many rows at one end, as many at the
 * other, rows of one group only, or one row. */
typedef enum change { AS_IT_IS, GONE, HIGH, LOW, ONE_GROUP, ONE_ROW, CHANGES } change;

static void write_rows(FILE *file, int unit, int rows, int group, int x)
{
    for (int i = 0; i < rows; i++)
        fprintf(file, "%d,%c,%d,%d\n", unit, "abc"[group < 0 ? (unit + i) % GROUPS : group], x,
                (unit * 7 + i) % 100);
}

/* Units of one row or of a few, most of them near 60; `wild`: rows are many and uneven. */
static brume_policy *make_table(char csv[64], change last, bool wild, bool declared)
{
    static const char *const keys[] = {"a", "b", "c"};
    brume_error error = {0};
    snprintf(csv, 64, "/tmp/brume-means-XXXXXX.csv");
    int place = mkstemps(csv, 4);
    assert_true(place >= 0);
    FILE *file = fdopen(place, "w");
    assert_non_null(file);
    fputs("u,k,x,y\n", file);
    for (int unit = 0; unit < UNITS; unit++)
        write_rows(file, unit, wild ? 1 + unit * unit / 40 : 1 + unit % 3 / 2, -1,
                   wild ? (unit % 9 ? unit % 12 : unit * 13 % 101) : 55 + unit % 11);
    switch (last) {
    case AS_IT_IS:
        write_rows(file, UNITS, 2, -1, 60);
        break;
    case HIGH:
        write_rows(file, UNITS, 200, -1, 100);
        break;
    case LOW:
        write_rows(file, UNITS, 200, -1, 0);
        break;
    case ONE_GROUP:
        write_rows(file, UNITS, 30, 1, 90);
        break;
    case ONE_ROW:
        write_rows(file, UNITS, 1, 2, 3);
        break;
    default:
        break;
    }
    assert_int_equal(fclose(file), 0);
    brume_policy *policy = registered_file(csv, "u bigint, k text, x bigint, y bigint");
    if (declared)
        assert_ok(brume_policy_set_domain(policy, "k", keys, GROUPS, &error));
    assert_ok(brume_policy_set_bounds(policy, "x", "0", "100", &error));
    assert_ok(brume_policy_set_bounds(policy, "y", "0", "100", &error));
    assert_ok(brume_policy_set_unit(policy, "u", &error));
    return policy;
}

/* ---- a release ---- */

/* What was summed under the limits of the terms, in all groups. */
typedef struct outcome {
    transcript draws;
    brume_terms *terms;
    size_t groups;
    brume_i128 sums[8][GROUPS];
    int64_t units[GROUPS]; /* that were counted for the test of private keys */
    bool shown[GROUPS];
} outcome;

/* NULL: other private groups are shown than in the first table, which delta is for. */
static outcome *release(const asked *all, brume_collected *collected, const outcome *first,
                        uint64_t seed)
{
    brume_error error = {0};
    outcome *out = calloc(1, sizeof *out);
    brume_drawn *drawn = NULL;
    brume_bits *bits = brume_tape_open_seeded(seed);
    assert_non_null(out);
    script.now = &out->draws;
    script.first = first ? &first->draws : NULL;
    assert_ok(brume_drawn_open(all->plan, &drawn, &error));
    assert_ok(brume_draw_keys(all->terms, collected, bits, drawn, &error));
    const brume_bounded_group *groups = brume_collected_groups(collected, &out->groups);
    assert_true(out->groups <= GROUPS && all->plan->measure_count <= 8);
    for (size_t d = 0; d < drawn->count; d++)
        out->shown[drawn->groups[d] - groups] = true;
    if (first && memcmp(first->shown, out->shown, sizeof out->shown) != 0) {
        brume_drawn_close(drawn);
        brume_bits_close(bits);
        free(out);
        return NULL;
    }
    assert_ok(
        brume_choose_all_limits(all->terms, &collected, drawn, bits, NULL, &out->terms, &error));
    assert_true(!first || out->draws.count == first->draws.count);
    assert_ok(brume_sum_under_limits(out->terms, collected, drawn, &error));
    assert_ok(brume_draw_groups(out->terms, 0, collected, bits, drawn, &error));
    for (size_t d = 0; d < drawn->count; d++)
        for (size_t m = 0; m < all->plan->measure_count; m++)
            out->sums[m][drawn->groups[d] - groups] = drawn->groups[d]->limited[m];
    for (size_t g = 0; all->plan->shape.private_keys && g < out->groups; g++)
        out->units[g] = (int64_t)groups[g].units;
    brume_drawn_close(drawn);
    brume_bits_close(bits);
    return out;
}

static void release_close(outcome *of)
{
    if (!of)
        return;
    brume_terms_close(of->terms);
    free(of);
}

/* What is wrong with the prices, for controls that must fail. */
typedef struct mutant {
    double centre;    /* the loss of a centre is so many times as large, */
    double looks;     /* and that of counts, */
    double deviation; /* and of sums about a centre, */
    double squares;   /* and of squares about one */
} mutant;

static const mutant shipped = {1, 1, 1, 1};

/* What the outcomes say of the pair: losses of epsilon, or of rho, add up. */
static double loss(const outcome *a, const outcome *b, bool gaussian, const mutant *how)
{
    double sum = 0;
    for (size_t i = 0; i < a->draws.count; i++) {
        const one_draw *p = &a->draws.draws[i], *q = &b->draws.draws[i];
        double least = 0, most = 0, square = 0, all = 0;
        for (size_t v = 0; p->count == 0 && v < POINTS; v++) {
            least = fmin(least, p->law[v] - q->law[v]);
            most = fmax(most, p->law[v] - q->law[v]);
        }
        for (size_t j = 0; j < p->count; j++) {
            double moved = (double)(p->truth[j] - q->truth[j]) / p->scale;
            all += fabs(moved);
            square += moved * moved / 2;
        }
        sum += how->looks * (gaussian ? square : all) +
               how->centre * (gaussian ? (most - least) * (most - least) / 8 : fmax(most, -least));
    }
    for (size_t m = 0; m < a->terms->plan->measure_count; m++) {
        const brume_measure *one = &a->terms->measures[m];
        double scale = ldexp(one->scale, one->shift), all = 0;
        /* terms follow from outcomes alone */
        assert_true(one->scale == b->terms->measures[m].scale &&
                    one->kind == b->terms->measures[m].kind);
        for (size_t g = 0; g < a->groups; g++) {
            brume_i128 far = one->kind == BRUME_MEASURE_UNITS ? a->units[g] - b->units[g]
                                                              : a->sums[m][g] - b->sums[m][g];
            double moved = (double)far / scale;
            all += gaussian ? moved * moved / 2 : fabs(moved);
        }
        bool squares = one->kind == BRUME_MEASURE_DIRECT &&
                       a->terms->plan->values[one->expression].root;
        sum += all * (one->kind == BRUME_MEASURE_DEVIATION ? how->deviation
                      : squares                            ? how->squares
                                                           : 1);
    }
    return sum;
}

static const struct {
    const char *sql;
    brume_rule rule;
    const char *amount, *delta; /* epsilon; concentrated: mu, with rho its half square */
    bool wild, private_keys;
} asks[] = {
    {"SELECT AVG(x) FROM t", BRUME_RULE_PURE, "1", NULL, false, false},
    {"SELECT AVG(x) FROM t", BRUME_RULE_PURE, "3", NULL, true, false},
    {"SELECT k, AVG(x) FROM t GROUP BY k", BRUME_RULE_PURE, "2", NULL, true, false},
    {"SELECT AVG(x), AVG(y) FROM t", BRUME_RULE_PURE, "4", NULL, true, false},
    {"SELECT AVG(x), SUM(y), COUNT(*) FROM t", BRUME_RULE_PURE, "2", NULL, true, false},
    {"SELECT k, AVG(x), COUNT(*) FROM t GROUP BY k", BRUME_RULE_CONCENTRATED, "2", NULL, false,
     false},
    {"SELECT AVG(x) FROM t", BRUME_RULE_CONCENTRATED, "3", NULL, true, false},
    {"SELECT k, AVG(x) FROM t GROUP BY k", BRUME_RULE_APPROXIMATE, "3", "1e-3", true, true},
    {"SELECT STDDEV(x) FROM t", BRUME_RULE_PURE, "1", NULL, false, false},
    {"SELECT STDDEV(x), COUNT(*) FROM t", BRUME_RULE_PURE, "3", NULL, true, false},
    {"SELECT k, STDDEV(x), AVG(x) FROM t GROUP BY k", BRUME_RULE_PURE, "4", NULL, true, false},
    {"SELECT k, VAR_POP(x), AVG(y) FROM t GROUP BY k", BRUME_RULE_CONCENTRATED, "3", NULL, true,
     false},
    {"SELECT k, STDDEV(x) FROM t GROUP BY k", BRUME_RULE_APPROXIMATE, "4", "1e-3", true, true},
};

typedef struct asked_tables {
    asked all[CHANGES];
    brume_collected *collected[CHANGES];
    char csv[CHANGES][64];
    double price;
    bool gaussian;
} asked_tables;

static void open_tables(asked_tables *of, size_t ask, bool replace)
{
    for (int c = 0; c < CHANGES; c++) {
        of->all[c] =
            asked_open(make_table(of->csv[c], (change)c, asks[ask].wild, !asks[ask].private_keys),
                       "t", asks[ask].sql, 5);
        of->all[c].question->datasets[0]->adjacency = replace ? BRUME_REPLACE : BRUME_ADD_REMOVE;
        asked_plan(&of->all[c], asks[ask].rule, asks[ask].amount, asks[ask].delta);
        of->collected[c] = asked_collect(&of->all[c], false, 0);
    }
    const brume_plan *plan = of->all[0].plan;
    of->gaussian = plan->noise != BRUME_NOISE_DISCRETE_LAPLACE;
    of->price = plan->amount;
    size_t centred = 0;
    for (size_t i = 0; i < plan->limit_count; i++)
        centred += plan->limits[i].centred;
    assert_true(centred > 0 && plan->by_totals);
}

static void close_tables(asked_tables *of)
{
    for (int c = 0; c < CHANGES; c++) {
        brume_collected_close(of->collected[c]);
        asked_close(&of->all[c]);
        unlink(of->csv[c]);
    }
}

/* The largest loss over pairs of tables and seeds, and how many pairs. `reached`: how often looks
 * about a centre ended with each step; `flat`: with none. */
typedef struct seen {
    double worst;
    size_t pairs, reached[BRUME_CHOICE_AGAIN + 1], flat;
} seen;

static void replay_all(const asked_tables *of, bool replace, const mutant *how, int seeds,
                       seen *out)
{
    for (int seed = 0; seed < seeds; seed++)
        for (int a = 0; a < CHANGES; a++) {
            outcome *first = release(&of->all[a], of->collected[a], NULL, (uint64_t)seed);
            for (size_t i = 0; i < of->all[a].plan->limit_count; i++)
                if (of->all[a].plan->limits[i].centred) {
                    out->flat += first->terms->limits[i].capped;
                    out->reached[first->terms->limits[i].step]++;
                }
            for (int b = 0; b < CHANGES; b++) {
                bool neighbours = replace ? a != GONE && b != GONE : a == GONE || b == GONE;
                if (a == b || !neighbours)
                    continue;
                outcome *other = release(&of->all[b], of->collected[b], first, (uint64_t)seed);
                out->pairs += other != NULL;
                if (other)
                    out->worst = fmax(out->worst, loss(first, other, of->gaussian, how));
                release_close(other);
            }
            release_close(first);
        }
}

static void no_transcript_says_more_than_the_price(void **state)
{
    (void)state;
    seen all = {0};
    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++)
        for (int replace = 0; replace < 2; replace++) {
            asked_tables of;
            seen one = {0};
            open_tables(&of, i, replace);
            replay_all(&of, replace, &shipped, SEEDS, &one);
            printf("# %s, %s, %s: %.4f of %.4f\n", asks[i].sql, replace ? "replace" : "add-remove",
                   of.gaussian ? "rho" : "epsilon", one.worst, of.price);
            if (!(one.worst <= of.price * (1 + 1e-9)))
                fail_msg("%s, replace %d: %g of %g", asks[i].sql, replace, one.worst, of.price);
            assert_true(one.pairs > SEEDS && one.worst > of.price / 4);
            for (size_t k = 0; k <= BRUME_CHOICE_AGAIN; k++)
                all.reached[k] += one.reached[k];
            all.flat += one.flat;
            close_tables(&of);
        }
    for (size_t k = BRUME_CHOICE_HISTOGRAM; k <= BRUME_CHOICE_AGAIN; k++)
        assert_true(all.reached[k] > 10); /* each look is the last one somewhere */
    assert_true(all.flat > 10);
}

/* Rejects: a plan of add-remove where units are replaced; half of the noise on the centre, on
 * counts of units, on the sum or on the squares about it. */
static void wrong_prices_are_found(void **state)
{
    (void)state;
    static const struct {
        size_t ask;
        mutant how;
    } mutants[] = {{6, {2, 1, 1, 1}}, {6, {1, 2, 1, 1}}, {6, {1, 1, 2, 1}}, {9, {1, 1, 1, 2}}};
    for (size_t ask = 6; ask <= 9; ask += 3) {
        asked_tables of;
        seen right = {0}, replaced = {0};
        open_tables(&of, ask, false);
        replay_all(&of, false, &shipped, 3, &right);
        assert_holds(right.worst <= of.price * (1 + 1e-9));
        replay_all(&of, true, &shipped, 3, &replaced);
        assert_holds(ask != 6 || replaced.worst > 1.5 * of.price);
        for (size_t i = 0; i < sizeof mutants / sizeof *mutants; i++) {
            seen wrong = {0};
            if (mutants[i].ask != ask)
                continue;
            replay_all(&of, false, &mutants[i].how, 3, &wrong);
            assert_holds(wrong.worst > 1.01 * of.price);
        }
        close_tables(&of);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_transcript_says_more_than_the_price),
        cmocka_unit_test(wrong_prices_are_found),
    };
    return cmocka_run_group_tests_name("replays of means", tests, NULL, NULL);
}
