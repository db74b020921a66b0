/* What explain accepts, query answers: no charge without an answer.
 *
 *   test_accepted SEED QUERIES
 *
 * Random policies (unit, limits, rule, adjacency, estimates of bias), random queries and random
 * prices, tiny and huge, or accuracies, over a table of nasty values on both engines, of which the
 * second is PostgreSQL or, where BRUME_TEST_SPARK has the URL of one, Spark. A query that
 * is accepted is answered; one that is refused is refused by both, and nothing is charged. */
#include "check.h"

#include <stdlib.h>
#include <unistd.h>

#include "nasty_query.h"
#include "ask_json.h"
#include "query/release/explain.h"
#include "random/tape.h"
#include "registered.h"
#include "spark.h"

enum { QUERIES_OF_A_POLICY = 12 };

static uint64_t seed = 1, wanted = 100;
static char folder[64], parquet[96];

typedef struct setting {
    const char *unit;
    uint64_t max_groups, max_rows;
    brume_rule rule;
    brume_adjacency adjacency;
    bool bias, domains;
} setting;

static setting random_setting(nasty_random *random)
{
    static const char *const units[] = {"i2", "s1", "l2", "id", "d3", NULL};
    static const uint64_t limits[] = {1, 2, 3, 40, 1000, 67108864};
    static const uint64_t rows[] = {1, 2, 5, 1000, 4294967295};
    static const brume_rule rules[] = {BRUME_RULE_PURE, BRUME_RULE_APPROXIMATE,
                                       BRUME_RULE_CONCENTRATED};
    setting s = {.unit = units[nasty_below(random, 6)],
                 .max_groups = limits[nasty_below(random, 6)],
                 .max_rows = rows[nasty_below(random, 5)],
                 .rule = rules[nasty_below(random, 3)],
                 .adjacency = nasty_below(random, 3) ? BRUME_ADD_REMOVE : BRUME_REPLACE,
                 .bias = nasty_below(random, 4) == 0,
                 .domains = nasty_below(random, 3) > 0};
    return s;
}

static void declare(brume_policy *policy, const setting *s)
{
    brume_error error = {0};
    static const char *const both[] = {"true", "false"};
    static const char *const numbers[] = {"-10", "0", "1", "7", "10", "100"};
    static const char *const texts[] = {"", "a", "A", "é", "it's"};
    assert_ok(brume_policy_set_bounds(policy, "i2", "-10", "100", &error));
    assert_ok(brume_policy_set_bounds(policy, "l2", "-1000000", "7", &error));
    assert_ok(brume_policy_set_bounds(policy, "f2", "-5", "5.5", &error));
    assert_ok(brume_policy_set_bounds(policy, "d2", "0", "50", &error));
    if (s->domains) {
        assert_ok(brume_policy_set_domain(policy, "b1", both, 2, &error));
        assert_ok(brume_policy_set_domain(policy, "i2", numbers, 6, &error));
        assert_ok(brume_policy_set_domain(policy, "s1", texts, 5, &error));
    }
    if (s->unit)
        assert_ok(brume_policy_set_unit(policy, s->unit, &error));
    if (s->bias)
        assert_ok(brume_policy_set_bias_share(policy, "0.1", &error));
    policy->max_groups = s->unit ? s->max_groups : 1;
    policy->max_rows = s->unit ? s->max_rows : 1;
}

static const char *server_url(void)
{
    return spark_url() ? spark_url() : getenv("BRUME_TEST_POSTGRESQL");
}

/* A ledger of its own with the table registered from one engine. */
static brume_ledger *open_ledger(const setting *s, bool server, char path[96])
{
    brume_error error = {0};
    brume_ledger *ledger = NULL;
    brume_source source = {.location = parquet};
    if (server)
        source = (brume_source){.location = server_url(), .table = "nasty"};
    snprintf(path, 96, "%s/%d.db", folder, server);
    assert_ok(brume_ledger_open(path, BRUME_LEDGER_CREATE, &ledger, &error));
    brume_policy *policy = registered_policy(&source);
    declare(policy, s);
    registered_terms terms = {"nasty", s->rule, "1e12", s->rule == BRUME_RULE_PURE ? NULL : "0.4",
                              s->adjacency};
    registered_enter(ledger, policy, &terms);
    return ledger;
}

static brume_payment random_payment(nasty_random *random, const setting *s)
{
    static const char *const prices[] = {"1",      "0.3", "10",   "1e-9",  "1e-13",
                                         "1e-290", "1e6", "1e10", "1e290", "0.1000000000000000001"};
    static const char *const deltas[] = {NULL, NULL, "1e-6", "1e-300", "0.01"};
    size_t usual = nasty_below(random, 2) ? 3 : 10;
    const char *price = prices[nasty_below(random, usual)];
    brume_payment payment = {.epsilon = price};
    if (s->rule != BRUME_RULE_PURE)
        payment.delta = deltas[nasty_below(random, 5)];
    if (s->rule == BRUME_RULE_CONCENTRATED && nasty_below(random, 2))
        payment = (brume_payment){.delta = payment.delta, .rho = price};
    return payment;
}

typedef struct tally {
    size_t accepted, refused;
} tally;

