/* Sources of public tables: what is protected is not public under another name, and a public table
 * that came to show a protected one is not read. */
#include "marked.h"

/* A table, or a view (with what it reads): both by marks alone. */
static brume_status register_table(brume_ledger *ledger, const char *name, bool is_public,
                                   const char *own, const char *reads, bool new_budget,
                                   brume_error *error)
{
    char source[64];
    snprintf(source, sizeof source, "source of %s", name);
    const char *const marks[] = {own, reads};
    brume_registration said = {.name = name,
                               .source = source,
                               .marks = marks,
                               .mark_count = reads ? 2 : 1,
                               .read_mark_count = reads ? 1 : 0,
                               .new_budget = new_budget};
    return register_source(ledger, said, json_pack("{s:b}", "public", is_public), error);
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
    brume_registration said = {.name = name,
                               .source = name,
                               .marks = &own,
                               .mark_count = 1,
                               .public_marks = view,
                               .public_mark_count = view[1] ? 2 : 1,
                               .public_read_mark_count = view[1] ? 1 : 0};
    return register_source(ledger, said, json_object(), error);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_fresh_ledger(what_is_protected_is_not_public_under_another_name),
        with_fresh_ledger(a_protected_view_may_read_a_table_that_is_registered_as_public),
        with_fresh_ledger(insisting_on_a_budget_protects_nothing_that_is_public),
        with_fresh_ledger(tables_of_one_dataset_are_not_protected_and_public),
        with_fresh_ledger(a_public_view_that_came_to_read_a_protected_table_is_not_read),
        with_fresh_ledger(a_public_table_that_is_asked_alone_is_checked_and_leaves_no_mark),
        with_fresh_ledger(a_public_table_that_came_to_show_a_protected_one_beside_it_is_not_read),
        with_fresh_ledger(a_public_table_in_common_lets_two_datasets_share_nothing_else),
    };
    return cmocka_run_group_tests_name("ledger marks of public tables", tests, NULL, NULL);
}
