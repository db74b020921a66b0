/* SQL over released tables: which parts of a statement are inner queries, what they cost, and that
 * nothing but their answers and public tables is in reach of the SQL around them. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ask_json.h"
#include "clinic.h"
#include "engine/memory.h"
#include "ledger/user.h"
#include "query/sql/public.h"
#include "query/sql/released.h"
#include "registered.h"

/* ---- splitting ---- */

static bool is_query(void *context, const char *sql, brume_error *why)
{
    (void)context;
    brume_query *query = NULL;
    if (brume_query_parse(sql, &clinic_catalog, &query, why) != BRUME_OK)
        return false;
    bool good = true;
    for (size_t i = 0; i < query->key_count; i++)
        good = good && !query->keys[i].tells_units && !query->keys[i].names_unit;
    brume_query_free(query);
    return good;
}

#define BY_CLINIC "SELECT clinic, count(*) AS n FROM visits GROUP BY clinic"
#define OLD       "SELECT * FROM visits WHERE age > 64"

static const struct {
    const char *sql, *inner, *outer; /* inner: parted by |; NULL: not of this form */
} splits[] = {
    {"SELECT * FROM (" BY_CLINIC ") t", BY_CLINIC,
     "SELECT * FROM (SELECT * FROM brume_answer_0) t"},
    {"WITH g AS (" BY_CLINIC ") SELECT clinic, lag(n) OVER (ORDER BY clinic) FROM g", BY_CLINIC,
     "WITH g AS (SELECT * FROM brume_answer_0) SELECT clinic, lag(n) OVER (ORDER BY clinic) FROM g"},
    /* the same twice is asked once */
    {"SELECT a.n FROM (" BY_CLINIC ") a JOIN (select clinic,count( * ) as n from visits group by "
     "clinic) b USING (clinic)",
     BY_CLINIC,
     "SELECT a.n FROM (SELECT * FROM brume_answer_0) a JOIN (SELECT * FROM brume_answer_0) b USING "
     "(clinic)"},
    {BY_CLINIC " UNION ALL SELECT 'all', count(*) FROM visits",
     BY_CLINIC "|SELECT 'all', count(*) FROM visits",
     "SELECT * FROM brume_answer_0 UNION ALL SELECT * FROM brume_answer_1"},
    {"SELECT c.region, g.n FROM clinics c JOIN (" BY_CLINIC ") g USING (clinic)", BY_CLINIC,
     "SELECT c.region, g.n FROM clinics c JOIN (SELECT * FROM brume_answer_0) g USING (clinic)"},
    {"WITH g AS (" BY_CLINIC ") SELECT clinic FROM g WHERE n > (SELECT avg(n) FROM g)", BY_CLINIC,
     "WITH g AS (SELECT * FROM brume_answer_0) SELECT clinic FROM g WHERE n > (SELECT avg(n) FROM "
     "g)"},
    /* rows of protected tables go into the inner queries that name them, and nowhere else */
    {"WITH o AS (" OLD
     "), g AS (SELECT clinic, count(*) AS n FROM o GROUP BY clinic) SELECT * FROM "
     "g ORDER BY n",
     "WITH o AS (" OLD ") SELECT clinic, count(*) AS n FROM o GROUP BY clinic",
     "WITH g AS (SELECT * FROM brume_answer_0) SELECT * FROM g ORDER BY n"},
    {"WITH o AS (" OLD
     "), p AS (SELECT * FROM o WHERE cost > 9), g AS (SELECT clinic, count(*) AS n "
     "FROM p GROUP BY clinic) SELECT n FROM g",
     "WITH o AS (" OLD
     "), p AS (SELECT * FROM o WHERE cost > 9) SELECT clinic, count(*) AS n FROM p "
     "GROUP BY clinic",
     "WITH g AS (SELECT * FROM brume_answer_0) SELECT n FROM g"},
    {"WITH o AS (" OLD ") SELECT * FROM (SELECT clinic, count(*) FROM o GROUP BY clinic) t, o",
     NULL, NULL},
    /* what is a query as a whole is one */
    {"SELECT * FROM (SELECT count(*) AS c FROM (SELECT patient, count(*) AS n FROM visits GROUP BY "
     "patient) p WHERE n > 2) t",
     "SELECT count(*) AS c FROM (SELECT patient, count(*) AS n FROM visits GROUP BY patient) p WHERE n "
     "> 2",
     "SELECT * FROM (SELECT * FROM brume_answer_0) t"},
    /* protected rows outside of all inner queries */
    {"SELECT * FROM visits", NULL, NULL},
    {"SELECT v.age, g.n FROM visits v JOIN (" BY_CLINIC ") g USING (clinic)", NULL, NULL},
    {"SELECT clinic FROM (" BY_CLINIC
     ") g WHERE n > (SELECT max(age) FROM visits v WHERE v.clinic = "
     "g.clinic)",
     NULL, NULL},
    {"SELECT n FROM (" BY_CLINIC ") g WHERE EXISTS (SELECT 1 FROM visits)", NULL, NULL},
    {"SELECT n FROM (" BY_CLINIC ") g WHERE clinic IN (SELECT clinic FROM visits WHERE age > 9)",
     NULL, NULL},
    /* cut at GROUP BY, where what is made of the groups is not for a query by itself */
    {"SELECT clinic, lag(count(*)) OVER (ORDER BY clinic), count(*) - min(age) AS d FROM visits WHERE "
     "age > 9 GROUP BY 1 HAVING count(*) > 7 ORDER BY d, upper(clinic) LIMIT 3",
     "SELECT clinic AS clinic, count(*) AS value_2, min(age) AS value_3 FROM visits WHERE age > 9 "
     "GROUP BY clinic",
     "SELECT clinic AS clinic, lag(value_2) OVER (ORDER BY clinic) AS lag, value_2 - value_3 AS d FROM "
     "brume_answer_0 WHERE value_2 > 7 ORDER BY d, upper(clinic) LIMIT 3"},
    {"SELECT md5(v.clinic) AS clinic, count(*) AS n, ntile(2) OVER (ORDER BY count(*)) FROM visits v "
     "GROUP BY v.clinic",
     "SELECT v.clinic AS key_1, count(*) AS n FROM visits v GROUP BY v.clinic",
     "SELECT md5(key_1) AS clinic, n AS n, ntile(2) OVER (ORDER BY n) AS ntile FROM brume_answer_0"},
    {"SELECT age / 10 AS clinic, lead(count(*)) OVER (ORDER BY age / 10) AS n FROM visits GROUP BY clinic",
     "SELECT age / 10 AS clinic, count(*) AS value_2 FROM visits GROUP BY age / 10",
     "SELECT clinic AS clinic, lead(value_2) OVER (ORDER BY clinic) AS n FROM brume_answer_0"},
    {"SELECT clinic, lag(count(*)) OVER w FROM visits GROUP BY ALL WINDOW w AS (ORDER BY clinic)",
     "SELECT clinic AS clinic, count(*) AS value_2 FROM visits GROUP BY clinic",
     "SELECT clinic AS clinic, lag(value_2) OVER w AS lag FROM brume_answer_0 WINDOW w AS (ORDER BY "
     "clinic)"},
    {"WITH t AS (SELECT clinic, lag(count(*)) OVER (ORDER BY clinic) AS n FROM visits GROUP BY clinic) "
     "SELECT * FROM t",
     "SELECT clinic AS clinic, count(*) AS value_2 FROM visits GROUP BY clinic",
     "WITH t AS (SELECT clinic AS clinic, lag(value_2) OVER (ORDER BY clinic) AS n FROM brume_answer_0) "
     "SELECT * FROM t"},
    /* a subquery in an aggregate goes with it, any other stays */
    {"SELECT lag(count(*)) OVER (ORDER BY clinic), (SELECT max(region) FROM clinics) AS m FROM visits "
     "GROUP BY clinic",
     "SELECT clinic AS key_1, count(*) AS value_2 FROM visits GROUP BY clinic",
     "SELECT lag(value_2) OVER (ORDER BY key_1) AS lag, (SELECT max(region) FROM clinics) AS m FROM "
     "brume_answer_0"},
    /* neither grouped nor aggregated: rows of persons */
    {"SELECT age, lag(count(*)) OVER (ORDER BY clinic) FROM visits GROUP BY clinic", NULL, NULL},
    {"SELECT lag(count(*)) OVER (ORDER BY age) FROM visits GROUP BY clinic", NULL, NULL},
    {"SELECT clinic, lag(count(*)) OVER (ORDER BY clinic) FROM visits GROUP BY clinic HAVING age > 3",
     NULL, NULL},
    {"SELECT lag(age) OVER (ORDER BY clinic) FROM visits", NULL, NULL},
    {"SELECT lag(count(*)) OVER (ORDER BY patient) FROM visits GROUP BY patient", NULL, NULL},
    /* groups that are persons */
    {"SELECT n, rank() OVER (ORDER BY n) FROM (SELECT patient, count(*) AS n FROM visits GROUP BY "
     "patient) t",
     NULL, NULL},
    /* a name of WITH hides a table, but only where it is seen */
    {"WITH visits AS (SELECT clinic AS k FROM clinics) SELECT k FROM visits", NULL, NULL},
    {"SELECT * FROM (WITH visits AS (SELECT clinic FROM clinics) SELECT clinic FROM visits) a, "
     "visits",
     NULL, NULL},
    {"WITH clinics AS (SELECT clinic AS region FROM visits) SELECT region, n FROM clinics, (" BY_CLINIC
     ") g",
     NULL, NULL},
};

