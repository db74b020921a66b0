/* By what a source is known: the same people have one budget, and nobody reads it from an export.
 */
#include "marked.h"

#include <stdlib.h>

static brume_status register_marked(brume_ledger *ledger, const char *name, const char *source,
                                    const char *first, const char *second, bool new_budget,
                                    brume_error *error)
{
    const char *const marks[] = {first, second};
    brume_registration said = {.name = name,
                               .source = source,
                               .marks = marks,
                               .mark_count = second  ? 2
                                             : first ? 1
                                                     : 0,
                               .new_budget = new_budget};
    return register_source(ledger, said, json_object(), error);
}

static void a_source_that_shares_a_mark_is_refused_unless_the_owner_insists(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    assert_ok(register_marked(ledger, "a", "file:/a", "path:/a", "inode:1:2", false, &error));
    static const char *const known[] = {"path:/a", "inode:1:2"};
    for (size_t i = 0; i < 2; i++)
        assert_fails(register_marked(ledger, "b", "file:/b", "path:/b", known[i], false, &error),
                     BRUME_EPOLICY);
    assert_ok(register_marked(ledger, "b", "file:/b", "path:/b", "inode:3:4", false, &error));
    assert_ok(register_marked(ledger, "c", "file:/c", "path:/c", "inode:1:2", true, &error));
}

/* The refusals of everything that is registered already: what they say, and what is kept of them.
 */
static void a_refusal_says_the_same_whatever_the_reason_and_is_journaled(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    assert_ok(register_marked(ledger, "secret", "glob:/data/*", "path:/data/a", "contents:7:ab",
                              false, &error));
    static const struct {
        const char *name, *source, *mark;
    } known[] = {{"secret", "file:/b", "path:/b"},           /* the name */
                 {"x", "glob:/data/*", "path:/b"},           /* the source */
                 {"x", "file:/b", "contents:7:ab"},          /* a copy */
                 {"x", "file:/data/new", "path:/data/new"}}; /* what the glob matches */
    brume_error first = {0};
    for (size_t i = 0; i < 4; i++) {
        assert_fails(register_marked(ledger, known[i].name, known[i].source, known[i].mark, NULL,
                                     false, &error),
                     BRUME_EPOLICY);
        if (i == 0)
            first = error;
        assert_string_equal(error.message, first.message);
        assert_string_equal(error.hint, first.hint);
        assert_null(strstr(error.message, "secret"));
        assert_null(strstr(error.message, "copy"));
    }
    json_t *history = NULL;
    assert_ok(brume_ledger_history(ledger, "x", NULL, &history, &error));
    assert_int_equal(json_array_size(json_object_get(history, "events")), 3);
    const json_t *event = json_array_get(json_object_get(history, "events"), 0);
    assert_string_equal(json_string_value(json_object_get(event, "state")), "refused");
    assert_true(json_is_null(json_object_get(event, "cost")));
    json_decref(history);
    json_t *export = NULL;
    assert_ok(brume_ledger_export(ledger, false, &export, &error));
    assert_int_equal(json_array_size(json_object_get(export, "rows")), 1 + 1 + 4);
    char *text = json_dumps(export, JSON_COMPACT);
    assert_null(strstr(text, "data/new"));
    free(text);
    json_decref(export);
    brume_ledger_report report;
    assert_ok(brume_ledger_verify(ledger, &report, &error));
    assert_int_equal(report.datasets, 1);
}

static void a_file_that_a_registered_glob_matches_is_refused(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    assert_ok(register_marked(ledger, "all", "glob:/data/*.csv", "path:/data/1.csv", NULL, false,
                              &error));
    assert_fails(
        register_marked(ledger, "new", "file:/data/2.csv", "path:/data/2.csv", NULL, false, &error),
        BRUME_EPOLICY);
    assert_ok(register_marked(ledger, "deep", "file:/data/x/2.csv", "path:/data/x/2.csv", NULL,
                              false, &error));
    assert_ok(register_marked(ledger, "json", "file:/data/2.json", "path:/data/2.json", NULL, false,
                              &error));
}

static void what_a_query_read_stays_known(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    assert_ok(register_marked(ledger, "a", "glob:/a/*", "path:/a/1", NULL, false, &error));
    assert_ok(ask(ledger, "a", "path:/a/1", "inode:9", &error));
    /* Moved out of the folder and registered: it was read under a's budget. */
    assert_fails(register_marked(ledger, "b", "file:/b", "path:/b", "inode:9", false, &error),
                 BRUME_EPOLICY);
    brume_ledger_report report;
    assert_ok(brume_ledger_verify(ledger, &report, &error));
}

