/* The whole release path on both engines: the same rows as a CSV and as a PostgreSQL table, the
 * same seeded tape, the same question: the same answer, to the last digit. And a server that is
 * down answers nothing, and leaves a ledger that holds. */
#include "check.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "ask_json.h"
#include "postgresql.h"
#include "random/tape.h"
#include "registered.h"

enum { CSV, SERVER };

static char folder[64], csv[96];

/* 400 people with one to five visits: numbers with and without fractions, NULLs, rare wards. */
static int prepare(void **state)
{
    (void)state;
    static const char *const wards[] = {"a", "b", "c", "élan", "x,y"};
    char *sql = NULL;
    size_t size = 0;
    snprintf(folder, sizeof folder, "/tmp/brume-agree-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    snprintf(csv, sizeof csv, "%s/visits.csv", folder);
    FILE *file = fopen(csv, "w"), *statement = open_memstream(&sql, &size);
    if (!file || !statement)
        return 1;
    fputs("person,ward,age,weight,day\n", file);
    fputs("CREATE TABLE visits (person text, ward text, age bigint, weight double precision, "
          "day date); INSERT INTO visits VALUES ",
          statement);
    for (int person = 0; person < 400; person++)
        for (int visit = 0; visit <= person % 5; visit++) {
            const char *ward = wards[person % 40 == 0 ? 4 : (person + visit) % 4];
            int age = person * 7 % 110 - 5, day = 1 + (person + visit) % 28;
            bool first = person == 0 && visit == 0, missing = person % 17 == 3;
            double weight = 40 + (person * 13 % 900) / 8.0;
            fprintf(file, "p%03d,\"%s\",", person, ward);
            fprintf(statement, "%s('p%03d','%s',", first ? "" : ",", person, ward);
            char known[16];
            snprintf(known, sizeof known, "%d", age);
            fprintf(file, "%s,%.3f", missing ? "" : known, weight);
            fprintf(statement, "%s,%.3f", missing ? "NULL" : known, weight);
            fprintf(file, ",2024-03-%02d\n", day);
            fprintf(statement, ",'2024-03-%02d')", day);
        }
    if (fclose(file) != 0 || fclose(statement) != 0)
        return 1;
    postgresql_run(sql);
    free(sql);
    return 0;
}

static int tidy(void **state)
{
    (void)state;
    unlink(csv);
    return rmdir(folder);
}

/* A ledger of its own, with the dataset "visits" registered from one of the two sources. */
static brume_ledger *open_registered(int from, uint64_t max_groups, uint64_t max_rows, char *path)
{
    brume_error error = {0};
    brume_ledger *ledger = NULL;
    const brume_source table = {.location = getenv("BRUME_TEST_POSTGRESQL"), .table = "visits"};
    static int made;
    snprintf(path, 96, "%s/%d.db", folder, made++);
    assert_ok(brume_ledger_open(path, BRUME_LEDGER_CREATE, &ledger, &error));
    brume_policy *policy = from == SERVER
                               ? registered_policy(&table)
                               : registered_file(csv, "age bigint, weight double, day date");
    assert_ok(brume_policy_set_unit(policy, "person", &error));
    assert_ok(brume_policy_set_bounds(policy, "age", "0", "100", &error));
    assert_ok(brume_policy_set_bounds(policy, "weight", "30", "150", &error));
    const char *const wards[] = {"a", "b", "c", "élan", "x,y", "empty"};
    assert_ok(brume_policy_set_domain(policy, "ward", wards, 6, &error));
    if (max_groups == 1) /* units are cut: let both say how many */
        assert_ok(brume_policy_set_bias_share(policy, "0.1", &error));
    policy->max_groups = max_groups;
    policy->max_rows = max_rows;
    static const registered_terms terms = {"visits", BRUME_RULE_APPROXIMATE, "1000", "0.1",
                                           BRUME_ADD_REMOVE};
    registered_enter(ledger, policy, &terms);
    return ledger;
}

static void close_registered(brume_ledger *ledger, const char *path)
{
    brume_ledger_close(ledger);
    registered_remove_ledger(path);
}

static const char *const questions[] = {
    "SELECT COUNT(*) FROM visits",
    "SELECT COUNT(DISTINCT person), COUNT(age) FROM visits",
    "SELECT SUM(age), SUM(weight) FROM visits",
    "SELECT AVG(age), AVG(weight) FROM visits",
    "SELECT VAR_POP(age) FROM visits",
    "SELECT MEDIAN(age) FROM visits",
    "SELECT ward, COUNT(*), AVG(weight) FROM visits GROUP BY ward",
    "SELECT ward, PERCENTILE_CONT(ARRAY[.25, .5, .75]) WITHIN GROUP (ORDER BY age) FROM visits "
    "GROUP BY ward",
    "SELECT ward, MODE() WITHIN GROUP (ORDER BY age / 20), MODE() WITHIN GROUP (ORDER BY day) "
    "FROM visits GROUP BY ward",
    "SELECT MODE() WITHIN GROUP (ORDER BY 'ward ' || ward) FROM visits WHERE age > 30",
    "SELECT day, MODE() WITHIN GROUP (ORDER BY weight < 90), COUNT(*) FROM visits GROUP BY day",
    "SELECT DISTINCT age / 10 FROM visits",
    "SELECT VAR_SAMP(age), STDDEV_POP(weight), STDDEV(age) FROM visits",
    "WITH w AS (SELECT person, ward, weight AS kg FROM visits WHERE age IS NOT NULL) SELECT ward, "
    "AVG(kg) AS mean, COUNT(*) FROM w GROUP BY ward HAVING COUNT(*) > 20 ORDER BY mean DESC LIMIT 3",
    "SELECT COUNT(*), SUM(age) FROM visits v WHERE EXISTS (SELECT 1 FROM visits w WHERE w.person = "
    "v.person AND w.ward = 'a' AND w.weight * 2 > 150)",
    "SELECT ward, COUNT(*) FROM visits v WHERE NOT EXISTS (SELECT 1 FROM visits w WHERE w.person = "
    "v.person AND w.day > v.day) GROUP BY ward",
    "SELECT AVG(age) FROM visits WHERE person NOT IN (SELECT person FROM visits GROUP BY person "
    "HAVING COUNT(*) > 3)",
    "SELECT day, COUNT(*), SUM(age) FROM visits GROUP BY day",
    "SELECT date_trunc('week', day), COUNT(*), COUNT(DISTINCT age) FROM visits WHERE day BETWEEN "
    "'2024-03-05' AND '2024-03-20' GROUP BY 1",
    "SELECT monthname(day), dayname(day), COUNT(*) FROM visits GROUP BY 1, 2",
    "SELECT ward, COUNT(*) FROM visits WHERE age > (SELECT AVG(age) FROM visits) GROUP BY ward",
    "SELECT COUNT(*) FROM visits WHERE day < (SELECT MEDIAN(day) FROM visits WHERE weight > 60) AND "
    "weight > 0.5 * (SELECT SUM(weight) / COUNT(*) FROM visits)",
    "SELECT ward, COUNT(DISTINCT age), COUNT(DISTINCT weight) FROM visits GROUP BY ward",
    "SELECT COUNT(DISTINCT day), COUNT(DISTINCT ward || weight::numeric(9,1)::text), COUNT(*) FROM visits",
    "SELECT age > 50, COUNT(DISTINCT ward) FILTER (WHERE weight > 60) FROM visits GROUP BY ROLLUP (1)",
    "SELECT ward, age > 50, GROUPING(ward, age > 50), COUNT(*), AVG(weight) FROM visits GROUP BY "
    "CUBE (ward, age > 50) ORDER BY 1, 2, 3",
    "SELECT ward, day, COUNT(*), MEDIAN(age) FROM visits GROUP BY GROUPING SETS ((ward), (day), ())",
    "SELECT kind, COUNT(*), SUM(x) FROM (SELECT 1 AS kind, age AS x FROM visits UNION ALL SELECT 2, "
    "weight FROM visits WHERE ward <> 'b') AS u GROUP BY kind",
    "SELECT COUNT(*), SUM(weight) FROM visits WHERE age >= 18 AND ward <> 'b'",
    "SELECT ward, COUNT(*) FROM visits WHERE day < DATE '2024-03-15' GROUP BY ward",
    "SELECT COUNT(*), SUM(n) FROM (SELECT person, CLAMP(COUNT(*), 0, 4) AS n FROM visits "
    "GROUP BY person) AS p WHERE n BETWEEN 1 AND 5",
    /* timelines: the same rows come first on both, whatever ties there are */
    "SELECT ward, COUNT(*), SUM(age) FROM (SELECT DISTINCT ON (person) person, ward, age FROM visits "
    "ORDER BY person, day DESC) t GROUP BY ward",
    "SELECT n, COUNT(*), SUM(age), COUNT(before) FROM (SELECT age, ROW_NUMBER() OVER (PARTITION BY person "
    "ORDER BY ward) AS n, LAG(ward) OVER (PARTITION BY person ORDER BY day NULLS FIRST) AS before FROM "
    "visits) t GROUP BY n",
    "SELECT a, b, COUNT(*), COUNT(f), COUNT(l) FROM (SELECT CLAMP(SUM(age) OVER (PARTITION BY person ORDER "
    "BY day), 0, 99) / 9 AS a, CLAMP(AVG(age) OVER (PARTITION BY person ORDER BY day ROWS BETWEEN 2 "
    "PRECEDING AND 1 FOLLOWING), 0, 99) > 40 AS b, FIRST_VALUE(weight) OVER (PARTITION BY person ORDER BY "
    "ward) AS f, LAST_VALUE(weight) OVER (PARTITION BY person ORDER BY ward) AS l FROM visits) t GROUP BY "
    "a, b",
    "SELECT r, d, q, COUNT(*), SUM(CLAMP(later, 0, 99)) FROM (SELECT RANK() OVER (PARTITION BY person ORDER "
    "BY ward DESC) AS r, DENSE_RANK() OVER (PARTITION BY person ORDER BY ward) AS d, NTILE(3) OVER "
    "(PARTITION BY person ORDER BY age) AS q, LEAD(age, 2, 7) OVER (PARTITION BY person ORDER BY weight) AS "
    "later FROM visits) t GROUP BY r, d, q",
    "SELECT ward, COUNT(*) FROM (SELECT DISTINCT person, ward FROM visits) t GROUP BY ward",
    "SELECT COUNT(*) FILTER (WHERE EXISTS (SELECT 1 FROM visits b WHERE b.person = a.person AND b.day > "
    "a.day AND b.day <= a.day + INTERVAL '30 days')), COUNT(*) FROM visits a",
    "SELECT CASE WHEN person IN (SELECT person FROM visits WHERE age > 60) THEN 'old' ELSE 'young' END AS k, "
    "COUNT(*) FROM visits GROUP BY 1",
    "SELECT ward, SUM(CLAMP(n, 0, 9)), SUM(CLAMP(oldest, 0, 99)) FROM (SELECT ward, (SELECT COUNT(*) FROM "
    "visits b WHERE b.person = a.person AND b.ward = a.ward AND b.age > 30) AS n, (SELECT MAX(b.age) FROM "
    "visits b WHERE b.person = a.person) AS oldest FROM visits a) t GROUP BY ward",
    "SELECT long, COUNT(*), SUM(CLAMP(days, 0, 999)) FROM (SELECT CAST(day AS timestamp) - LAG(CAST(day AS "
    "timestamp)) OVER (PARTITION BY person ORDER BY day) > INTERVAL '30 days' AS long, EXTRACT(day FROM "
    "CAST(day AS timestamp) - TIMESTAMP '2020-01-01 10:11:12') AS days FROM visits) t GROUP BY long",
    "SELECT EXTRACT(year FROM age(day, DATE '1999-02-28')) AS y, COUNT(*), SUM(CLAMP(EXTRACT(month FROM "
    "age(DATE '2021-03-31', day)), -11, 11)), SUM(CLAMP(date_diff('month', DATE '2019-05-31', day), 0, 99)) "
    "FROM visits GROUP BY 1",
};

static void compare_answers(uint64_t max_groups, uint64_t max_rows)
{
    brume_error error = {0};
    char paths[2][96];
    brume_ledger *ledgers[2];
    for (int from = 0; from < 2; from++)
        ledgers[from] = open_registered(from, max_groups, max_rows, paths[from]);
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        json_t *answers[2] = {NULL, NULL};
        brume_payment payment = {.epsilon = "2", .delta = "1e-4"};
        for (int from = 0; from < 2; from++) {
            brume_bits *bits = brume_tape_open_seeded(100 + i);
            if (ask_json(ledgers[from], questions[i], &payment, NULL, bits, NULL, &answers[from],
                         &error) != BRUME_OK)
                fail_msg("%s: %s", questions[i], error.message);
            json_object_del(answers[from], "as_of");
            brume_bits_close(bits);
        }
        if (json_array_size(json_object_get(answers[0], "rows")) == 0)
            fail_msg("%s: no rows", questions[i]);
        if (!json_equal(answers[CSV], answers[SERVER])) {
            char *one = json_dumps(json_object_get(answers[CSV], "rows"), 0);
            char *other = json_dumps(json_object_get(answers[SERVER], "rows"), 0);
            fail_msg("%s: %s and %s", questions[i], one, other);
        }
        json_decref(answers[0]);
        json_decref(answers[1]);
    }
    for (int from = 0; from < 2; from++)
        close_registered(ledgers[from], paths[from]);
}

