/* Mode and top-k: the distance to another answer by exhaustion, under both adjacencies. */
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>

#include <brume/statistic/top_k.h>

enum { KEYS = 3, MOST = 6 };

typedef struct answer {
    size_t winner[KEYS];
    size_t count;
    uint64_t distance;
} answer;

static answer ask(const uint64_t *counts, size_t k, bool ordered, brume_adjacency adjacency)
{
    brume_error error;
    brume_top_k_rule rule = {k, ordered, false, adjacency};
    answer result = {0};
    uint64_t units = 0;
    for (int i = 0; i < KEYS; i++)
        units += counts[i];
    assert_ok(brume_top_k(&rule, counts, KEYS, units, result.winner, &result.count,
                          &result.distance, &error));
    return result;
}

static bool same(const answer *a, const answer *b)
{
    return a->count == b->count && memcmp(a->winner, b->winner, a->count * sizeof *a->winner) == 0;
}

/* Number of changes between two tables of counts. */
static int steps(const uint64_t *a, const uint64_t *b, brume_adjacency adjacency)
{
    int more = 0, less = 0;
    for (int i = 0; i < KEYS; i++) {
        more += b[i] > a[i] ? (int)(b[i] - a[i]) : 0;
        less += a[i] > b[i] ? (int)(a[i] - b[i]) : 0;
    }
    if (adjacency == BRUME_ADD_REMOVE)
        return more + less;
    return more == less ? more : -1;
}

static void check_rule(size_t k, bool ordered, brume_adjacency adjacency)
{
    static uint64_t table[1000][KEYS];
    static answer answers[1000];
    int count = 0;
    for (uint64_t a = 0; a <= 8; a++)
        for (uint64_t b = 0; b <= 8; b++)
            for (uint64_t c = 0; c <= 8; c++) {
                table[count][0] = a;
                table[count][1] = b;
                table[count][2] = c;
                answers[count] = ask(table[count], k, ordered, adjacency);
                count++;
            }
    for (int i = 0; i < count; i++) {
        if (table[i][0] + table[i][1] + table[i][2] > MOST)
            continue; /* within reach of the edge of the table */
        int nearest = -1;
        for (int j = 0; j < count; j++) {
            int distance = steps(table[i], table[j], adjacency);
            if (distance >= 0 && !same(&answers[i], &answers[j]) &&
                (nearest < 0 || distance < nearest))
                nearest = distance;
        }
        if (nearest < 0)
            assert_holds(answers[i].distance == UINT64_MAX);
        else
            assert_int_equal(answers[i].distance, nearest - 1);
    }
}

static void the_distance_to_another_answer_is_exact(void **state)
{
    (void)state;
    for (size_t k = 1; k <= KEYS; k++)
        for (int ordered = 0; ordered < 2; ordered++) {
            check_rule(k, ordered, BRUME_ADD_REMOVE);
            check_rule(k, ordered, BRUME_REPLACE);
        }
}

/* Votes for several keys each: the distance must still move by at most 1 and be 0 where a neighbour
 * answers otherwise. Every ballot is a set of keys; neighbours add, remove or replace one. */
static void ballots_of_several_keys_are_covered(void **state)
{
    (void)state;
    for (size_t k = 1; k < KEYS; k++)
        for (int ordered = 0; ordered < 2; ordered++)
            for (int replace = 0; replace < 2; replace++)
                for (uint64_t code = 0; code < 5 * 5 * 5; code++)
                    for (unsigned from = 0; from < 8; from++)
                        for (unsigned to = 0; to < 8; to++) {
                            brume_adjacency adjacency = replace ? BRUME_REPLACE : BRUME_ADD_REMOVE;
                            /* Units besides the one that changes: enough for the counts. */
                            uint64_t base[KEYS] = {code % 5, code / 5 % 5, code / 25};
                            uint64_t before[KEYS], after[KEYS], others = 0;
                            if (replace ? from == 0 || to == 0 : from != 0)
                                continue;
                            for (unsigned i = 0; i < KEYS; i++) {
                                before[i] = base[i] + (from >> i & 1);
                                after[i] = base[i] + (to >> i & 1);
                                others = base[i] > others ? base[i] : others;
                            }
                            brume_error error;
                            brume_top_k_rule rule = {k, ordered, false, adjacency};
                            answer x = {0}, y = {0};
                            assert_ok(brume_top_k(&rule, before, KEYS, others + (from != 0),
                                                  x.winner, &x.count, &x.distance, &error));
                            assert_ok(brume_top_k(&rule, after, KEYS, others + (to != 0), y.winner,
                                                  &y.count, &y.distance, &error));
                            assert_holds(x.distance <= y.distance + 1 &&
                                         y.distance <= x.distance + 1);
                            if (!same(&x, &y))
                                assert_holds(x.distance == 0 && y.distance == 0);
                        }
}

