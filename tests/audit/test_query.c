/* The auditor of SQL: sound queries are acquitted, broken ones caught, and neither the data nor the
 * budget is touched. */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/query/neighbours.h"
#include "audit/query/query_subject.h"
#include "chance.h"
#include "postgresql.h"
#include "query/release/ask.h"
#include "query/plan/make_plan.h"
#include "query/plan/tables.h"
#include "registered.h"

typedef enum where { FILES, SERVER, FILES_WITHOUT_CEILINGS } where;

/* Visits of people, registered, with three rows and two groups of a person that count. Then the
 * file or the table is removed: whoever opens it fails. */
static void open_place(registered *all, where from, brume_adjacency adjacency)
{
    registered_terms terms = {"visits", BRUME_RULE_APPROXIMATE, "1", "0.00001", adjacency};
    static const char *const wards[] = {"a", "b", "c"};
    brume_error error = {0};
    FILE *file = registered_begin(all);
    fputs("person,ward,age\np1,a,30\np2,b,40\n", file);
    registered_open(all, file, 20);
    const brume_source table = {.location = getenv("BRUME_TEST_POSTGRESQL"), .table = "visits"};
    if (from == SERVER)
        postgresql_run("CREATE TABLE visits (person text, ward text, age bigint)");
    brume_policy *policy = from == SERVER ? registered_policy(&table)
                                          : registered_file(all->csv, "age bigint");
    assert_ok(brume_policy_set_unit(policy, "person", &error));
    assert_ok(brume_policy_set_bounds(policy, "age", "0", "100", &error));
    assert_ok(brume_policy_set_domain(policy, "ward", wards, 3, &error));
    policy->max_groups = from == FILES_WITHOUT_CEILINGS ? 0 : 2;
    policy->max_rows = from == FILES_WITHOUT_CEILINGS ? 0 : 3;
    registered_enter(all->ledger, policy, &terms);
    assert_int_equal(unlink(all->csv), 0);
    if (from == SERVER)
        postgresql_run("DROP TABLE visits");
}

static brume_plan *plan_at(const brume_question *question, const char *epsilon)
{
    brume_error error = {0};
    brume_payment payment = {.epsilon = epsilon};
    brume_plan *plan = NULL;
    assert_ok(brume_query_plan_make(question->query, question->tables, &payment, &plan, &error));
    return plan;
}

/* What may be broken on the way. */
typedef enum fault { SOUND, UNDERSTATED } fault;

/* The lower bound of epsilon for `sql` at epsilon 1. */
static double audit(const registered *all, const char *sql, fault broken, size_t samples,
                    double confidence)
{
    brume_error error = {0};
    brume_question *question = NULL;
    brume_query_subject *subject = NULL;
    brume_audit_result result;
    assert_ok(brume_question_open(all->ledger, sql, &question, &error));
    brume_plan *plan = plan_at(question, broken == UNDERSTATED ? "8" : "1");
    brume_terms *terms = NULL;
    assert_ok(brume_terms_make(plan, NULL, 0, &terms, &error));
    brume_query_lane lane = {question, terms};
    brume_audit_options options = {.samples = samples,
                                   .confidence = confidence,
                                   .delta = brume_decimal_upper(&plan->charge.delta),
                                   .epsilon = 1,
                                   .ordered = true};
    assert_ok(brume_query_subject_open(&lane, 1, sql, &options, all->bits, NULL, &subject, &error));
    assert_ok(brume_audit_epsilon(brume_query_subject_draw, subject, &options, all->bits, &result,
                                  &error));
    brume_query_subject_close(subject);
    brume_terms_close(terms);
    brume_query_plan_close(plan);
    brume_question_close(question);
    return result.epsilon_lower;
}

static const char COUNT[] = "SELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward";
static const char SUM[] = "SELECT SUM(age) FROM visits WHERE age >= 50";

static uint64_t queries(const registered *all)
{
    brume_error error = {0};
    brume_dataset *dataset = NULL;
    assert_ok(brume_ledger_dataset(all->ledger, "visits", &dataset, &error));
    uint64_t count = dataset->queries;
    brume_dataset_close(dataset);
    return count;
}