static void both_engines_give_the_same_answers_where_nothing_is_cut(void **state)
{
    (void)state;
    compare_answers(8, 8);
}

static void both_engines_give_the_same_answers_where_units_are_cut(void **state)
{
    (void)state;
    compare_answers(1, 2);
}

static void another_tape_gives_another_answer(void **state)
{
    (void)state;
    brume_error error = {0};
    char path[96];
    json_t *answers[2] = {NULL, NULL};
    brume_payment payment = {.epsilon = "1", .delta = "1e-4"};
    for (int turn = 0; turn < 2; turn++) {
        brume_ledger *ledger = open_registered(SERVER, 8, 8, path);
        brume_bits *bits = brume_tape_open_seeded((uint64_t)turn + 1);
        assert_ok(
            ask_json(ledger, questions[0], &payment, NULL, bits, NULL, &answers[turn], &error));
        brume_bits_close(bits);
        close_registered(ledger, path);
    }
    assert_false(
        json_equal(json_object_get(answers[0], "rows"), json_object_get(answers[1], "rows")));
    json_decref(answers[0]);
    json_decref(answers[1]);
}

/* The last test: it ends the server. */
static void a_server_that_is_down_answers_nothing_and_the_ledger_holds(void **state)
{
    (void)state;
    brume_error error = {0};
    char path[96];
    json_t *answer = NULL;
    brume_payment payment = {.epsilon = "1", .delta = "1e-4"};
    brume_ledger *ledger = open_registered(SERVER, 8, 8, path);
    brume_bits *bits = brume_tape_open_seeded(7);
    const char *postmaster = getenv("BRUME_TEST_POSTMASTER");
    if (!postmaster) {
        fail_msg("run me by with-cluster");
        return;
    }
    pid_t server = (pid_t)atoi(postmaster);
    assert_int_equal(kill(server, SIGQUIT), 0);
    for (int i = 0; i < 200 && kill(server, 0) == 0; i++)
        usleep(50000);
    brume_status status =
        ask_json(ledger, questions[0], &payment, NULL, bits, NULL, &answer, &error);
    assert_true(status == BRUME_ESOURCE || status == BRUME_EENGINE);
    assert_null(answer);
    assert_true(error.message[0] != 0);
    brume_ledger_report report;
    assert_ok(brume_ledger_verify(ledger, &report, &error));
    /* Nothing was read, so nothing was charged: the engine is opened before the reservation. */
    assert_int_equal(report.reservations, 0);
    assert_int_equal(report.answers, 0);
    brume_bits_close(bits);
    close_registered(ledger, path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_engines_give_the_same_answers_where_nothing_is_cut),
        cmocka_unit_test(both_engines_give_the_same_answers_where_units_are_cut),
        cmocka_unit_test(another_tape_gives_another_answer),
        cmocka_unit_test(a_server_that_is_down_answers_nothing_and_the_ledger_holds),
    };
    return cmocka_run_group_tests_name("engines agree", tests, prepare, tidy);
}
