/* What an engine keeps of every unit by a keyed hash: what the tests of all engines share. */
#include "kept.h"

#include "check.h"

#include <stdlib.h>

#include "random/tape.h"
#include "registered.h"
#include "sequence.h"

enum { SEED = 11 };

const kept_engine *kept_here;

static brume_error error;
static uint64_t seed = 5;

/* ---- tables ---- */

static uint64_t below(uint64_t end)
{
    return (sequence_next(&seed) >> 33) % end;
}

static kept_row random_row(void)
{
    static const int64_t numbers[] = {1, 2, 3, -1, INT64_C(1) << 40, KEPT_NOTHING};
    kept_row made = {.u = below(12) ? (int64_t)(below(2) ? below(KEPT_UNITS) : below(2))
                                    : KEPT_NOTHING};
    made.k = kept_here->names[below(KEPT_NAMES)];
    made.l = numbers[below(6)];
    made.x = below(5) ? (int64_t)below(31) - 15 : KEPT_NOTHING;
    return made;
}

kept_table kept_random_table(size_t count)
{
    kept_table made = {.count = count};
    for (size_t i = 0; i < count; i++)
        made.rows[i] = random_row();
    return made;
}

/* Rows without a value of l are nobody's: what asks about values does not ask about them. */
static kept_table random_values(size_t count)
{
    kept_table made = kept_random_table(count);
    for (size_t i = 0; i < count; i++)
        if (made.rows[i].l == KEPT_NOTHING)
            made.rows[i].u = KEPT_NOTHING;
    return made;
}

void kept_put_number(FILE *out, int64_t number, const char *after)
{
    if (number == KEPT_NOTHING)
        fprintf(out, "NULL%s", after);
    else
        fprintf(out, "%lld%s", (long long)number, after);
}

/* ---- what is kept, computed here ---- */

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : !a && !b;
}

static bool same_pair(const kept_row *a, const kept_row *b)
{
    return a->u == b->u && same_text(a->k, b->k) && a->l == b->l;
}

/* Is this the first row of its pair? */
static bool is_first(const kept_table *all, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (same_pair(&all->rows[j], &all->rows[i]))
            return false;
    return true;
}

/* Of each unit the `groups` pairs of the least ranks. */
static void keep(kept_table *all, uint64_t key, uint64_t groups)
{
    for (size_t i = 0; i < all->count; i++)
        all->rows[i].rank = kept_here->rank(&all->rows[i], key);
    for (size_t i = 0; i < all->count; i++) {
        kept_row *one = &all->rows[i];
        uint64_t before = 0;
        for (size_t j = 0; j < all->count; j++)
            before += all->rows[j].u == one->u && all->rows[j].rank < one->rank && is_first(all, j);
        one->kept = one->u != KEPT_NOTHING && before < groups;
    }
}

/* ---- queries ---- */

asked kept_open(const char *name, const char *sql, uint64_t groups, uint64_t rows)
{
    const brume_source source = {.location = kept_here->url, .table = name};
    brume_policy *policy = registered_policy(&source);
    assert_ok(brume_policy_set_unit(policy, "u", &error));
    assert_ok(brume_policy_set_bounds(policy, "x", "-10", "12", &error));
    policy->limits_fixed = groups > 0;
    policy->max_groups = groups;
    policy->max_rows = rows;
    asked all = asked_open(policy, "c", sql, SEED);
    asked_plan(&all, BRUME_RULE_APPROXIMATE, "1", "1e-6");
    return all;
}

/* The key that the next pushed collection draws. */
static uint64_t next_key(const asked *all)
{
    uint64_t word;
    brume_bits *again = brume_tape_open_seeded(SEED);
    for (size_t i = 0; i <= brume_tape_main_read(all->bits); i++)
        assert_ok(brume_bits_words(again, &word, 1, &error));
    brume_bits_close(again);
    return word;
}

static bool is_of(const kept_row *one, const brume_key_value *keys)
{
    const brume_text *text = &keys[0].text;
    bool k = one->k ? !keys[0].null && text->length == strlen(one->k) &&
                          memcmp(text->data, one->k, text->length) == 0
                    : keys[0].null;
    return k &&
           (one->l == KEPT_NOTHING ? keys[1].null : !keys[1].null && keys[1].integer == one->l);
}

/* ---- the same as what is computed here ---- */

