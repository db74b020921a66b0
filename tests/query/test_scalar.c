/* Scalar subqueries in a text: which there are, what stands between their brackets, and the text
 * with constants in their places. */
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>

#include "query/sql/scalar.h"

static const struct {
    const char *text, *found, *replaced; /* found: parted by |; replaced by 1, 2, ... */
} cases[] = {
    {"SELECT COUNT(*) FROM t", "", "SELECT COUNT(*) FROM t"},
    {"SELECT COUNT(*) FROM t WHERE x > (SELECT AVG(x) FROM t)", "SELECT AVG(x) FROM t",
     "SELECT COUNT(*) FROM t WHERE x > (1)"},
    {"SELECT COUNT(*) FROM t WHERE x BETWEEN (SELECT MIN(x) FROM t) AND 2 * (SELECT MAX(x) FROM u "
     "WHERE y = ')')",
     "SELECT MIN(x) FROM t|SELECT MAX(x) FROM u WHERE y = ')'",
     "SELECT COUNT(*) FROM t WHERE x BETWEEN (1) AND 2 * (2)"},
    /* one inside another belongs to it */
    {"SELECT COUNT(*) FROM t WHERE x > (SELECT AVG(x) FROM t WHERE x < (SELECT MAX(x) FROM t))",
     "SELECT AVG(x) FROM t WHERE x < (SELECT MAX(x) FROM t)",
     "SELECT COUNT(*) FROM t WHERE x > (1)"},
    /* comments, texts and other brackets */
    {"SELECT COUNT(*) FROM (SELECT * FROM t WHERE (x + (1)) > /* ( */ (SELECT SUM(x) -- )\n FROM t)) "
     "s",
     "SELECT SUM(x) -- )\n FROM t",
     "SELECT COUNT(*) FROM (SELECT * FROM t WHERE (x + (1)) > /* ( */ (1)) s"},
    {"WITH a AS (SELECT x FROM t WHERE x > (SELECT AVG(x) FROM t)) SELECT COUNT(*) FROM a HAVING "
     "COUNT(*) > (SELECT COUNT(*) FROM u)",
     "SELECT AVG(x) FROM t|SELECT COUNT(*) FROM u",
     "WITH a AS (SELECT x FROM t WHERE x > (1)) SELECT COUNT(*) FROM a HAVING COUNT(*) > (2)"},
    {"SELECT COUNT(*) FROM t WHERE EXISTS (SELECT 1 FROM u WHERE y > (SELECT AVG(y) FROM u))",
     "SELECT AVG(y) FROM u", "SELECT COUNT(*) FROM t WHERE EXISTS (SELECT 1 FROM u WHERE y > (1))"},
    /* in outputs, and in the conditions of aggregates, but not in their arguments */
    {"SELECT COUNT(*) / (SELECT COUNT(*) FROM u) FROM t", "SELECT COUNT(*) FROM u",
     "SELECT COUNT(*) / (1) FROM t"},
    {"SELECT (SELECT AVG(x) FROM u), (SELECT SUM(x) FROM u) AS s, COUNT(*) FROM t",
     "SELECT AVG(x) FROM u|SELECT SUM(x) FROM u",
     "SELECT (1) AS \"a\"\"b\", (2) AS s, COUNT(*) FROM t"},
    {"SELECT COUNT(*) FILTER (WHERE x > (SELECT AVG(x) FROM u)) FROM t", "SELECT AVG(x) FROM u",
     "SELECT COUNT(*) FILTER (WHERE x > (1)) FROM t"},
    {"SELECT SUM(x - (SELECT AVG(x) FROM u)) FROM t", "",
     "SELECT SUM(x - (SELECT AVG(x) FROM u)) FROM t"},
    {"SELECT COUNT(*) FROM (SELECT (SELECT AVG(x) FROM u) AS a FROM t) s", "",
     "SELECT COUNT(*) FROM (SELECT (SELECT AVG(x) FROM u) AS a FROM t) s"},
    /* not one value: left where they are */
    {"SELECT COUNT(*) FROM t WHERE x IN (SELECT y FROM u)", "",
     "SELECT COUNT(*) FROM t WHERE x IN (SELECT y FROM u)"},
    {"SELECT no sense (", "", "SELECT no sense ("},
};

