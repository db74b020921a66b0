/* The guard of a rehearsal: a plan whose tests of keys and values show more than its charge allows
 * is an internal error, before anything is charged. */
#include "check.h"

#include <stdlib.h>
#include <unistd.h>

#include "asked.h"
#include "query/release/prepare.h"
#include "registered.h"

static brume_error error;
static char path[] = "/tmp/brume-rehearse.XXXXXX.csv";

/* Rows are of persons, who have several; or each is a unit of its own. */
static asked plan_of(const char *sql, brume_rule rule, bool persons)
{
    brume_policy *policy = registered_file(path, "age bigint");
    if (persons) {
        assert_ok(brume_policy_set_unit(policy, "person", &error));
        policy->max_groups = 2;
        policy->max_rows = 3; /* six pairs of a ward and a row */
    }
    assert_ok(brume_policy_set_bounds(policy, "age", "0", "100", &error));
    asked all = asked_open(policy, "visits", sql, 3);
    asked_plan(&all, rule, "0.02", "1e-6"); /* each step of a threshold is worth a few percent */
    return all;
}

static void charge(brume_decimal *part, double factor)
{
    char text[48];
    snprintf(text, sizeof text, "%.17g", brume_decimal_upper(part) * factor);
    assert_ok(brume_decimal_parse(text, part, &error));
}

/* Rejects: an allowance of twice the delta that is charged, or of twice the epsilon; a test that is
 * left out of the sum. */
static void what_is_shown_is_within_what_is_charged(void **state)
{
    (void)state;
    static const struct {
        const char *sql;
        brume_rule rule;
        bool keys_alone;
    } cases[] = {
        {"SELECT ward, COUNT(*) FROM visits GROUP BY ward", BRUME_RULE_APPROXIMATE, false},
        {"SELECT ward, SUM(age) FROM visits GROUP BY ward", BRUME_RULE_CONCENTRATED, false},
        {"SELECT MODE() WITHIN GROUP (ORDER BY ward) FROM visits", BRUME_RULE_APPROXIMATE, false},
        {"SELECT MODE() WITHIN GROUP (ORDER BY ward) FROM visits", BRUME_RULE_CONCENTRATED, false},
        {"SELECT DISTINCT ward FROM visits", BRUME_RULE_APPROXIMATE, true},
        {"SELECT DISTINCT ward FROM visits", BRUME_RULE_CONCENTRATED, false}, /* by noisy counts */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int persons = 0; persons <= 1; persons++)
            for (int less = 0; less <= 2; less++) {
                asked all = plan_of(cases[i].sql, cases[i].rule, persons);
                if (less == 1)
                    charge(&all.plan->charge.delta, 0.6);
                if (less == 2 && cases[i].keys_alone)
                    charge(&all.plan->charge.amount, 0.6);
                bool bad = less == 1 || (less == 2 && cases[i].keys_alone);
                brume_status status = brume_rehearse(all.question, all.terms, &error);
                if (status != (bad ? BRUME_EINTERNAL : BRUME_OK))
                    fail_msg("%s, %s, %d: %s", cases[i].sql, persons ? "persons" : "rows", less,
                             status == BRUME_OK ? "accepted" : error.message);
                asked_close(&all);
            }
}

/* The limits that are enforced are those of the price. */
static void what_is_enforced_is_what_is_priced(void **state)
{
    (void)state;
    for (int fault = 0; fault <= 3; fault++) {
        asked all = plan_of("SELECT ward, COUNT(*), COUNT(DISTINCT age) FROM visits GROUP BY ward",
                            BRUME_RULE_APPROXIMATE, true);
        brume_collection *groups = &all.plan->measurements[0].collection;
        groups->max_groups += fault == 1;
        groups->cells += fault == 2;
        groups->totals = groups->totals != (fault == 3);
        assert_int_equal(brume_rehearse(all.question, all.terms, &error),
                         fault ? BRUME_EINTERNAL : BRUME_OK);
        asked_close(&all);
    }
}

static int prepare(void **state)
{
    (void)state;
    int file = mkstemps(path, 4);
    const char *text = "person,ward,age\np,a,5\n";
    return file < 0 || write(file, text, strlen(text)) < 0 || close(file) != 0;
}

static int finish(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_shown_is_within_what_is_charged),
        cmocka_unit_test(what_is_enforced_is_what_is_priced),
    };
    return cmocka_run_group_tests_name("rehearsals", tests, prepare, finish);
}