static void a_sound_query_is_acquitted_and_costs_nothing(void **state)
{
    (void)state;
    registered all;
    open_place(&all, FILES, BRUME_REPLACE);
    double confidence = 1 - false_alarm_share(false_alarm_query_audits);
    assert_holds(audit(&all, SUM, SOUND, 100, confidence) <= 1);
    assert_int_equal(queries(&all), 0);
    registered_close(&all);
}

static void what_is_released_is_found_to_differ(void **state)
{
    (void)state;
    registered all;
    open_place(&all, FILES, BRUME_ADD_REMOVE);
    /* an auditor that sees nothing would acquit everything */
    assert_holds(audit(&all, SUM, SOUND, 1000, 0.99) > 0.2);
    registered_close(&all);
}

static void broken_queries_are_caught(void **state)
{
    (void)state;
    registered all;
    open_place(&all, FILES, BRUME_ADD_REMOVE);
    assert_holds(audit(&all, SUM, UNDERSTATED, 200, 1 - 1e-6) > 1);
    registered_close(&all);
}

/* A number of rows moves by all but one of the limit where a unit of many rows takes the place of
 * one of a single row, and not at all where the limit is 1. */
static void numbers_of_rows_are_seen_to_move_under_replace(void **state)
{
    (void)state;
    registered all;
    open_place(&all, FILES_WITHOUT_CEILINGS, BRUME_REPLACE);
    assert_holds(audit(&all, "SELECT COUNT(*) FROM visits", SOUND, 2000, 0.99) > 0.1);
    registered_close(&all);
}

/* The rows of a database, as text in the engine's order. */
static brume_query_answer *answer_on(const registered *all, const brume_question *question,
                                     brume_neighbours *pair, bool second)
{
    brume_error error = {0};
    brume_plan *sharp = plan_at(question, "600");
    brume_terms *terms = NULL;
    brume_released released = {0};
    brume_engine *engine = NULL;
    assert_ok(brume_terms_make(sharp, NULL, 0, &terms, &error));
    assert_ok(brume_neighbours_engine(pair, 0, second, &engine, &error));
    assert_ok(brume_draw_answer(question, terms, engine, all->bits, NULL, &released, &error));
    brume_terms_close(released.terms);
    brume_terms_close(terms);
    brume_query_plan_close(sharp);
    return released.answer;
}

static void neighbours_differ_by_one_unit(void **state)
{
    (void)state;
    static const char sql[] = "SELECT COUNT(DISTINCT person) FROM visits";
    for (int i = 0; i < 4; i++) {
        int replace = i % 2;
        registered all;
        brume_error error = {0};
        brume_question *question = NULL;
        brume_adjacency adjacency = replace ? BRUME_REPLACE : BRUME_ADD_REMOVE;
        open_place(&all, i < 2 ? FILES : SERVER, adjacency);
        assert_ok(brume_question_open(all.ledger, sql, &question, &error));
        brume_recipe_hints hints = {.threshold = 5,
                                    .epsilon = 1,
                                    .limits = true,
                                    .replace = replace != 0,
                                    .means = true,
                                    .quantiles = true,
                                    .quantile = .5};
        size_t stride = i < 2 ? 1 : 4; /* the rows are the same, only their place is another */
        for (size_t number = 0; number < brume_neighbours_count(question, &hints);
             number += stride) {
            brume_neighbours *pair = NULL;
            int64_t units[2];
            assert_ok(
                brume_neighbours_open(question, adjacency, sql, &hints, number, &pair, &error));
            for (int second = 0; second < 2; second++) {
                brume_query_answer *answer = answer_on(&all, question, pair, second != 0);
                units[second] = (int64_t)answer->values[0].number;
                brume_query_answer_close(answer);
            }
            assert_int_equal(units[1] - units[0], replace ? 0 : 1);
            brume_neighbours_close(pair);
        }
        brume_question_close(question);
        registered_close(&all);
    }
}

/* ---- links ---- */