static void scalars_are_cut_out_of_the_text(void **state)
{
    (void)state;
    static const char *const values[] = {"1", "2", "3"};
    static const char *const names[] = {"a\"b", "c", NULL};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_scalar *scalars = NULL;
        brume_error error = {0};
        size_t count = 0;
        char joined[400] = "";
        assert_ok(brume_scalars_find(cases[i].text, &scalars, &count, &error));
        assert_true(count <= 3);
        for (size_t j = 0; j < count; j++) {
            strcat(joined, j ? "|" : "");
            strcat(joined, scalars[j].sql);
        }
        assert_string_equal(joined, cases[i].found);
        char *replaced = brume_scalars_replace(cases[i].text, scalars, count, values, names);
        assert_non_null(replaced);
        assert_string_equal(replaced, cases[i].replaced);
        free(replaced);
        brume_scalars_free(scalars, count);
    }
}

static void what_is_no_single_value_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "SELECT COUNT(*) FROM t WHERE x > (SELECT x FROM t)",
        "SELECT COUNT(*) FROM t WHERE x > (SELECT AVG(x) FROM t GROUP BY y)",
        "SELECT COUNT(*) FROM t WHERE x > (SELECT AVG(x) FROM t LIMIT 1)",
        "SELECT COUNT(*) FROM t WHERE x > (SELECT AVG(x) FROM t UNION ALL SELECT 1)",
        "SELECT COUNT(*) FROM t WHERE x > (SELECT DISTINCT AVG(x) FROM t)",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        brume_scalar *scalars = NULL;
        brume_error error = {0};
        size_t count = 0;
        assert_int_equal(brume_scalars_find(wrong[i], &scalars, &count, &error),
                         BRUME_EUNSUPPORTED);
    }
}

/* Asked by itself, a subquery has no WITH around it: the name could mean a registered table. */
static void names_of_a_with_around_it_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool good;
    } some[] = {
        {"WITH t AS (SELECT * FROM t WHERE x > 9) SELECT COUNT(*) FROM t WHERE x > (SELECT AVG(x) "
         "FROM t)",
         false},
        {"WITH a AS (SELECT * FROM t) SELECT COUNT(*) FROM (WITH b AS (SELECT 1) SELECT * FROM t "
         "WHERE x > (SELECT AVG(x) FROM u JOIN a ON u.k = a.k)) s",
         false},
        {"WITH t AS (SELECT * FROM t WHERE x > (SELECT AVG(x) FROM t)) SELECT COUNT(*) FROM t",
         true},
        {"WITH a AS (SELECT * FROM t) SELECT COUNT(*) FROM a WHERE x > (WITH a AS (SELECT * FROM t) "
         "SELECT AVG(x) FROM a)",
         true},
        {"WITH t AS (SELECT * FROM t) SELECT COUNT(*) FROM t WHERE x > (SELECT AVG(x) FROM d.t)",
         true},
    };
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        brume_scalar *scalars = NULL;
        brume_error error = {0};
        size_t count = 0;
        brume_status status = brume_scalars_find(some[i].text, &scalars, &count, &error);
        assert_int_equal(status, some[i].good ? BRUME_OK : BRUME_EUNSUPPORTED);
        assert_int_equal(count, some[i].good);
        brume_scalars_free(scalars, count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalars_are_cut_out_of_the_text),
        cmocka_unit_test(what_is_no_single_value_is_refused),
        cmocka_unit_test(names_of_a_with_around_it_are_refused),
    };
    return cmocka_run_group_tests_name("scalar subqueries", tests, NULL, NULL);
}