/* Ask both ways; what they say must agree. */
static void ask(brume_ledger *ledger, const char *sql, const brume_payment *payment,
                const brume_target *target, uint64_t tape, tally *count)
{
    brume_error error = {0}, refusal = {0};
    json_t *explained = NULL, *answer = NULL;
    brume_status accepted = brume_explain(ledger, sql, payment, target, &explained, &refusal);
    brume_bits *bits = brume_tape_open_seeded(tape);
    brume_status answered = ask_json(ledger, sql, payment, target, bits, NULL, &answer, &error);
    brume_bits_close(bits);
    if (accepted == BRUME_EINTERNAL || accepted == BRUME_EMEMORY)
        fail_msg("%s: %s", refusal.message, sql);
    if (accepted != answered && answered != BRUME_EBUDGET)
        fail_msg("explained: %s, answered: %s; price %s %s %s: %s",
                 accepted ? refusal.message : "yes", answered ? error.message : "yes",
                 payment->epsilon ? payment->epsilon : "-", payment->delta ? payment->delta : "-",
                 payment->rho ? payment->rho : "-", sql);
    count->accepted += accepted == BRUME_OK;
    count->refused += accepted != BRUME_OK;
    json_decref(explained);
    json_decref(answer);
}

static void nothing_is_charged_without_an_answer(brume_ledger *ledger)
{
    brume_error error = {0};
    brume_ledger_report report;
    assert_ok(brume_ledger_verify(ledger, &report, &error));
    assert_int_equal(report.reservations, report.answers);
}

static void what_is_explained_is_answered_on_both_engines(void **state)
{
    (void)state;
    nasty_random random = {seed};
    tally count = {0, 0};
    char *sql = malloc(NASTY_QUERY);
    assert_non_null(sql);
    for (uint64_t done = 0; done < wanted; done += QUERIES_OF_A_POLICY) {
        setting s = random_setting(&random);
        char paths[2][96];
        brume_ledger *ledgers[2] = {open_ledger(&s, false, paths[0]),
                                    open_ledger(&s, true, paths[1])};
        for (size_t i = 0; i < QUERIES_OF_A_POLICY; i++) {
            nasty_query(&random, s.unit, sql);
            brume_payment payment = random_payment(&random, &s);
            bool by_accuracy = nasty_below(&random, 8) == 0;
            brume_target target = {.within = nasty_below(&random, 2) ? 0.5 : 1e4,
                                   .rank = 10,
                                   .confidence = 0.95,
                                   .at_least = 100};
            for (int e = 0; e < 2; e++)
                ask(ledgers[e], sql, &payment, by_accuracy ? &target : NULL, done + i, &count);
        }
        for (int e = 0; e < 2; e++) {
            nothing_is_charged_without_an_answer(ledgers[e]);
            brume_ledger_close(ledgers[e]);
            registered_remove_ledger(paths[e]);
        }
    }
    free(sql);
    printf("# %zu accepted and answered, %zu refused\n", count.accepted, count.refused);
    assert_holds(20 * count.accepted > count.accepted + count.refused); /* else nothing is tested */
}

/* SELECT n aggregates. */
static void write_many(char *sql, const char *aggregate, size_t n)
{
    size_t length = (size_t)snprintf(sql, NASTY_QUERY, "SELECT ");
    for (size_t i = 0; i < n; i++)
        length += (size_t)snprintf(sql + length, NASTY_QUERY - length, "%s%s(i2 + %zu) AS o%zu",
                                   i ? ", " : "", aggregate, i, i);
    snprintf(sql + length, NASTY_QUERY - length, " FROM nasty");
}

static void hundreds_of_aggregates_are_answered_or_refused_for_nothing(void **state)
{
    (void)state;
    static const size_t counts[] = {65, 300, 1001, 2500, 700, 1000};
    size_t kinds = wanted < 1000 ? 4 : 6; /* the last two take seconds */
    static const char *const aggregates[] = {"SUM", "VAR_POP", "MEDIAN"};
    char *sql = malloc(NASTY_QUERY);
    assert_non_null(sql);
    for (int units = 0; units < 2; units++) {
        setting s = {.unit = units ? "id" : NULL,
                     .max_groups = 2,
                     .max_rows = 3,
                     .rule = BRUME_RULE_APPROXIMATE,
                     .adjacency = BRUME_ADD_REMOVE};
        for (int e = 0; e < 2; e++) {
            char path[96];
            brume_payment payment = {.epsilon = "1"};
            brume_ledger *ledger = open_ledger(&s, e == 1, path);
            for (size_t i = 0; i < kinds; i++) {
                tally count = {0, 0};
                write_many(sql, aggregates[i % 3], counts[i]);
                ask(ledger, sql, &payment, NULL, i, &count);
                if (counts[i] <= 300) /* so many always work */
                    assert_int_equal(count.accepted, 1);
            }
            nothing_is_charged_without_an_answer(ledger);
            brume_ledger_close(ledger);
            registered_remove_ledger(path);
        }
    }
    free(sql);
}

static int prepare(void **state)
{
    (void)state;
    const char *url = server_url();
    snprintf(folder, sizeof folder, "/tmp/brume-accepted.XXXXXX");
    if (!url || !mkdtemp(folder))
        return 1;
    snprintf(parquet, sizeof parquet, "%s/nasty.parquet", folder);
    nasty_make(seed, spark_url() ? NULL : url, parquet);
    if (spark_url())
        spark_load("nasty", folder, parquet);
    return 0;
}

static int tidy(void **state)
{
    (void)state;
    char command[128];
    if (spark_url())
        spark_run("DROP TABLE nasty");
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        seed = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        wanted = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_explained_is_answered_on_both_engines),
        cmocka_unit_test(hundreds_of_aggregates_are_answered_or_refused_for_nothing),
    };
    return cmocka_run_group_tests_name("accepted queries", tests, prepare, tidy);
}