void kept_check_single(void **state)
{
    (void)state;
    int groups_seen = 0;
    for (int round = 0; round < kept_here->single; round++) {
        kept_table rows = kept_random_table(round ? 1 + below(KEPT_ROWS) : 0);
        kept_here->fill("c", &rows, true);
        asked all = kept_open("c", "SELECT k, l, COUNT(*) FROM c GROUP BY k, l", 0, 0);
        keep(&rows, next_key(&all), 1);
        brume_collected *there = asked_collect(&all, true, 0);
        size_t count = 0, units = 0;
        const brume_bounded_group *groups = brume_collected_groups(there, &count);
        for (size_t g = 0; g < count; g++) {
            uint64_t here = 0;
            for (size_t i = 0; i < rows.count; i++)
                here += rows.rows[i].kept && is_first(&rows, i) &&
                        is_of(&rows.rows[i], groups[g].keys);
            assert_int_equal(groups[g].units, here);
            assert_int_equal(groups[g].number, g);
            units += here;
        }
        bool there_are[KEPT_UNITS] = {false};
        for (size_t i = 0; i < rows.count; i++)
            if (rows.rows[i].u != KEPT_NOTHING)
                there_are[rows.rows[i].u] = true;
        for (size_t u = 0; u < KEPT_UNITS; u++)
            units -= there_are[u];
        assert_int_equal(units, 0);
        groups_seen += (int)count;
        brume_collected_close(there);
        asked_close(&all);
    }
    assert_true(groups_seen > kept_here->single);
}

/* Which groups of `of` are shown: every other one that both have. Returns how many. */
static size_t choose_shown(const brume_collected *of, const brume_collected *other, bool *shown)
{
    size_t count = 0, others = 0, both = 0, chosen = 0;
    const brume_bounded_group *groups = brume_collected_groups(of, &count);
    const brume_bounded_group *rest = brume_collected_groups(other, &others);
    for (size_t g = 0; g < count; g++)
        for (size_t i = 0; i < others; i++)
            if (brume_keys_compare(groups[g].keys, rest[i].keys, 2) == 0 && both++ % 2 == 0) {
                shown[groups[g].number] = true;
                chosen++;
            }
    return chosen;
}

/* Histogram and sums over the groups that are shown, against those of streamed rows. Which groups
 * there are differs, because the hashes do. */
void kept_check_shown(void **state)
{
    (void)state;
    static const brume_total_limit limit = {{.kind = BRUME_TOTAL_SUM}, 9, 0};
    static const brume_limited_sum sum = {.kind = BRUME_MEASURE_DIRECT, .shift = 20};
    int shown_all = 0;
    for (int round = 0; round < kept_here->shown; round++) {
        kept_table rows = kept_random_table(KEPT_ROWS);
        kept_here->fill("c", &rows, true);
        asked all = kept_open("c", "SELECT k, l, COUNT(*), SUM(x) FROM c GROUP BY k, l", 0, 0);
        brume_collected *pair[2] = {asked_collect(&all, false, 0), asked_collect(&all, true, 0)};
        uint64_t bins[2][BRUME_LIMIT_BINS];
        brume_i128 sums[2][KEPT_ROWS];
        size_t shown_count[2];
        int p = 1 + round % 2;
        for (int w = 0; w < 2; w++) {
            size_t count = 0, at = 0;
            bool *shown = calloc(brume_collected_numbers(pair[w]) + 1, 1);
            shown_count[w] = choose_shown(pair[w], pair[1 - w], shown);
            assert_ok(brume_collected_histogram(pair[w], &limit.of, p, BRUME_LIMIT_BINS, shown,
                                                bins[w], &error));
            assert_ok(brume_collected_limit(pair[w], &limit, 1, p, shown, &sum, 1, &error));
            const brume_bounded_group *groups = brume_collected_groups(pair[w], &count);
            for (size_t g = 0; g < count; g++)
                if (shown[groups[g].number])
                    sums[w][at++] = groups[g].limited[0];
            free(shown);
        }
        assert_int_equal(shown_count[0], shown_count[1]);
        assert_memory_equal(bins[0], bins[1], sizeof bins[0]);
        assert_memory_equal(sums[0], sums[1], shown_count[0] * sizeof *sums[0]);
        shown_all += (int)shown_count[0];
        brume_collected_close(pair[0]);
        brume_collected_close(pair[1]);
        asked_close(&all);
    }
    assert_true(shown_all > kept_here->shown / 2);
}

/* How many values of l there are in a group, of those that some unit keeps, or of all. */
static int64_t count_values(const kept_table *rows, const brume_key_value *group, bool all)
{
    int64_t found = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const brume_key_value keys[] = {*group, {.null = false, .integer = rows->rows[i].l}};
        bool kept = all, seen = false;
        for (size_t j = 0; j < rows->count; j++) { /* the same value, of any unit */
            bool same = rows->rows[j].u != KEPT_NOTHING && is_of(&rows->rows[j], keys);
            seen = seen || (same && j < i);
            kept = kept || (same && rows->rows[j].kept);
        }
        found += rows->rows[i].u != KEPT_NOTHING && is_of(&rows->rows[i], keys) && !seen && kept;
    }
    return found;
}

