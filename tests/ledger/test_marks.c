/* By what a source is known: the same people have one budget, and nobody reads it from an export.
 */
#include "fixture.h"

#include <stdlib.h>

static brume_status register_marked(brume_ledger *ledger, const char *name, const char *source,
                                    const char *first, const char *second, bool new_budget,
                                    brume_error *error)
{
    brume_charge one = price_of("1", NULL);
    brume_filter filter;
    assert_int_equal(
        brume_filter_make(BRUME_RULE_PURE, &one.amount, &one.delta, NULL, &filter, error),
        BRUME_OK);
    const char *const marks[] = {first, second};
    json_t *policy = json_object();
    brume_registration registration = {.name = name,
                                       .source = source,
                                       .marks = marks,
                                       .mark_count = second  ? 2
                                                     : first ? 1
                                                             : 0,
                                       .data_version = "",
                                       .adjacency = BRUME_ADD_REMOVE,
                                       .filter = &filter,
                                       .policy = policy,
                                       .new_budget = new_budget};
    brume_status status = brume_ledger_register(ledger, &registration, error);
    json_decref(policy);
    return status;
}

static brume_status ask(brume_ledger *ledger, const char *name, const char *first,
                        const char *second, brume_error *error)
{
    brume_charge price = price_of("0.1", NULL);
    const char *const marks[] = {first, second};
    brume_ledger_charge charge = {
        .dataset = name, .price = &price, .marks = marks, .mark_count = second ? 2 : 1};
    brume_reservation reservation = {
        .charges = &charge, .charge_count = 1, .sql = "SELECT 1", .answer_key = "key"};
    uint64_t id = 0;
    return brume_ledger_reserve(ledger, &reservation, &id, error);
}

static uint64_t queries_of(brume_ledger *ledger, const char *name)
{
    brume_error error = {0};
    brume_dataset *dataset = NULL;
    assert_ok(brume_ledger_dataset(ledger, name, &dataset, &error));
    uint64_t queries = dataset->queries;
    brume_dataset_close(dataset);
    return queries;
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
    assert_ok(brume_ledger_history(ledger, "x", &history, &error));
    assert_int_equal(json_array_size(json_object_get(history, "events")), 3);
    const json_t *event = json_array_get(json_object_get(history, "events"), 0);
    assert_string_equal(json_string_value(json_object_get(event, "state")), "refused");
    assert_true(json_is_null(json_object_get(event, "cost")));
    json_decref(history);
    json_t *export = NULL;
    assert_ok(brume_ledger_export(ledger, &export, &error));
    assert_int_equal(json_array_size(json_object_get(export, "rows")), 1 + 1 + 4);
    char *text = json_dumps(export, JSON_COMPACT);
    assert_null(strstr(text, "data/new"));
    free(text);
    json_decref(export);
    brume_ledger_report report;
    assert_ok(brume_ledger_verify(ledger, &report, &error));
    assert_int_equal(report.datasets, 1);
}

/* ---- public tables ---- */

/* A table, or a view (with what it reads): both by marks alone. */
static brume_status register_table(brume_ledger *ledger, const char *name, bool is_public,
                                   const char *own, const char *reads, bool new_budget,
                                   brume_error *error)
{
    brume_charge one = price_of("1", NULL);
    brume_filter filter;
    assert_int_equal(
        brume_filter_make(BRUME_RULE_PURE, &one.amount, &one.delta, NULL, &filter, error),
        BRUME_OK);
    char source[64];
    snprintf(source, sizeof source, "source of %s", name);
    const char *const marks[] = {own, reads};
    json_t *policy = json_pack("{s:b}", "public", is_public);
    brume_registration registration = {.name = name,
                                       .source = source,
                                       .marks = marks,
                                       .mark_count = reads ? 2 : 1,
                                       .read_mark_count = reads ? 1 : 0,
                                       .data_version = "",
                                       .adjacency = BRUME_ADD_REMOVE,
                                       .filter = &filter,
                                       .policy = policy,
                                       .new_budget = new_budget};
    brume_status status = brume_ledger_register(ledger, &registration, error);
    json_decref(policy);
    return status;
}