static char *joined(const brume_inner_queries *inner)
{
    static char text[2000];
    text[0] = 0;
    for (size_t i = 0; i < inner->count; i++) {
        strcat(text, i ? "|" : "");
        strcat(text, inner->inner[i]);
    }
    return text;
}

static void inner_queries_are_found_in_the_tree(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof splits / sizeof *splits; i++) {
        brume_sql *sql = NULL;
        brume_inner_queries inner;
        brume_error why, error = {0};
        bool found = false;
        char *outer = NULL;
        assert_ok(brume_sql_parse(splits[i].sql, &sql, &error));
        assert_ok(brume_sql_split_released(sql, &clinic_catalog, is_query, NULL, &inner, &found,
                                           &why, &error));
        if (found != (splits[i].inner != NULL))
            fail_msg("%s: %s", splits[i].sql, found ? joined(&inner) : "not found");
        if (found) {
            assert_string_equal(joined(&inner), splits[i].inner);
            assert_ok(brume_public_text(brume_sql_tree(sql), &outer, &error));
            assert_string_equal(outer, splits[i].outer);
        }
        free(outer);
        brume_released_clear(&inner);
        brume_sql_close(sql);
    }
}

/* ---- what is in reach ---- */

static brume_status ignore(void *context, const brume_text *row, size_t columns, brume_error *error)
{
    (void)context, (void)row, (void)columns, (void)error;
    return BRUME_OK;
}