/* Two tables of one dataset: lines are linked to customers by a key that is not the unit. */
static void open_links(registered *all, brume_adjacency adjacency)
{
    static const char declared[] = "unit bigint, ckey bigint, lkey bigint, x bigint";
    brume_error error = {0};
    brume_decimal epsilon;
    brume_filter filter;
    FILE *file = registered_begin(all);
    fputs("unit,ckey,lkey,x\n1,1,1,1\n", file);
    registered_open(all, file, 21);
    brume_tables *tables = brume_tables_open(2);
    assert_non_null(tables);
    tables->is_listed = true;
    for (size_t t = 0; t < 2; t++) {
        tables->list[t].name = strdup(t == 0 ? "customers" : "lines");
        tables->list[t].policy = registered_file(all->csv, declared);
        assert_ok(brume_policy_set_bounds(tables->list[t].policy, "x", "0", "100", &error));
    }
    assert_ok(brume_policy_set_unit(tables->list[0].policy, "unit", &error));
    assert_ok(brume_policy_set_link(tables->list[1].policy, "lkey", "customers", "ckey", &error));
    assert_ok(brume_tables_check(tables, &error));
    assert_ok(brume_decimal_parse("1", &epsilon, &error));
    assert_ok(brume_filter_make(BRUME_RULE_PURE, &epsilon, NULL, NULL, &filter, &error));
    json_t *json = brume_tables_to_json(tables);
    brume_registration registration = {.name = "shop",
                                       .source = all->csv,
                                       .data_version = "1",
                                       .adjacency = adjacency,
                                       .filter = &filter,
                                       .policy = json};
    assert_ok(brume_ledger_register(all->ledger, &registration, &error));
    json_decref(json);
    brume_tables_close(tables);
}

/* A whole number that the engine works out of customers c and their lines l. */
static int64_t number_of(brume_neighbours *pair, const brume_question *question, bool second,
                         const char *what)
{
    brume_error error = {0};
    brume_engine *engine = NULL;
    brume_rows *rows = NULL;
    const brume_chunk *chunk = NULL;
    brume_wire wire = BRUME_WIRE_INTEGER;
    char *sql = NULL;
    size_t lines = question->policies[0]->link_column ? 0 : 1;
    assert_ok(brume_neighbours_engine(pair, 0, second, &engine, &error));
    assert_true(asprintf(&sql,
                         "SELECT CAST(COALESCE(%s, 0) AS BIGINT) FROM %s AS c LEFT JOIN %s AS l "
                         "ON c.ckey = l.lkey",
                         what, brume_engine_table(engine, 1 - lines),
                         brume_engine_table(engine, lines)) > 0);
    assert_ok(brume_engine_select(engine, sql, &wire, 1, &rows, &error));
    assert_ok(brume_rows_next(rows, &chunk, &error));
    assert_non_null(chunk);
    int64_t number = chunk->columns[0].integers[0];
    brume_rows_close(rows);
    free(sql);
    return number;
}

/* What others own is the same in both databases, also where the unit that differs owns it too. */
static void what_others_own_by_links_stays(void **state)
{
    (void)state;
    static const char sql[] = "SELECT COUNT(*) FROM lines l JOIN customers c ON l.lkey = c.ckey";
    static const char others[] =
        "SUM(hash(c.unit, c.x, l.x) % 1000003) FILTER (WHERE c.unit <> 90)";
    static const char shared[] =
        "COUNT(DISTINCT l.lkey) FILTER (WHERE c.unit = 90 AND l.lkey <> 90)";
    for (int replace = 0; replace < 2; replace++) {
        registered all;
        brume_error error = {0};
        brume_question *question = NULL;
        brume_adjacency adjacency = replace ? BRUME_REPLACE : BRUME_ADD_REMOVE;
        open_links(&all, adjacency);
        assert_ok(brume_question_open(all.ledger, sql, &question, &error));
        assert_true(brume_neighbours_share(question));
        brume_recipe_hints hints = {
            .epsilon = 1, .limits = true, .replace = replace, .shared = true};
        int64_t most = 0;
        for (size_t i = 0; i < brume_neighbours_count(question, &hints); i++) {
            brume_neighbours *pair = NULL;
            assert_ok(brume_neighbours_open(question, adjacency, sql, &hints, i, &pair, &error));
            assert_int_equal(number_of(pair, question, false, others),
                             number_of(pair, question, true, others));
            int64_t own = number_of(pair, question, true, shared);
            most = own > most ? own : most;
            brume_neighbours_close(pair);
        }
        assert_true(most >= 40); /* the unit that differs is one of the two owners of so many */
        brume_question_close(question);
        registered_close(&all);
    }
}

