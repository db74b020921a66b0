/* The ledger at its edges: the price that is the cap itself, shares of budgets in exact decimals,
 * what is public in another dataset, and a process without its standard input. */
#include "fixture.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "ledger/dataset.h"
#include "ledger/journal.h"
#include "ledger/mark.h"
#include "ledger/user_row.h"
#include "random/tape.h"

static brume_error error;

static brume_status reserve_rho(brume_ledger *ledger, const char *name, const brume_decimal *rho)
{
    brume_charge price;
    uint64_t id = 0;
    assert_ok(brume_charge_make(BRUME_RULE_CONCENTRATED, rho, NULL, &price, &error));
    brume_ledger_charge charge = {.dataset = name, .price = &price};
    brume_reservation reservation = {
        .charges = &charge, .charge_count = 1, .sql = "SELECT 1", .answer_key = name};
    return brume_ledger_reserve(ledger, &reservation, &id, &error);
}

/* A cap in epsilon is exactly epsilon^2/2 in rho. Rejects: one that a rounding makes a little
 * smaller, so that the cap itself is refused; one that a rounding makes larger. */
static void the_cap_itself_may_be_asked_for_under_concentrated(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    static const struct {
        const char *epsilon, *rho; /* epsilon^2/2 */
    } caps[] = {{"0.7", "0.245"},       {"0.3", "0.045"},       {"1.1", "0.605"},
                {"0.9", "0.405"},       {"0.45", "0.10125"},    {"0.011", "0.0000605"},
                {"0.017", "0.0001445"}, {"0.62", "0.1922"},     {"0.123", "0.0075645"},
                {"2.3", "2.645"},       {"0.007", "0.0000245"}, {"0.33", "0.05445"},
                {"0.05", "0.00125"},    {"0.081", "0.0032805"}, {"0.77", "0.29645"},
                {"0.009", "0.0000405"}, {"1e-3", "5e-7"},       {"4.4", "9.68"},
                {"0.58", "0.1682"},     {"0.013", "0.0000845"}};
    brume_decimal limit, delta;
    assert_ok(brume_decimal_parse("100", &limit, &error));
    assert_ok(brume_decimal_parse("1e-6", &delta, &error));
    for (size_t i = 0; i < sizeof caps / sizeof *caps; i++) {
        char name[32];
        brume_filter filter;
        snprintf(name, sizeof name, "d%zu", i);
        assert_ok(
            brume_filter_make(BRUME_RULE_CONCENTRATED, &limit, &delta, NULL, &filter, &error));
        json_t *policy = json_object();
        brume_registration registration = {.name = name,
                                           .source = name,
                                           .data_version = "",
                                           .adjacency = BRUME_ADD_REMOVE,
                                           .filter = &filter,
                                           .cap = caps[i].epsilon,
                                           .policy = policy};
        assert_ok(brume_ledger_register(ledger, &registration, &error));
        json_decref(policy);
        brume_decimal rho, more, least;
        assert_ok(brume_decimal_parse(caps[i].rho, &rho, &error));
        assert_ok(brume_decimal_parse("1e-20", &least, &error));
        assert_ok(brume_decimal_add(&rho, &least, &more, &error));
        assert_ok(reserve_rho(ledger, name, &rho));
        assert_fails(reserve_rho(ledger, name, &more), BRUME_EPOLICY);
    }
}

/* delta <= (mine/whole) of the dataset's delta, in exact decimals. Rejects: a division, a product
 * or digits rounded up, for parts and budgets that are no doubles and for such that are. */
static void usual_deltas_are_rounded_down(void **state)
{
    (void)state;
    uint64_t draws = 51;
    static char name[] = "d";
    json_t *policy = json_object();
    for (int i = 0; i < 4000; i++) {
        uint64_t whole = 2000 + brume_tape_splitmix(&draws) % 98000;
        uint64_t mine = 1 + brume_tape_splitmix(&draws) % whole;
        char limit[32], part[32], small[32];
        snprintf(limit, sizeof limit, "%llue-3", (unsigned long long)whole);
        snprintf(part, sizeof part, "%llue-3", (unsigned long long)mine);
        snprintf(small, sizeof small, "%llue-12",
                 (unsigned long long)(1 + brume_tape_splitmix(&draws) % 99999));
        if (i %
            2) { /* whole numbers and 2^-20: the quotient alone is rounded, and then the digits */
            snprintf(limit, sizeof limit, "%llu", (unsigned long long)whole);
            snprintf(part, sizeof part, "%llu", (unsigned long long)mine);
            snprintf(small, sizeof small, "9.5367431640625e-7");
        }
        brume_decimal epsilon, delta, left, right;
        brume_dataset dataset = {.name = name, .policy = policy};
        brume_allotment typed = {name, part, NULL};
        brume_filter filter;
        assert_ok(brume_decimal_parse(limit, &epsilon, &error));
        assert_ok(brume_decimal_parse(small, &delta, &error));
        assert_ok(brume_filter_make(BRUME_RULE_APPROXIMATE, &epsilon, &delta, NULL, &dataset.filter,
                                    &error));
        assert_ok(brume_allotment_filter(&dataset, &typed, NULL, &filter, &error));
        assert_ok(brume_decimal_multiply(&filter.delta, whole, &left, &error));
        assert_ok(brume_decimal_multiply(&delta, mine, &right, &error));
        assert_holds(brume_decimal_compare(&left, &right) <= 0);
    }
    json_decref(policy);
}

static brume_status see(brume_ledger *ledger, const char *name, bool is_public, const char *mark,
                        bool own)
{
    brume_mark_list marks = {&mark, 1, own ? 0 : 1, 0};
    return brume_mark_see(ledger, name, is_public, &marks, &error);
}

