/* Whatever writes to the ledger looks first whether the tables are those that the newest row
 * vouches for. Otherwise its own row would vouch for what somebody edited beside the journal: a
 * budget set back, then any harmless command, and nobody would know. */
#include "fixture.h"

#include <stdlib.h>

static brume_error error;

enum { OPEN_RESERVATION = 4 }; /* row 1 makes the ledger, 2 and 3 register */

static brume_status write_registration(brume_ledger *ledger)
{
    brume_dataset *other = NULL;
    assert_ok(brume_ledger_dataset(ledger, "other", &other, &error));
    brume_registration new = {.name = "new",
                              .source = "new source",
                              .data_version = "",
                              .adjacency = BRUME_ADD_REMOVE,
                              .filter = &other->filter,
                              .policy = other->policy};
    brume_status status = brume_ledger_register(ledger, &new, &error);
    brume_dataset_close(other);
    return status;
}

static brume_status write_amendment(brume_ledger *ledger)
{
    brume_dataset *other = NULL;
    assert_ok(brume_ledger_dataset(ledger, "other", &other, &error));
    json_t *changes = json_pack("[s]", "data version");
    brume_amendment amendment = {
        .name = "other", .stated = other->stated, .data_version = "2", .changes = changes};
    brume_status status = brume_ledger_amend(ledger, &amendment, &error);
    json_decref(changes);
    brume_dataset_close(other);
    return status;
}

static brume_status write_reservation(brume_ledger *ledger)
{
    uint64_t id = 0;
    return reserve(ledger, "other", "0.1", "key", &id, &error);
}

static brume_status write_commit(brume_ledger *ledger)
{
    json_t *answer = json_pack("[i]", 1);
    brume_status status = brume_ledger_commit(ledger, OPEN_RESERVATION, answer, &error);
    json_decref(answer);
    return status;
}

static brume_status write_failure(brume_ledger *ledger)
{
    return brume_ledger_fail(ledger, OPEN_RESERVATION, BRUME_EENGINE, &error);
}

static brume_status (*const writers[])(brume_ledger *) = {
    write_registration, write_amendment, write_reservation, write_commit, write_failure};

/* Two datasets; "visits" has paid, with its reservation open. */
static void make_ledger(place *where)
{
    uint64_t id = 0;
    make_place(where);
    brume_ledger *ledger = open_ledger(where);
    register_dataset(ledger, "visits", "1", NULL);
    register_dataset(ledger, "other", "1", NULL);
    assert_ok(reserve(ledger, "visits", "0.75", "open", &id, &error));
    assert_int_equal(id, OPEN_RESERVATION);
    brume_ledger_close(ledger);
}

static brume_status verify(const place *where)
{
    brume_ledger_report report;
    brume_ledger *ledger = open_ledger(where);
    brume_status status = brume_ledger_verify(ledger, &report, &error);
    brume_ledger_close(ledger);
    return status;
}

/* Rejects: brume_journal_check_head left out of any of the writers. */
static void no_writer_vouches_for_an_edited_table(void **state)
{
    (void)state;
    static const char *const edits[] = {
        "", /* none: all of them write */
        "UPDATE dataset SET filter = (SELECT json_extract(body, '$.filter') FROM journal WHERE "
        "kind='register' AND id=2), last = 2 WHERE name='visits'",
        "UPDATE dataset SET queries = 0 WHERE name='visits'",
    };
    for (size_t w = 0; w < sizeof writers / sizeof *writers; w++)
        for (size_t e = 0; e < sizeof edits / sizeof *edits; e++) {
            place where;
            make_ledger(&where);
            if (e > 0)
                tamper(&where, edits[e]);
            brume_ledger *ledger = open_ledger(&where);
            brume_status status = writers[w](ledger);
            brume_ledger_close(ledger);
            if (status != (e ? BRUME_EDAMAGED : BRUME_OK))
                fail_msg("writer %zu, edit %zu: %s", w, e, brume_status_word(status));
            assert_fails(verify(&where), e ? BRUME_EDAMAGED : BRUME_OK);
            remove_place(&where);
        }
}

/* Rejects: check_state left out where a dataset is loaded: `brume budget` would show what somebody
 * wrote over the state, though nothing could be bought with it. */
static void a_state_that_its_row_did_not_set_is_not_shown(void **state)
{
    (void)state;
    static const char *const edits[] = {
        "UPDATE dataset SET filter = (SELECT json_extract(body, '$.filter') FROM journal WHERE "
        "kind='register' AND id=2) WHERE name='visits'",
        "UPDATE dataset SET filter = (SELECT filter FROM dataset WHERE name='other') WHERE "
        "name='visits'",
        "UPDATE dataset SET last = 3 WHERE name='visits'",
        "UPDATE dataset SET source = 'elsewhere' WHERE name='visits'",
    };
    for (size_t e = 0; e < sizeof edits / sizeof *edits; e++) {
        place where;
        brume_ledger *ledger = NULL;
        brume_dataset *dataset = NULL;
        make_ledger(&where);
        tamper(&where, edits[e]);
        assert_ok(brume_ledger_open(where.path, BRUME_LEDGER_READ, &ledger, &error));
        if (brume_ledger_dataset(ledger, "visits", &dataset, &error) != BRUME_EDAMAGED)
            fail_msg("shown: %s", edits[e]);
        assert_ok(brume_ledger_dataset(ledger, "other", &dataset, &error));
        brume_dataset_close(dataset);
        brume_ledger_close(ledger);
        remove_place(&where);
    }
}

/* Rejects: check_answer left out where an answer is read again. */
static void an_answer_that_was_changed_is_not_read_again(void **state)
{
    (void)state;
    place where;
    json_t *answer = NULL;
    make_ledger(&where);
    brume_ledger *ledger = open_ledger(&where);
    assert_ok(write_commit(ledger));
    assert_ok(brume_ledger_recall(ledger, "open", &answer, NULL, &error));
    assert_int_equal(json_integer_value(json_array_get(answer, 0)), 1);
    json_decref(answer);
    answer = NULL;
    brume_ledger_close(ledger);
    tamper(&where, "UPDATE answer SET body = '[2]'");
    ledger = open_ledger(&where);
    assert_fails(brume_ledger_recall(ledger, "open", &answer, NULL, &error), BRUME_EDAMAGED);
    assert_null(answer);
    brume_ledger_close(ledger);
    remove_place(&where);
}

/* Rejects: check_identity left until after the file was switched to a log. */
static void another_programs_database_is_left_as_it_is(void **state)
{
    (void)state;
    place where;
    brume_ledger *ledger = NULL;
    char *mode = NULL;
    make_place(&where);
    tamper(&where, "CREATE TABLE theirs(x); INSERT INTO theirs VALUES(1)");
    assert_fails(brume_ledger_open(where.path, BRUME_LEDGER_CREATE, &ledger, &error),
                 BRUME_EDAMAGED);
    assert_int_equal(read_texts(&where, "PRAGMA journal_mode", &mode, 1), 1);
    assert_string_equal(mode, "delete");
    free(mode);
    remove_place(&where);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_writer_vouches_for_an_edited_table),
        cmocka_unit_test(a_state_that_its_row_did_not_set_is_not_shown),
        cmocka_unit_test(an_answer_that_was_changed_is_not_read_again),
        cmocka_unit_test(another_programs_database_is_left_as_it_is),
    };
    return cmocka_run_group_tests_name("ledger writers", tests, NULL, NULL);
}