static void what_is_protected_is_not_public_under_another_name(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    assert_ok(register_table(ledger, "people", false, "table:1", NULL, false, &error));
    assert_fails(register_table(ledger, "view", true, "table:2", "table:1", false, &error),
                 BRUME_EPOLICY);
    assert_fails(register_table(ledger, "itself", true, "table:1", NULL, false, &error),
                 BRUME_EPOLICY);
    /* The owner's word for a second budget makes nothing public. */
    assert_fails(register_table(ledger, "view", true, "table:2", "table:1", true, &error),
                 BRUME_EPOLICY);
    /* The other way round: a table that a public view shows is not protected any more. */
    assert_ok(register_table(ledger, "shown", true, "table:4", "table:3", false, &error));
    assert_fails(register_table(ledger, "late", false, "table:3", NULL, false, &error),
                 BRUME_EPOLICY);
    assert_fails(register_table(ledger, "late", false, "table:5", "table:3", false, &error),
                 BRUME_EPOLICY);
    assert_fails(register_table(ledger, "late", false, "table:4", NULL, false, &error),
                 BRUME_EPOLICY);
    assert_ok(register_table(ledger, "open", true, "table:6", "table:3", false, &error));
}

static void a_protected_view_may_read_a_table_that_is_registered_as_public(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    assert_ok(register_table(ledger, "wards", true, "table:1", NULL, false, &error));
    assert_ok(register_table(ledger, "visits", false, "table:2", "table:1", false, &error));
    assert_ok(register_table(ledger, "stays", false, "table:3", "table:1", false, &error));
    assert_ok(register_table(ledger, "towns", true, "table:4", "table:1", false, &error));
    /* but not the other way: the public table is not protected under another name */
    assert_fails(register_table(ledger, "again", false, "table:1", NULL, false, &error),
                 BRUME_EPOLICY);
    /* and to share a public table is not to share a budget */
    assert_fails(ask(ledger, "visits", "table:2", "table:3", &error), BRUME_EPOLICY);
    assert_ok(ask(ledger, "visits", "table:2", "table:1", &error));
}

/* A second budget is for the same people: it makes nothing secret that is public. */
static void insisting_on_a_budget_protects_nothing_that_is_public(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    assert_ok(register_table(ledger, "wards", true, "table:1", NULL, false, &error));
    assert_ok(register_table(ledger, "shown", true, "table:4", "table:3", false, &error));
    assert_fails(register_table(ledger, "again", false, "table:1", NULL, true, &error),
                 BRUME_EPOLICY); /* rule 3 */
    assert_fails(register_table(ledger, "late", false, "table:3", NULL, true, &error),
                 BRUME_EPOLICY); /* rule 2: a public view shows it */
    assert_ok(register_table(ledger, "visits", false, "table:2", "table:1", true, &error));
    assert_ok(register_table(ledger, "second", false, "table:2", "table:1", true, &error));
    assert_fails(register_table(ledger, "third", false, "table:2", "table:1", false, &error),
                 BRUME_EPOLICY);
}

typedef struct together {
    const char *marks[2]; /* of the protected tables, */
    size_t whole, read;
    const char *public_marks[2]; /* and of the public ones */
    size_t public_whole, public_read;
    bool refused;
} together;

static brume_registration tables_of(const together *one)
{
    return (brume_registration){.marks = one->marks,
                                .mark_count = one->marks[1] ? 2 : 1,
                                .whole_mark_count = one->whole,
                                .read_mark_count = one->read,
                                .public_marks = one->public_marks,
                                .public_mark_count = one->public_marks[1] ? 2 : 1,
                                .public_whole_mark_count = one->public_whole,
                                .public_read_mark_count = one->public_read};
}