/* Whatever the list of functions lets pass: here nothing is checked before. */
static void the_database_has_nothing_but_its_tables(void **state)
{
    (void)state;
    static const char *const reaching[] = {
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT content FROM read_text('/etc/passwd')",
        "SELECT file FROM glob('/etc/*')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM read_parquet('https://example.org/a.parquet')",
        "SELECT * FROM sniff_csv('/etc/passwd')",
        "COPY (SELECT 1) TO '/tmp/brume-written'",
        "ATTACH '/tmp/brume-attached'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET memory_limit = '10GB'",
        "CREATE TABLE t AS SELECT 1",
        "SELECT '1'; SELECT '2'",
        "SELECT * FROM visits",
    };
    brume_memory *memory = NULL;
    brume_error error = {0};
    assert_ok(brume_memory_open(NULL, NULL, &memory, &error));
    for (size_t i = 0; i < sizeof reaching / sizeof *reaching; i++)
        if (brume_memory_select(memory, reaching[i], 10, ignore, NULL, &error) == BRUME_OK)
            fail_msg("it ran: %s", reaching[i]);
    assert_ok(brume_memory_select(memory, "SELECT 'a'", 10, ignore, NULL, &error));
    brume_memory_close(memory);
}

static void work_without_end_is_ended(void **state)
{
    (void)state;
    brume_memory *memory = NULL;
    brume_error error = {0};
    double start = brume_memory_clock();
    assert_ok(brume_memory_open(NULL, NULL, &memory, &error));
    assert_int_equal(
        brume_memory_select(memory,
                            "SELECT CAST(count(*) AS VARCHAR) FROM range(1000000000) a, "
                            "range(1000000000) b WHERE a.range * b.range % 7 = 3",
                            0.2, ignore, NULL, &error),
        BRUME_EUNSUPPORTED);
    assert_non_null(strstr(error.message, "too long"));
    assert_true(brume_memory_clock() - start < 60);
    brume_memory_close(memory);
}

