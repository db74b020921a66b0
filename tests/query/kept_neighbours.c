/* What one unit moves, removed or replaced, in the statements that keep groups by a keyed hash:
 * what the tests of all engines share. */
#include "kept.h"

#include "check.h"

#include <stdlib.h>

#include "query/collect/pushed/pushed.h"
#include "replaced.h"

static brume_error error;

static bool same_key(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : !a && !b;
}

/* The number of a row with these keys; 0 if there is none, and *found tells. */
static double number_under(const kept_answer *in, char *const *keys, size_t column, bool *found)
{
    for (size_t i = 0; i < in->count; i++)
        if (same_key(in->rows[i].keys[0], keys[0]) && same_key(in->rows[i].keys[1], keys[1])) {
            *found = true;
            return in->rows[i].numbers[column];
        }
    *found = false;
    return 0;
}

/* How far a column moves, in all groups together; *groups is in how many. */
static double moved(const kept_answer *a, const kept_answer *b, size_t column, int *groups)
{
    double sum = 0;
    *groups = 0;
    for (int side = 0; side < 2; side++) {
        const kept_answer *from = side ? b : a, *to = side ? a : b;
        for (size_t i = 0; i < from->count; i++) {
            bool found;
            double far = fabs(from->rows[i].numbers[column] -
                              number_under(to, from->rows[i].keys, column, &found));
            if ((side && found) || far == 0)
                continue; /* seen from the other side */
            sum += far;
            ++*groups;
        }
    }
    return sum;
}

static void clear(kept_answer *answer)
{
    for (size_t i = 0; i < answer->count; i++) {
        free(answer->rows[i].keys[0]);
        free(answer->rows[i].keys[1]);
    }
}

/* The worst of what the units move, over what they may: at most 1 if all is right. `times` is 1 for
 * a unit that goes and 2 for one that has the rows of `others`. */
static double worst_move(const kept_statement *of, const kept_table *all, const kept_table *others,
                         bool replace)
{
    double worst = 0, times = replace ? 2 : 1;
    kept_here->show(all);
    kept_answer before = kept_here->ask(of);
    for (int64_t unit = 0; unit < KEPT_UNITS; unit++) {
        kept_table other = *all;
        for (size_t i = 0; i < other.count; i++)
            if (other.rows[i].u == unit) {
                other.rows[i] = others->rows[i];
                other.rows[i].u = replace ? unit : KEPT_NOTHING;
            }
        kept_here->show(&other);
        kept_answer after = kept_here->ask(of);
        for (size_t column = 0; column < of->columns; column++) {
            int groups = 0;
            double far = moved(&before, &after, column, &groups);
            worst = fmax(worst, far / (times * of->most[column]));
            worst = fmax(worst, groups / (times * of->groups));
        }
        clear(&after);
    }
    clear(&before);
    return worst;
}

static kept_statement print(const asked *all, int kind)
{
    static const kept_statement kinds[] = {
        {.keys = 2, .columns = 1, .most = {1}, .groups = 1},
        {.keys = 1, .columns = 1, .most = {2}, .groups = 2},
        {.keys = 2, .columns = 1, .most = {2}, .groups = 2},
    };
    const brume_push_dialect *dialect = brume_push_dialect_of(kept_here->dialect);
    const brume_collection *collection = &all->plan->measurements[kind == 1 ? 1 : 0].collection;
    const uint64_t key = UINT64_C(0xf23456789abcdef);
    kept_statement made = kinds[kind];
    char *rows = NULL;
    assert_ok(brume_collect_statement(collection, kept_here->dialect, &kept_here->shown_as, &rows,
                                      &error));
    assert_ok(kind == 0 ? brume_push_print_kept(dialect, collection, rows, key, &made.sql, &error)
              : kind == 1
                  ? brume_push_print_distinct(dialect, collection, rows, key, 2, &made.sql, &error)
                  : brume_push_print_bounded(dialect, collection, rows, key, &made.sql, &error));
    free(rows);
    return made;
}

/* Also of statements that look at others' rows, or keep too much: these are found out. */
void kept_check_neighbours(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        const kept_kind *of = &kept_here->kinds[kind];
        asked all = kept_open("c", of->sql, of->groups, of->rows);
        kept_statement right = print(&all, kind), wrong = right;
        wrong.sql = replaced(right.sql, of->from, of->to);
        assert_string_not_equal(right.sql, wrong.sql);
        double worst[2] = {0, 0}, found = 0;
        for (int round = 0; round < kept_here->neighbours; round++) {
            kept_table rows = kept_random_table(KEPT_ROWS / 2);
            kept_table others = kept_random_table(KEPT_ROWS / 2);
            for (int replace = 0; replace < 2; replace++) {
                double far = worst_move(&right, &rows, &others, replace);
                assert_true(far <= 1);
                worst[replace] = fmax(worst[replace], far);
                if (found <= 1)
                    found = fmax(found, worst_move(&wrong, &rows, &others, replace));
            }
        }
        assert_true(worst[0] == 1); /* the limits are reached */
        assert_true(worst[1] > 0.7);
        assert_true(found > 1);
        free(right.sql);
        free(wrong.sql);
        asked_close(&all);
    }
}