static void tables_of_one_dataset_are_not_protected_and_public(void **state)
{
    static const together all[] = {
        {{"path:/a", "contents:1"}, 0, 0, {"path:/b", "contents:2"}, 0, 0, false},
        {{"path:/a", "contents:1"}, 0, 0, {"path:/b", "contents:1"}, 0, 0, true}, /* a copy */
        {{"path:/a", "inode:1"}, 0, 0, {"inode:1", "path:/b"}, 0, 0, true},       /* a hard link */
        {{"table:1", NULL}, 0, 0, {"table:2", "table:1"}, 0, 1, true},            /* a view of it */
        {{"table:1", NULL}, 0, 0, {"table:1", "table:2"}, 1, 0, true},            /* a part of it */
        {{"table:1", "table:2"}, 1, 0, {"table:1", NULL}, 0, 0, true}, /* a part of what is open */
        {{"table:1", "table:2"}, 1, 0, {"table:1", "table:3"}, 1, 0, false}, /* two parts */
        {{"table:2", "table:1"}, 0, 1, {"table:1", NULL}, 0, 0, false}, /* it reads the open one */
        {{"table:2", "table:1"}, 0, 1, {"table:3", "table:1"}, 0, 1, true},  /* both read a third */
        {{"table:2", "table:9"}, 0, 1, {"table:3", "table:9"}, 0, 1, false}, /* which is public */
    };
    brume_error error = {0}, first = {0};
    brume_ledger *ledger = fresh_ledger(state);
    brume_charge one = price_of("1", NULL);
    brume_filter filter;
    assert_ok(brume_filter_make(BRUME_RULE_PURE, &one.amount, &one.delta, NULL, &filter, &error));
    assert_ok(register_table(ledger, "wards", true, "table:9", NULL, false, &error));
    assert_fails(register_table(ledger, "wards", true, "table:8", NULL, false, &first),
                 BRUME_EPOLICY);
    json_t *policy = json_object();
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        brume_registration tables = tables_of(&all[i]);
        tables.name = tables.source = "d";
        tables.data_version = "";
        tables.filter = &filter;
        tables.policy = policy;
        tables.new_budget = true; /* which waives none of it */
        if (!all[i].refused) {
            assert_ok(brume_ledger_check_tables(ledger, &tables, &error));
            continue;
        }
        assert_fails(brume_ledger_check_tables(ledger, &tables, &error), BRUME_EPOLICY);
        assert_string_equal(error.message, first.message);
        assert_fails(brume_ledger_register(ledger, &tables, &error), BRUME_EPOLICY);
        assert_string_equal(error.message, first.message);
    }
    /* Its public tables are known from then on: nobody can protect them afterwards. */
    brume_registration tables = tables_of(&all[0]);
    tables.name = tables.source = "d";
    tables.data_version = "";
    tables.filter = &filter;
    tables.policy = policy;
    assert_ok(brume_ledger_register(ledger, &tables, &error));
    assert_fails(register_table(ledger, "late", false, "path:/b", NULL, false, &error),
                 BRUME_EPOLICY);
    json_decref(policy);
}

static brume_status ask_with_public(brume_ledger *ledger, const char *name, const char *table,
                                    const char *own, const char *reads, brume_error *error)
{
    brume_charge price = price_of("0.1", NULL);
    const char *const marks[] = {own, reads};
    brume_ledger_charge charge = {.dataset = name, .price = &price};
    brume_ledger_charge beside = {.dataset = table,
                                  .marks = marks,
                                  .mark_count = reads ? 2 : 1,
                                  .read_mark_count = reads ? 1 : 0};
    brume_reservation reservation = {.charges = &charge,
                                     .charge_count = 1,
                                     .public_tables = &beside,
                                     .public_count = 1,
                                     .sql = "SELECT 1",
                                     .answer_key = "key"};
    uint64_t id = 0;
    return brume_ledger_reserve(ledger, &reservation, &id, error);
}

static void a_public_view_that_came_to_read_a_protected_table_is_not_read(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    assert_ok(register_table(ledger, "people", false, "table:1", NULL, false, &error));
    assert_ok(register_table(ledger, "open", true, "table:2", NULL, false, &error));
    assert_ok(ask_with_public(ledger, "people", "open", "table:2", NULL, &error));
    assert_ok(ask_with_public(ledger, "people", "open", "table:2", "table:7", &error));
    assert_fails(ask_with_public(ledger, "people", "open", "table:2", "table:1", &error),
                 BRUME_EPOLICY);
    assert_int_equal(queries_of(ledger, "people"), 2);
    /* What it read is marked: nobody can protect it afterwards. */
    assert_fails(register_table(ledger, "late", false, "table:7", NULL, false, &error),
                 BRUME_EPOLICY);
}

/* Public tables alone need no reservation: their sources are looked at, and nothing is recorded. */
static void a_public_table_that_is_asked_alone_is_checked_and_leaves_no_mark(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    assert_ok(register_table(ledger, "people", false, "table:1", NULL, false, &error));
    assert_ok(register_table(ledger, "open", true, "table:2", NULL, false, &error));
    const char *const marks[] = {"table:2", "table:7", "table:1"};
    brume_ledger_charge table = {.dataset = "open", .marks = marks};
    for (size_t reads = 0; reads <= 2; reads++) {
        table.mark_count = 1 + reads;
        table.read_mark_count = reads;
        brume_status checked = brume_ledger_check_public(ledger, &table, &error);
        assert_int_equal(checked, reads < 2 ? BRUME_OK : BRUME_EPOLICY);
        assert_int_equal(brume_ledger_look_public(ledger, &table, &error), checked);
    }
    assert_ok(register_table(ledger, "late", false, "table:7", NULL, false, &error));
    table.mark_count = 2;
    table.read_mark_count = 1;
    assert_fails(brume_ledger_check_public(ledger, &table, &error), BRUME_EPOLICY);
    assert_fails(brume_ledger_look_public(ledger, &table, &error), BRUME_EPOLICY);
}