/* In an open domain the same two facts, with fresh keys turning up. */
static void an_open_domain_counts_unseen_keys_as_rivals(void **state)
{
    (void)state;
    brume_error error;
    for (size_t k = 1; k <= 2; k++)
        for (int replace = 0; replace < 2; replace++)
            for (uint64_t code = 0; code < 6 * 6 * 6; code++)
                for (int from = replace ? 0 : -1; from < (replace ? KEYS : 0); from++)
                    for (int to = 0; to < KEYS; to++) {
                        uint64_t before[KEYS] = {code % 6, code / 6 % 6, code / 36}, after[KEYS];
                        uint64_t units = before[0] + before[1] + before[2];
                        memcpy(after, before, sizeof before);
                        if (from >= 0 && before[from] == 0)
                            continue;
                        if (from >= 0)
                            after[from]--;
                        after[to]++;
                        brume_top_k_rule rule = {k, true, true,
                                                 replace ? BRUME_REPLACE : BRUME_ADD_REMOVE};
                        answer x = {0}, y = {0};
                        assert_ok(brume_top_k(&rule, before, KEYS, units, x.winner, &x.count,
                                              &x.distance, &error));
                        assert_ok(brume_top_k(&rule, after, KEYS, units + (from < 0), y.winner,
                                              &y.count, &y.distance, &error));
                        assert_holds(x.distance <= y.distance + 1 && y.distance <= x.distance + 1);
                        if (!same(&x, &y))
                            assert_holds(x.distance == 0 && y.distance == 0);
                        if (x.count)
                            assert_holds(x.distance < before[x.winner[k - 1]]);
                    }
}

/* An unseen key is one more key in front of all others, with the count 0. Rejects: another key's
 * count in the place of the last winner's, no answer where as many keys are there as are asked for.
 */
static void an_open_domain_is_a_closed_one_with_a_key_in_front(void **state)
{
    (void)state;
    brume_error error;
    int answered = 0;
    for (uint64_t code = 0; code < 6 * 6 * 6; code++)
        for (size_t k = 1; k <= KEYS; k++)
            for (int kind = 0; kind < 4; kind++) {
                const uint64_t counts[1 + KEYS] = {0, code % 6, code / 6 % 6, code / 36};
                size_t present = 0;
                for (size_t i = 1; i <= KEYS; i++)
                    present += counts[i] > 0;
                brume_top_k_rule rule = {k, kind & 1, true,
                                         kind & 2 ? BRUME_REPLACE : BRUME_ADD_REMOVE};
                uint64_t units = counts[1] + counts[2] + counts[3], closed_distance;
                answer open = {0};
                size_t closed[1 + KEYS], closed_count;
                assert_ok(brume_top_k(&rule, counts + 1, KEYS, units, open.winner, &open.count,
                                      &open.distance, &error));
                assert_int_equal(open.count, present >= k ? k : 0);
                if (open.count == 0)
                    continue;
                rule.open_domain = false;
                assert_ok(brume_top_k(&rule, counts, 1 + KEYS, units, closed, &closed_count,
                                      &closed_distance, &error));
                assert_int_equal(open.distance, closed_distance);
                for (size_t i = 0; i < k; i++)
                    assert_int_equal(open.winner[i] + 1, closed[i]);
                answered++;
            }
    assert_true(answered > 1500);
}

/* Negative control: the gap itself as distance is 1 where a neighbour answers otherwise. */
static void the_plain_gap_is_not_a_distance_to_instability(void **state)
{
    (void)state;
    const uint64_t before[KEYS] = {2, 3, 0}, after[KEYS] = {3, 3, 0};
    answer x = ask(before, 1, false, BRUME_ADD_REMOVE), y = ask(after, 1, false, BRUME_ADD_REMOVE);
    assert_false(same(&x, &y));
    uint64_t gap = before[1] - before[0];
    assert_int_equal(gap, 1);
    assert_int_equal(x.distance, 0);
}

static bool is_ahead(const uint64_t *counts, size_t i, size_t j)
{
    return counts[i] > counts[j] || (counts[i] == counts[j] && i < j);
}