/* ---- asking ---- */

/* A row is a unit; so many rows of each kind. */
static void open_rows(registered *all, const int rows[3], brume_adjacency adjacency, uint64_t seed)
{
    const registered_terms terms = {"things", BRUME_RULE_PURE, "100", NULL, adjacency};
    static const char *const kinds[] = {"a", "b", "c"};
    brume_error error = {0};
    FILE *file = registered_begin(all);
    fputs("k,v\n", file);
    for (int kind = 0; kind < 3; kind++)
        for (int i = 0; i < rows[kind]; i++)
            fprintf(file, "%s,%d\n", kinds[kind], i % 10);
    registered_open(all, file, seed);
    brume_policy *policy = registered_file(all->csv, "k text, v bigint");
    assert_ok(brume_policy_set_domain(policy, "k", kinds, 3, &error));
    assert_ok(brume_policy_set_bounds(policy, "v", "0", "10", &error));
    registered_enter(all->ledger, policy, &terms);
}

static json_t *ask(registered *all, const char *sql, const char *epsilon)
{
    const brume_payment payment = {.epsilon = epsilon};
    brume_error error = {0};
    json_t *answer = NULL;
    if (ask_json(all->ledger, sql, &payment, NULL, all->bits, NULL, &answer, &error) != BRUME_OK)
        fail_msg("%s: %s (%s)", sql, error.message, error.hint);
    return answer;
}

static double spent(registered *all)
{
    brume_dataset *dataset = NULL;
    brume_charge left;
    brume_error error = {0};
    assert_ok(brume_ledger_dataset(all->ledger, "things", &dataset, &error));
    assert_ok(brume_ledger_left(all->ledger, dataset, &left, &error));
    brume_dataset_close(dataset);
    return 100 - brume_decimal_lower(&left.amount);
}

#define COUNTS "SELECT k, COUNT(*) AS n FROM things GROUP BY k"
#define SUMS   "SELECT k, SUM(v) AS s FROM things GROUP BY k"
static const char both[] = "SELECT a.k, a.n, b.s, b.s / a.n AS mean FROM (" COUNTS ") a JOIN (" SUMS
                           ") b USING (k) ORDER BY a.k";
static const int some[3] = {40, 50, 60};

static double number_at(const json_t *rows, size_t row, size_t column)
{
    return json_number_value(json_array_get(json_array_get(rows, row), column));
}

