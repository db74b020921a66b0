/* Features of the lines of a file: each by hand, and what they are for: where one cell of a table
 * is measured and the others follow from it, which one it was is told by the lines that stand
 * apart, and hardly by how often each line is there. The tables are those of a fixed generator: the
 * same in every run. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "audit/query/line_features.h"
#include "audit/query/score.h"
#include "sequence.h"

static brume_error error;

/* ---- by hand ---- */

static void write_down(void *context, const char *name, double value)
{
    char *out = context;
    size_t length = strlen(out);
    snprintf(out + length, 1000 - length, "%s: %g\n", name, value);
}

static void assert_features(const char *text, const char *expected)
{
    char out[1000] = "";
    assert_true(brume_line_features_visit(text, write_down, out));
    assert_string_equal(out, expected);
}

static void every_line_but_the_first_is_counted(void **unused)
{
    (void)unused;
    assert_features("value\n3\n0\n3\n1\n3\n0\n",
                    "row 0: 2\nrow 1: 1\nrow 3: 3\nrarest 1: 1\ncommonest 3: 1\n");
    /* the name of the column is no row, even where it is the same as one */
    assert_features("b\nb\na\nb\nb\nb\n", "row a: 1\nrow b: 4\nrarest a: 3\ncommonest b: 3\n");
    /* without a newline at the end, and with empty lines */
    assert_features("x\n\na,1\n\n\nb,2\na,1",
                    "row a,1: 2\nrow b,2: 1\nrarest b,2: 1\ncommonest a,1: 1\n");
}

static void lines_that_are_there_equally_often_have_an_order(void **unused)
{
    (void)unused;
    assert_features("x\nc\nb\na\n", "row a: 1\nrow b: 1\nrow c: 1\nrarest a: 0\ncommonest c: 0\n");
    assert_features("x\nc\na\nb\n", "row a: 1\nrow b: 1\nrow c: 1\nrarest a: 0\ncommonest c: 0\n");
    assert_features("x\nb\na\nb\nc\n",
                    "row a: 1\nrow b: 2\nrow c: 1\nrarest a: 0\ncommonest b: 1\n");
}

static void one_line_has_no_ends_and_none_has_no_features(void **unused)
{
    (void)unused;
    assert_features("x\na\na\n", "row a: 2\n");
    assert_features("x\n", "");
    assert_features("x", "");
    assert_features("\n\n", "");
    assert_features("", "");
    assert_features("x\na", "row a: 1\n"); /* as many lines as there is room for */
    assert_features("x\na\nb", "row a: 1\nrow b: 1\nrarest a: 0\ncommonest b: 0\n");
}

/* ---- what they are for ---- */

static uint64_t state = 1;

static double uniform(void)
{
    return sequence_share(&state);
}

enum { CELLS = 6, ROWS = 120 };

/* A table of one column whose cells are 0 to 5. One cell is measured, the others share what is
 * left: cell 0 or cell 1, on the first database 0 three times of four and on the second 1. */
static void make_table(bool second, char *out)
{
    int measured = (uniform() < .75) == second;
    double noise = 12 * log(uniform()) * (uniform() < .5 ? 1 : -1);
    int times = (int)fmin(fmax(ROWS / CELLS + noise, 0), ROWS), left = ROWS - times;
    out += sprintf(out, "value\n");
    for (int i = 0; i < times; i++)
        out += sprintf(out, "%d\n", measured);
    for (int i = 0; i < left; i++) {
        int other = i % (CELLS - 1);
        out += sprintf(out, "%d\n", other + (other >= measured));
    }
}

static bool visit(const void *text, brume_feature_visit *each, void *context)
{
    return brume_line_features_visit(text, each, context);
}

/* A visitor that passes on the rows alone. */
typedef struct rows_only {
    brume_feature_visit *each;
    void *context;
} rows_only;

static void pass_rows(void *context, const char *name, double value)
{
    const rows_only *of = context;
    if (strncmp(name, "row ", 4) == 0)
        of->each(of->context, name, value);
}

static bool visit_without_ends(const void *text, brume_feature_visit *each, void *context)
{
    rows_only of = {each, context};
    return brume_line_features_visit(text, pass_rows, &of);
}

/* P[the score is above 0] on the second database less that on the first, learned from `examples` of
 * each. */
static double power(brume_seen *seen, size_t examples)
{
    enum { DRAWS = 2000 };
    static char table[2 * ROWS + 10];
    double hits[2] = {0, 0};
    brume_score *score = NULL;
    state = 1;
    assert_ok(brume_score_open(examples, &score, &error));
    for (size_t i = 0; i < 2 * examples; i++) {
        make_table(i % 2 != 0, table);
        assert_ok(brume_score_learn(score, seen, table, i % 2 != 0, &error));
    }
    brume_score_settle(score);
    for (int i = 0; i < 2 * DRAWS; i++) {
        make_table(i % 2 != 0, table);
        hits[i % 2] += brume_score_of(score, seen, table) > 0;
    }
    brume_score_close(score);
    return (hits[1] - hits[0]) / DRAWS;
}

static void the_cell_that_was_measured_is_told(void **unused)
{
    (void)unused;
    double with = power(visit, 150), without = power(visit_without_ends, 150);
    assert_true(with > .3); /* below .5, which it is where the cell can always be told */
    assert_true(without < .2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_line_but_the_first_is_counted),
        cmocka_unit_test(lines_that_are_there_equally_often_have_an_order),
        cmocka_unit_test(one_line_has_no_ends_and_none_has_no_features),
        cmocka_unit_test(the_cell_that_was_measured_is_told),
    };
    return cmocka_run_group_tests_name("line features", tests, NULL, NULL);
}