static void a_large_ranking_agrees_with_a_full_sort(void **state)
{
    (void)state;
    enum { MANY = 3000 };
    static uint64_t counts[MANY];
    uint64_t seed = 3;
    for (size_t k = 1; k <= 2000; k = k * 2 + 1 + k % 3) {
        brume_error error;
        brume_top_k_rule rule = {k, true, false, BRUME_ADD_REMOVE};
        size_t *winners = calloc(k, sizeof *winners), count;
        uint64_t distance, of_set, spread = k % 2 ? 700 : 3; /* few or many equal ones */
        for (int i = 0; i < MANY; i++) {
            seed = seed * UINT64_C(6364136223846793005) + 1;
            counts[i] = (seed >> 40) % spread * (spread > 3 ? 1 : 50);
        }
        rule.ordered = false;
        assert_ok(brume_top_k(&rule, counts, MANY, 1000000, winners, &count, &of_set, &error));
        rule.ordered = true;
        assert_ok(brume_top_k(&rule, counts, MANY, 1000000, winners, &count, &distance, &error));
        uint64_t least = 1000000, last = 0;
        for (size_t i = 0; i < k; i++) { /* the next one, which is not always among the winners */
            size_t next = MANY;
            for (size_t j = 0; j < MANY; j++)
                if (is_ahead(counts, winners[i], j) && (next == MANY || is_ahead(counts, j, next)))
                    next = j;
            uint64_t gap = counts[winners[i]] - counts[next] + (winners[i] < next);
            least = gap < least ? gap : least;
            last = gap;
        }
        assert_int_equal(distance, least - 1);
        assert_int_equal(of_set, last - 1); /* of the set only its border matters */
        for (size_t i = 0; i < k; i++) {
            size_t higher = 0;
            for (size_t j = 0; j < MANY; j++)
                higher += counts[j] > counts[winners[i]] ||
                          (counts[j] == counts[winners[i]] && j < winners[i]);
            assert_int_equal(higher, i);
        }
        free(winners);
    }
}

/* Rejects: a border whose lower key is not the next one, for the few k where a step of the search
 * ends just there. */
static void every_border_has_its_own_distance(void **state)
{
    (void)state;
    enum { MANY = 300 };
    uint64_t counts[MANY], seed = 5;
    size_t order[MANY], winners[MANY], count;
    for (size_t i = 0; i < MANY; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1;
        counts[i] = (seed >> 40) % 100000;
        size_t at = i;
        for (; at > 0 && is_ahead(counts, i, order[at - 1]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (size_t k = 1; k < MANY; k++) {
        brume_error error;
        brume_top_k_rule rule = {k, false, false, BRUME_ADD_REMOVE};
        uint64_t distance;
        assert_ok(brume_top_k(&rule, counts, MANY, 100000000, winners, &count, &distance, &error));
        size_t last = order[k - 1], next = order[k];
        assert_int_equal(distance, counts[last] - counts[next] + (last < next) - 1);
    }
}

/* The ranking is parted by the key in its middle. Rejects: a search for a lower key that goes on
 * beyond the end where that one is the lowest. */
static void the_lowest_key_may_be_in_the_middle(void **state)
{
    (void)state;
    enum { MANY = 65 };
    brume_error error;
    uint64_t counts[MANY], distance = 0;
    size_t winners[2] = {0}, winner_count = 0;
    for (size_t i = 0; i < MANY; i++)
        counts[i] = i == MANY / 2 ? 0 : 100 + i;
    brume_top_k_rule rule = {2, true, false, BRUME_ADD_REMOVE};
    assert_ok(brume_top_k(&rule, counts, MANY, 100000, winners, &winner_count, &distance, &error));
    assert_true(winner_count == 2 && winners[0] == MANY - 1 && winners[1] == MANY - 2);
}

static void bad_rules_are_refused(void **state)
{
    (void)state;
    brume_error error;
    uint64_t counts[KEYS] = {1, 1, 1}, distance = 99;
    size_t winners[KEYS], count = 99;
    brume_top_k_rule rules[] = {{0, false, false, BRUME_REPLACE},
                                {4, false, false, BRUME_REPLACE},
                                {1, false, false, BRUME_EDGE}};
    for (int i = 0; i < 3; i++)
        assert_fails(brume_top_k(&rules[i], counts, KEYS, 3, winners, &count, &distance, &error),
                     BRUME_EARGUMENT);
    assert_int_equal(distance, 99);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_distance_to_another_answer_is_exact),
        cmocka_unit_test(ballots_of_several_keys_are_covered),
        cmocka_unit_test(an_open_domain_counts_unseen_keys_as_rivals),
        cmocka_unit_test(an_open_domain_is_a_closed_one_with_a_key_in_front),
        cmocka_unit_test(the_plain_gap_is_not_a_distance_to_instability),
        cmocka_unit_test(a_large_ranking_agrees_with_a_full_sort),
        cmocka_unit_test(every_border_has_its_own_distance),
        cmocka_unit_test(the_lowest_key_may_be_in_the_middle),
        cmocka_unit_test(bad_rules_are_refused),
    };
    return cmocka_run_group_tests_name("top_k", tests, NULL, NULL);
}