/* What inner queries release at this tape is what they release when each is typed alone. */
static void inner_answers_are_those_of_the_queries_alone(void **state)
{
    (void)state;
    registered together, alone;
    open_rows(&together, some, BRUME_ADD_REMOVE, 5);
    open_rows(&alone, some, BRUME_ADD_REMOVE, 5);
    json_t *answer = ask(&together, both, "0.5");
    json_t *first = ask(&alone, COUNTS, "0.25"), *second = ask(&alone, SUMS, "0.25");
    const json_t *stages = json_object_get(answer, "stages");
    assert_int_equal(json_array_size(stages), 2);
    assert_true(json_equal(json_object_get(json_array_get(stages, 0), "rows"),
                           json_object_get(first, "rows")));
    assert_true(json_equal(json_object_get(json_array_get(stages, 1), "rows"),
                           json_object_get(second, "rows")));
    assert_true(json_is_true(json_object_get(answer, "post_processed")));
    const json_t *rows = json_object_get(answer, "rows");
    for (size_t i = 0; i < 3; i++) {
        double n = number_at(json_object_get(first, "rows"), i, 1);
        double s = number_at(json_object_get(second, "rows"), i, 1);
        assert_true(number_at(rows, i, 1) == n && number_at(rows, i, 2) == s);
        assert_true(fabs(number_at(rows, i, 3) - s / n) < 1e-12);
    }
    assert_true(spent(&together) == spent(&alone));
    json_decref(answer);
    json_decref(first);
    json_decref(second);
    registered_close(&together);
    registered_close(&alone);
}

/* A query that is cut at its GROUP BY releases and costs what its groups do, typed alone. */
static void groups_are_those_of_the_query_alone(void **state)
{
    (void)state;
    registered cut, alone;
    open_rows(&cut, some, BRUME_REPLACE, 6);
    open_rows(&alone, some, BRUME_REPLACE, 6);
    json_t *answer =
        ask(&cut,
            "SELECT upper(k) AS name, COUNT(*) AS n, SUM(v) - LAG(SUM(v)) OVER (ORDER BY k) "
            "AS d FROM things GROUP BY k",
            "0.5");
    json_t *groups = ask(&alone, "SELECT k, COUNT(*), SUM(v) FROM things GROUP BY k", "0.5");
    const json_t *rows = json_object_get(answer, "rows"), *of = json_object_get(groups, "rows");
    for (size_t i = 0; i < 3; i++) {
        assert_true(number_at(rows, i, 1) == number_at(of, i, 1));
        if (i > 0)
            assert_true(number_at(rows, i, 2) == number_at(of, i, 2) - number_at(of, i - 1, 2));
    }
    assert_true(spent(&cut) == spent(&alone) && spent(&cut) > 0.49);
    json_decref(answer);
    json_decref(groups);
    registered_close(&cut);
    registered_close(&alone);
}

/* ---- privacy by replay ---- */

/* The scale of a stage's Laplace noise: its bar is ln 20 of them, rounded up by 1e-9 at most. */
static double scale_of(const json_t *stage)
{
    const json_t *column = json_array_get(json_object_get(stage, "columns"), 1);
    return json_number_value(json_object_get(column, "error_95")) / log(20);
}

/* The loss between two replays with the same noise: what inner queries moved, in their scales. */
static double loss_between(const json_t *a, const json_t *b)
{
    double loss = 0;
    for (size_t i = 0; i < json_array_size(a); i++) {
        const json_t *x = json_array_get(a, i), *y = json_array_get(b, i);
        for (size_t row = 0; row < 3; row++)
            loss += fabs(number_at(json_object_get(x, "rows"), row, 1) -
                         number_at(json_object_get(y, "rows"), row, 1)) /
                    scale_of(x);
    }
    return loss;
}

/* The answers of inner queries to `sql` on a table, or, as the mutant has it, of each query alone
 * at the whole price. */
static json_t *replay(const int rows[3], brume_adjacency adjacency, uint64_t seed, bool mutant)
{
    registered all;
    json_t *stages;
    open_rows(&all, rows, adjacency, seed);
    if (mutant) {
        stages = json_pack("[o,o]", ask(&all, COUNTS, "0.5"), ask(&all, SUMS, "0.5"));
    } else {
        json_t *answer = ask(&all, both, "0.5");
        stages = json_incref(json_object_get(answer, "stages"));
        json_decref(answer);
    }
    registered_close(&all);
    return stages;
}

/* The largest loss over neighbours: a row of v = 9 more, or of another kind. It is the same in both
 * directions, because the noise is. */