static void a_source_that_became_that_of_another_dataset_is_not_read(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    assert_ok(register_marked(ledger, "a", "file:/a", "path:/a", "inode:1", false, &error));
    assert_ok(register_marked(ledger, "b", "file:/b", "path:/b", "inode:2", false, &error));
    assert_fails(ask(ledger, "a", "path:/a", "inode:2", &error), BRUME_EPOLICY);
    assert_string_equal(error.message, "the source of 'a' now has data of another dataset");
    assert_int_equal(queries_of(ledger, "a"), 0);
    assert_ok(ask(ledger, "a", "path:/a", "inode:3", &error)); /* written anew: its own */
    assert_ok(ask(ledger, "a", "path:/a", "inode:1", &error)); /* as it was before */
}

static void datasets_that_share_a_source_by_the_owners_will_share_what_it_becomes(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    assert_ok(register_marked(ledger, "a", "file:/a", "path:/a", "inode:1", false, &error));
    assert_ok(register_marked(ledger, "b", "file:/a", "path:/a", "inode:1", true, &error));
    assert_ok(ask(ledger, "a", "path:/a", "inode:2", &error));
    assert_ok(ask(ledger, "b", "path:/a", "inode:2", &error));
}

static void an_export_shows_neither_marks_nor_their_hashes(void **state)
{
    (void)state;
    place where;
    brume_error error = {0};
    make_place(&where);
    brume_ledger *ledger = open_ledger(&where);
    assert_ok(register_marked(ledger, "a", "glob:/a/*", "path:/a/ada-lovelace.csv",
                              "contents:7:0badcafe", false, &error));
    json_t *export = NULL;
    assert_ok(brume_ledger_export(ledger, false, &export, &error));
    brume_ledger_close(ledger);
    char *text = json_dumps(export, JSON_COMPACT);
    json_decref(export);
    assert_null(strstr(text, "lovelace"));
    assert_null(strstr(text, "0badcafe"));
    /* What the file has instead is not in the export either. */
    char *hidden[8] = {0};
    size_t count =
        read_texts(&where, "SELECT mark FROM mark UNION SELECT value FROM secret", hidden, 8);
    assert_int_equal(count, 5);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(strlen(hidden[i]), 64);
        assert_null(strstr(text, hidden[i]));
        free(hidden[i]);
    }
    free(text);
    remove_place(&where);
}

static void another_ledger_hashes_the_same_mark_differently(void **state)
{
    (void)state;
    char *hashes[2] = {0};
    for (int i = 0; i < 2; i++) {
        place where;
        make_place(&where);
        brume_ledger *ledger = open_ledger(&where);
        register_dataset(ledger, "visits", "1", NULL);
        brume_ledger_close(ledger);
        assert_int_equal(read_texts(&where, "SELECT mark FROM mark", &hashes[i], 1), 1);
        remove_place(&where);
    }
    assert_string_not_equal(hashes[0], hashes[1]);
    free(hashes[0]);
    free(hashes[1]);
}

static void erasing_marks_buys_no_second_budget(void **state)
{
    (void)state;
    static const char *const edits[] = {"DELETE FROM mark", "UPDATE secret SET value = ''",
                                        "DELETE FROM secret", "UPDATE mark SET mark = 'x' || mark"};
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        place where;
        brume_error error = {0};
        make_place(&where);
        brume_ledger *ledger = open_ledger(&where);
        register_dataset(ledger, "visits", "1", NULL);
        brume_ledger_close(ledger);
        tamper(&where, edits[i]);
        ledger = open_ledger(&where);
        assert_fails(
            register_marked(ledger, "again", "elsewhere", "path:/visits", NULL, false, &error),
            BRUME_EDAMAGED);
        assert_fails(ask(ledger, "visits", "path:/visits", NULL, &error), BRUME_EDAMAGED);
        brume_ledger_close(ledger);
        remove_place(&where);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_fresh_ledger(a_source_that_shares_a_mark_is_refused_unless_the_owner_insists),
        with_fresh_ledger(a_refusal_says_the_same_whatever_the_reason_and_is_journaled),
        with_fresh_ledger(a_file_that_a_registered_glob_matches_is_refused),
        with_fresh_ledger(what_a_query_read_stays_known),
        with_fresh_ledger(a_source_that_became_that_of_another_dataset_is_not_read),
        with_fresh_ledger(datasets_that_share_a_source_by_the_owners_will_share_what_it_becomes),
        cmocka_unit_test(an_export_shows_neither_marks_nor_their_hashes),
        cmocka_unit_test(another_ledger_hashes_the_same_mark_differently),
        cmocka_unit_test(erasing_marks_buys_no_second_budget),
    };
    return cmocka_run_group_tests_name("ledger marks", tests, NULL, NULL);
}