/* A protected view of "both" reads a table that another dataset has as public. A public view of
 * "both" may read it too; that it is the table itself is refused, since "both" has it as protected.
 * Rejects: either of the two looked up in the wrong datasets. */
static void what_is_public_elsewhere_may_be_read_and_not_shown(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    register_dataset(ledger, "open", "1", NULL);
    register_dataset(ledger, "both", "1", NULL);
    assert_ok(see(ledger, "open", true, "table:9", true));
    assert_ok(see(ledger, "both", false, "table:9", false)); /* and has its mark from now on */
    assert_ok(see(ledger, "both", true, "table:9", false));
    assert_fails(see(ledger, "both", true, "table:9", true), BRUME_EPOLICY);
}

/* Rejects: the public tables of a new dataset not held against the protected ones of the others. */
static void a_public_table_of_a_new_dataset_is_not_a_protected_one(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    register_dataset(ledger, "people", "1", NULL); /* has the mark path:/people */
    brume_charge one = price_of("1", NULL);
    brume_filter filter;
    assert_ok(brume_filter_make(BRUME_RULE_PURE, &one.amount, &one.delta, NULL, &filter, &error));
    json_t *policy = json_object();
    for (int own = 0; own < 2; own++) {
        const char *protected = "path:/mine", *public = own ? "path:/open" : "path:/people";
        brume_registration tables = {.name = "both",
                                     .source = "both",
                                     .marks = &protected,
                                     .mark_count = 1,
                                     .public_marks = &public,
                                     .public_mark_count = 1,
                                     .data_version = "",
                                     .adjacency = BRUME_ADD_REMOVE,
                                     .filter = &filter,
                                     .policy = policy};
        assert_fails(brume_ledger_register(ledger, &tables, &error),
                     own ? BRUME_OK : BRUME_EPOLICY);
    }
    json_decref(policy);
}

/* Rejects: the descriptor 0 taken for a failure. */
static void a_ledger_is_made_where_standard_input_is_closed(void **state)
{
    (void)state;
    place where;
    make_place(&where);
    int input = fcntl(0, F_DUPFD, 10);
    close(0);
    brume_ledger *ledger = NULL;
    brume_status status = brume_ledger_open(where.path, BRUME_LEDGER_CREATE, &ledger, &error);
    brume_ledger_close(ledger);
    if (input >= 0) {
        dup2(input, 0);
        close(input);
    }
    assert_ok(status);
    remove_place(&where);
}

/* Rejects: another row named than the one that is missing. */
static void the_row_that_is_missing_is_named(void **state)
{
    (void)state;
    place where;
    make_place(&where);
    brume_ledger *ledger = open_ledger(&where);
    for (int i = 0; i < 4; i++) {
        char name[8];
        snprintf(name, sizeof name, "d%d", i);
        register_dataset(ledger, name, "1", NULL);
    }
    brume_ledger_close(ledger);
    tamper(&where, "DROP TRIGGER journal_keeps_rows; DELETE FROM journal WHERE id = 3;"
                   "CREATE TRIGGER journal_keeps_rows BEFORE DELETE ON journal BEGIN SELECT "
                   "RAISE(ABORT, 'the journal is append-only'); END");
    brume_ledger_report report;
    assert_ok(brume_ledger_open(where.path, BRUME_LEDGER_READ, &ledger, &error));
    assert_fails(brume_ledger_verify(ledger, &report, &error), BRUME_EDAMAGED);
    assert_string_equal(error.message, "journal row 3: missing");
    brume_ledger_close(ledger);
    remove_place(&where);
}

/* Rejects: a refusal in the journal that names no dataset, taken for one. */
static void a_refusal_of_nothing_is_found(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_ledger_report report;
    assert_ok(brume_store_begin(ledger, &error));
    assert_ok(brume_journal_append(ledger, "refuse", json_object(), &error));
    assert_ok(brume_store_commit(ledger, &error));
    assert_fails(brume_ledger_verify(ledger, &report, &error), BRUME_EDAMAGED);
    assert_string_equal(error.message, "journal row 2: refuses nothing");
}

/* Rejects: a row of somebody who is no user, taken for one of a user. */
static void a_row_of_nobody_is_found(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_ledger_report report;
    register_dataset(ledger, "visits", "1", NULL);
    assert_ok(brume_ledger_verify(ledger, &report, &error));
    assert_ok(brume_store_begin(ledger, &error));
    assert_ok(brume_journal_append(
        ledger, "refuse", json_pack("{s:s,s:s}", "dataset", "visits", "user", "nobody"), &error));
    assert_ok(brume_store_commit(ledger, &error));
    assert_fails(brume_ledger_verify(ledger, &report, &error), BRUME_EDAMAGED);
    assert_string_equal(error.message, "journal row 3: of a user who is no owner");
}

static void the_longest_name_is_registered(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    char name[BRUME_MOST_DATASET_NAME + 1];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    register_dataset(ledger, name, "1", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_fresh_ledger(the_cap_itself_may_be_asked_for_under_concentrated),
        cmocka_unit_test(usual_deltas_are_rounded_down),
        with_fresh_ledger(what_is_public_elsewhere_may_be_read_and_not_shown),
        with_fresh_ledger(a_public_table_of_a_new_dataset_is_not_a_protected_one),
        cmocka_unit_test(a_ledger_is_made_where_standard_input_is_closed),
        cmocka_unit_test(the_row_that_is_missing_is_named),
        with_fresh_ledger(a_refusal_of_nothing_is_found),
        with_fresh_ledger(a_row_of_nobody_is_found),
        with_fresh_ledger(the_longest_name_is_registered),
    };
    return cmocka_run_group_tests_name("ledger edges", tests, NULL, NULL);
}