static double worst_loss(brume_adjacency adjacency, bool mutant)
{
    static const int more[][3] = {{50, 50, 60}, {40, 60, 60}, {40, 50, 70}};
    double worst = 0;
    for (size_t i = 0; i < 3; i++) {
        int a[3], b[3];
        memcpy(a, more[i], sizeof a);
        memcpy(b, more[i], sizeof b);
        b[i]--; /* the last row of kind i has v = 9 */
        if (adjacency == BRUME_REPLACE)
            a[(i + 1) % 3]--;
        json_t *x = replay(a, adjacency, i + 1, mutant), *y = replay(b, adjacency, i + 1, mutant);
        worst = fmax(worst, loss_between(x, y));
        json_decref(x);
        json_decref(y);
    }
    return worst;
}

static void neighbours_lose_no_more_than_the_price(void **state)
{
    (void)state;
    static const brume_adjacency both_kinds[] = {BRUME_ADD_REMOVE, BRUME_REPLACE};
    for (size_t i = 0; i < 2; i++) {
        double loss = worst_loss(both_kinds[i], false), broken = worst_loss(both_kinds[i], true);
        if (loss > 0.5 * (1 + 1e-6))
            fail_msg("adjacency %zu: loss %.9g of 0.5", i, loss);
        assert_true(loss > 0.5 * 0.9);          /* it is nearly all used */
        assert_true(broken > 0.5 * (1 + 1e-6)); /* the whole price for each is found */
    }
}

/* ---- paying ---- */

static void what_stands_there_twice_is_paid_once(void **state)
{
    (void)state;
    registered all;
    open_rows(&all, some, BRUME_ADD_REMOVE, 6);
    json_t *answer =
        ask(&all, "SELECT a.n - b.n AS d FROM (" COUNTS ") a JOIN (" COUNTS ") b USING (k)", "1");
    assert_true(fabs(spent(&all) - 1) < 1e-9);
    assert_int_equal(json_array_size(json_object_get(answer, "stages")), 1);
    for (size_t i = 0; i < 3; i++)
        assert_true(number_at(json_object_get(answer, "rows"), i, 0) == 0);
    json_decref(answer);
    /* other SQL around the same inner queries is free, and the inner query alone was paid */
    answer = ask(&all, "SELECT SUM(n) FROM (" COUNTS ") a", "1");
    assert_true(json_is_true(json_object_get(answer, "cached")));
    json_decref(answer);
    answer = ask(&all, COUNTS, "1");
    assert_true(json_is_true(json_object_get(answer, "cached")));
    json_decref(answer);
    assert_true(fabs(spent(&all) - 1) < 1e-9);
    registered_close(&all);
}

static void an_inner_query_may_be_a_single_number(void **state)
{
    (void)state;
    registered all;
    open_rows(&all, some, BRUME_ADD_REMOVE, 11);
    json_t *answer = ask(
        &all, "SELECT k, n / (SELECT COUNT(*) FROM things) AS share FROM (" COUNTS ") t ORDER BY k",
        "50");
    assert_int_equal(json_array_size(json_object_get(answer, "rows")), 3);
    assert_true(fabs(number_at(json_object_get(answer, "rows"), 0, 1) - 40 / 150.0) < 0.05);
    json_decref(answer);
    registered_close(&all);
}

static void a_free_reading_has_the_same_bars(void **state)
{
    (void)state;
    registered all;
    open_rows(&all, some, BRUME_ADD_REMOVE, 7);
    json_t *first = ask(&all, both, "1"), *again = ask(&all, both, "1");
    assert_true(json_equal(json_object_get(first, "rows"), json_object_get(again, "rows")));
    assert_true(
        json_equal(json_object_get(first, "rows_bar_95"), json_object_get(again, "rows_bar_95")));
    assert_true(json_is_true(json_object_get(again, "cached")));
    /* a number that is passed on has the bar that it was released with */
    const json_t *stage = json_array_get(json_object_get(first, "stages"), 0);
    const json_t *bar =
        json_object_get(json_array_get(json_object_get(stage, "columns"), 1), "bar_95");
    assert_true(number_at(json_object_get(first, "rows_bar_95"), 0, 1) == json_number_value(bar));
    json_decref(first);
    json_decref(again);
    registered_close(&all);
}