static void broken_queries_are_caught_on_a_server_too(void **state)
{
    (void)state;
    registered all;
    open_place(&all, SERVER, BRUME_ADD_REMOVE);
    assert_holds(audit(&all, COUNT, UNDERSTATED, 800, 1 - 1e-6) > 1);
    assert_int_equal(queries(&all), 0);
    registered_close(&all);
}

/* Every type that is read, with bounds, literals and domains that do not fit all of them. */
static void rows_are_made_for_every_type_of_a_server(void **state)
{
    (void)state;
    static const char sql[] =
        "SELECT COUNT(DISTINCT id), COUNT(*) FROM every WHERE s + i + b + n + f + g + h < 1e30 AND "
        "flag AND t || v || c || u || m || z <> 'it''s' AND day <> DATE '2024-02-29' AND at <> "
        "TIMESTAMP '2024-02-29 10:11:12.5' AND zoned > TIMESTAMP '2020-01-01 00:00:00' AND i <> "
        "99999999999 AND t <> '2024-99-99'";
    registered all;
    brume_error error = {0};
    brume_question *question = NULL;
    registered_terms terms = {"every", BRUME_RULE_PURE, "1", NULL, BRUME_ADD_REMOVE};
    registered_open(&all, registered_begin(&all), 21);
    postgresql_run(
        "CREATE TYPE mood AS ENUM ('sad', 'happy'); CREATE TABLE every (id timestamptz NOT "
        "NULL, s smallint, i integer, b bigint, n numeric(4,1), f real, g double precision, h "
        "numeric, flag boolean, t text, v varchar(2), c char(3), u uuid, m mood, z text, day "
        "date, at timestamp, zoned timestamptz, other point)");
    brume_policy *policy = registered_policy(
        &(brume_source){.location = getenv("BRUME_TEST_POSTGRESQL"), .table = "every"});
    static const char *const texts[] = {"", "it's", "\\'; DROP"};
    assert_ok(brume_policy_set_unit(policy, "id", &error));
    assert_ok(brume_policy_set_bounds(policy, "n", "-999.9", "999.9", &error));
    assert_ok(brume_policy_set_domain(policy, "z", texts, 3, &error));
    registered_enter(all.ledger, policy, &terms);
    postgresql_run("DROP TABLE every; DROP TYPE mood");
    assert_ok(brume_question_open(all.ledger, sql, &question, &error));
    brume_recipe_hints hints = {.threshold = 50, .epsilon = 1};
    for (size_t number = 0; number < brume_neighbours_count(question, &hints); number++) {
        brume_neighbours *pair = NULL;
        assert_ok(
            brume_neighbours_open(question, BRUME_ADD_REMOVE, sql, &hints, number, &pair, &error));
        for (int second = 0; second < 2; second++)
            brume_query_answer_close(answer_on(&all, question, pair, second != 0));
        brume_neighbours_close(pair);
    }
    brume_question_close(question);
    registered_close(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_query_is_acquitted_and_costs_nothing),
        cmocka_unit_test(what_is_released_is_found_to_differ),
        cmocka_unit_test(broken_queries_are_caught),
        cmocka_unit_test(numbers_of_rows_are_seen_to_move_under_replace),
        cmocka_unit_test(neighbours_differ_by_one_unit),
        cmocka_unit_test(what_others_own_by_links_stays),
        cmocka_unit_test(broken_queries_are_caught_on_a_server_too),
        cmocka_unit_test(rows_are_made_for_every_type_of_a_server),
    };
    return cmocka_run_group_tests_name("audits of queries", tests, NULL, NULL);
}