/* A dataset of a protected table and a public view that reads another table. */
static brume_status register_both(brume_ledger *ledger, const char *name, const char *own,
                                  const char *const view[2], brume_error *error)
{
    brume_charge one = price_of("1", NULL);
    brume_filter filter;
    assert_int_equal(
        brume_filter_make(BRUME_RULE_PURE, &one.amount, &one.delta, NULL, &filter, error),
        BRUME_OK);
    json_t *policy = json_object();
    brume_registration tables = {.name = name,
                                 .source = name,
                                 .marks = &own,
                                 .mark_count = 1,
                                 .public_marks = view,
                                 .public_mark_count = view[1] ? 2 : 1,
                                 .public_read_mark_count = view[1] ? 1 : 0,
                                 .data_version = "",
                                 .adjacency = BRUME_ADD_REMOVE,
                                 .filter = &filter,
                                 .policy = policy};
    brume_status status = brume_ledger_register(ledger, &tables, error);
    json_decref(policy);
    return status;
}

static void a_public_table_that_came_to_show_a_protected_one_beside_it_is_not_read(void **state)
{
    static const char *const view[2] = {"table:2", "table:7"};
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    assert_ok(register_both(ledger, "both", "table:1", view, &error));
    assert_ok(ask_with_public(ledger, "both", "both", "table:2", "table:7", &error));
    assert_ok(
        ask_with_public(ledger, "both", "both", "table:2", "table:8", &error)); /* a new one */
    assert_ok(ask_with_public(ledger, "both", "both", "table:2", "table:8", &error));
    assert_fails(ask_with_public(ledger, "both", "both", "table:2", "table:1", &error),
                 BRUME_EPOLICY);
    assert_fails(ask_with_public(ledger, "both", "both", "table:1", NULL, &error), BRUME_EPOLICY);
    /* also what the protected one came to be */
    assert_ok(ask(ledger, "both", "table:3", NULL, &error));
    assert_fails(ask_with_public(ledger, "both", "both", "table:3", NULL, &error), BRUME_EPOLICY);
    assert_fails(ask_with_public(ledger, "both", "both", "table:2", "table:3", &error),
                 BRUME_EPOLICY);
    assert_int_equal(queries_of(ledger, "both"), 4);
}

static void a_public_table_in_common_lets_two_datasets_share_nothing_else(void **state)
{
    static const char *const open[2] = {"table:2", NULL};
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    assert_ok(register_both(ledger, "a", "table:1", open, &error));
    assert_ok(register_both(ledger, "b", "table:3", open, &error));
    assert_ok(ask(ledger, "a", "table:1", NULL, &error));
    assert_fails(ask(ledger, "a", "table:3", NULL, &error), BRUME_EPOLICY);
    assert_fails(ask(ledger, "b", "table:1", NULL, &error), BRUME_EPOLICY);
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
    assert_ok(brume_ledger_export(ledger, &export, &error));
    brume_ledger_close(ledger);
    char *text = json_dumps(export, JSON_COMPACT);
    json_decref(export);
    assert_null(strstr(text, "lovelace"));
    assert_null(strstr(text, "0badcafe"));
    /* What the file has instead is not in the export either. */
    char *hidden[8] = {0};
    size_t count =
        read_texts(&where, "SELECT mark FROM mark UNION SELECT value FROM secret", hidden, 8);
    assert_int_equal(count, 4);
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
        with_fresh_ledger(what_is_protected_is_not_public_under_another_name),
        with_fresh_ledger(a_protected_view_may_read_a_table_that_is_registered_as_public),
        with_fresh_ledger(insisting_on_a_budget_protects_nothing_that_is_public),
        with_fresh_ledger(tables_of_one_dataset_are_not_protected_and_public),
        with_fresh_ledger(a_public_view_that_came_to_read_a_protected_table_is_not_read),
        with_fresh_ledger(a_public_table_that_is_asked_alone_is_checked_and_leaves_no_mark),
        with_fresh_ledger(a_public_table_that_came_to_show_a_protected_one_beside_it_is_not_read),
        with_fresh_ledger(a_public_table_in_common_lets_two_datasets_share_nothing_else),
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