static void refuse(registered *all, const char *sql, const char *message)
{
    const brume_payment payment = {.epsilon = "1"};
    brume_error error = {0};
    json_t *answer = NULL;
    if (ask_json(all->ledger, sql, &payment, NULL, all->bits, NULL, &answer, &error) == BRUME_OK)
        fail_msg("answered: %s", sql);
    if (!strstr(error.message, message))
        fail_msg("%s: %s", sql, error.message);
}

static void what_is_refused_is_refused_for_nothing(void **state)
{
    (void)state;
    registered all;
    open_rows(&all, some, BRUME_ADD_REMOVE, 8);
    refuse(&all, "SELECT read_text(k) FROM (" COUNTS ") t", "read_text");
    refuse(&all, "SELECT k, random() FROM (" COUNTS ") t", "random");
    refuse(&all, "SELECT * FROM (" COUNTS ") t, read_csv('a.csv')", "RangeFunction");
    refuse(&all, "SELECT m FROM (" COUNTS ") t", "no column 'm'");
    refuse(&all, "SELECT k + n FROM (" COUNTS ") t WHERE starts_with(n, 3)", "starts_with");
    refuse(&all, "SELECT * FROM (SELECT k, COUNT(*), COUNT(*) AS count FROM things GROUP BY k) t",
           "two columns of the name 'count'");
    refuse(&all, "SELECT a.n FROM (" COUNTS ") a, things", "");
    refuse(&all,
           "WITH g AS (SELECT k, string_agg(k, ',') AS x FROM things GROUP BY k) SELECT * FROM g",
           "string_agg");
    assert_true(spent(&all) == 0);
    registered_close(&all);
}

/* The outer SQL may fail on released numbers only: the inner answers are there then. */
static void a_failure_after_paying_leaves_the_answers(void **state)
{
    (void)state;
    registered all;
    open_rows(&all, some, BRUME_ADD_REMOVE, 9);
    refuse(&all, "SELECT DISTINCT CAST(n * 1000 AS smallint) FROM (" COUNTS ") t",
           "with other SQL around them they are free");
    assert_true(fabs(spent(&all) - 1) < 1e-9);
    json_t *answer = ask(&all, "SELECT CAST(n * 1000 AS bigint) FROM (" COUNTS ") t", "1");
    assert_true(json_is_true(json_object_get(answer, "cached")));
    json_decref(answer);
    assert_true(fabs(spent(&all) - 1) < 1e-9);
    registered_close(&all);
}

static void the_budget_must_carry_all_of_them(void **state)
{
    (void)state;
    const brume_payment payment = {.epsilon = "160"};
    registered all;
    brume_error error = {0};
    json_t *answer = NULL;
    open_rows(&all, some, BRUME_ADD_REMOVE, 10);
    assert_int_equal(ask_json(all.ledger, both, &payment, NULL, all.bits, NULL, &answer, &error),
                     BRUME_EBUDGET);
    assert_true(spent(&all) == 0);
    registered_close(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inner_queries_are_found_in_the_tree),
        cmocka_unit_test(the_database_has_nothing_but_its_tables),
        cmocka_unit_test(work_without_end_is_ended),
        cmocka_unit_test(inner_answers_are_those_of_the_queries_alone),
        cmocka_unit_test(groups_are_those_of_the_query_alone),
        cmocka_unit_test(neighbours_lose_no_more_than_the_price),
        cmocka_unit_test(what_stands_there_twice_is_paid_once),
        cmocka_unit_test(an_inner_query_may_be_a_single_number),
        cmocka_unit_test(a_free_reading_has_the_same_bars),
        cmocka_unit_test(what_is_refused_is_refused_for_nothing),
        cmocka_unit_test(a_failure_after_paying_leaves_the_answers),
        cmocka_unit_test(the_budget_must_carry_all_of_them),
    };
    return cmocka_run_group_tests_name("released tables", tests, NULL, NULL);
}