/* Rows of other groups are nobody's. */
static kept_table left_of(const kept_table *rows, const brume_bounded_group *groups, size_t count)
{
    kept_table left = *rows;
    for (size_t i = 0; i < left.count; i++) {
        bool there = false;
        for (size_t g = 0; g < count; g++) {
            const brume_key_value keys[] = {groups[g].keys[0], {.null = true}};
            kept_row alike = left.rows[i];
            alike.l = KEPT_NOTHING;
            there = there || is_of(&alike, keys);
        }
        if (!there)
            left.rows[i].u = KEPT_NOTHING;
    }
    return left;
}

void kept_check_distinct(void **state)
{
    (void)state;
    int fewer = 0;
    for (int round = 0; round < kept_here->distinct; round++) {
        kept_table rows = random_values(round % 2 ? 1 + below(KEPT_ROWS) : KEPT_ROWS);
        kept_here->fill("c", &rows, true);
        asked all = kept_open("c", "SELECT k, COUNT(DISTINCT l) FROM c GROUP BY k", 0, 0);
        assert_int_equal(all.plan->measurements[1].kind, BRUME_MEASUREMENT_DISTINCT);
        brume_collected *groups_of = asked_collect(&all, true, 0);
        uint64_t key = next_key(&all);
        brume_collected *values = asked_collect(&all, true, 1);
        assert_true(brume_collected_counts_there(values));
        for (uint64_t limit = 1; limit <= 3; limit++) {
            size_t count = 0;
            const brume_bounded_group *groups = brume_collected_groups(groups_of, &count);
            const brume_bounded_group *asked_of[8];
            int64_t counts[8];
            for (size_t g = 0; g < count; g++)
                asked_of[g] = &groups[g];
            size_t shown = limit == 2 ? count / 2 : count; /* as if no other were shown */
            kept_table left = left_of(&rows, groups, shown);
            keep(&left, key, limit);
            brume_collected_restrict(values, asked_of, shown, 1);
            assert_ok(brume_collected_count_values(values, limit, asked_of, shown, counts, &error));
            for (size_t g = 0; g < shown; g++) {
                int64_t here = count_values(&left, groups[g].keys, false);
                assert_int_equal(counts[g], here);
                fewer += here < count_values(&left, groups[g].keys, true);
            }
        }
        brume_collected_close(values);
        brume_collected_close(groups_of);
        asked_close(&all);
    }
    assert_true(fewer >= kept_here->distinct); /* something was cut */
}

static void compare_groups(brume_collected *a, brume_collected *b)
{
    size_t count = 0, other = 0;
    const brume_bounded_group *left = brume_collected_groups(a, &count);
    const brume_bounded_group *right = brume_collected_groups(b, &other);
    assert_int_equal(count, other);
    for (size_t g = 0; g < count; g++) {
        assert_int_equal(brume_keys_compare(left[g].keys, right[g].keys, 2), 0);
        assert_int_equal(left[g].units, right[g].units);
        assert_int_equal(left[g].rows, right[g].rows);
    }
}

/* The engine cuts the table; the bounder gets what is left of it, where nothing is cut. Returns how
 * many rows were cut. */
static size_t compare_several(const char *sql, size_t measurement, uint64_t groups, kept_table rows)
{
    size_t cut = 0;
    kept_here->fill("c", &rows, true);
    asked all = kept_open("c", sql, groups, 2);
    const brume_collection *collection = &all.plan->measurements[measurement].collection;
    assert_true(collection->bounded && !collection->totals);
    assert_int_equal(collection->max_groups, measurement ? 2 * groups : groups);
    keep(&rows, next_key(&all), collection->max_groups);
    kept_here->fill("kept", &rows, false);
    asked left = kept_open("kept", sql, 500, 500);
    brume_collected *there = asked_collect(&all, true, measurement);
    brume_collected *here = asked_collect(&left, false, measurement);
    compare_groups(there, here);
    for (size_t i = 0; i < rows.count; i++)
        cut += rows.rows[i].u != KEPT_NOTHING && !rows.rows[i].kept;
    brume_collected_close(there);
    brume_collected_close(here);
    asked_close(&all);
    asked_close(&left);
    return cut;
}

/* Keys alone, and modes of values that nobody declared. */
void kept_check_several(void **state)
{
    (void)state;
    size_t cut = 0, rounds = 0;
    for (uint64_t groups = kept_here->least; groups <= kept_here->most; groups++, rounds++) {
        cut += compare_several("SELECT k, l FROM c GROUP BY k, l", 0, groups,
                               kept_random_table(KEPT_ROWS));
        cut += compare_several("SELECT k, MODE() WITHIN GROUP (ORDER BY l) FROM c GROUP BY k", 1,
                               groups, random_values(KEPT_ROWS));
    }
    assert_true(cut > 20 * rounds);
}
