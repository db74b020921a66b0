/* Redaction: the name is gone from every page, and chain, sums and earlier exports hold. */
#include "fixture.h"

#include <stdlib.h>
#include <unistd.h>

#include "ledger/redact.h"

/* Are the bytes of the text in the ledger's file, or in its log? */
static bool in_files(const place *where, const char *text)
{
    static const char *const endings[] = {"", "-wal", "-journal", ".stream"};
    static char bytes[4 << 20];
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char path[300];
        snprintf(path, sizeof path, "%s%s", where->path, endings[i]);
        FILE *file = fopen(path, "rb");
        size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
        assert_holds(size < sizeof bytes);
        if (file)
            fclose(file);
        if (size && memmem(bytes, size, text, strlen(text)))
            return true;
    }
    return false;
}

static void verify(brume_ledger *ledger, const json_t *export)
{
    brume_error error = {0};
    brume_ledger_report report;
    assert_ok(brume_ledger_verify(ledger, &report, &error));
    if (export)
        assert_ok(brume_ledger_verify_against(ledger, export, &error));
}

static brume_status ask(brume_ledger *ledger, const char *sql, const char *key, const char *answer,
                        uint64_t *id, brume_error *error)
{
    brume_charge price = price_of("0.25", NULL);
    brume_ledger_charge charge = {.dataset = "visits", .price = &price};
    brume_reservation reservation = {
        .charges = &charge, .charge_count = 1, .sql = sql, .typed = sql, .answer_key = key};
    brume_status status = brume_ledger_reserve(ledger, &reservation, id, error);
    json_t *json = json_pack("[s]", answer), *note = json_pack("[i]", 7);
    char name[64];
    snprintf(name, sizeof name, "note of %s", key);
    if (status == BRUME_OK)
        status = brume_ledger_note(ledger, *id, name, note, error);
    if (status == BRUME_OK)
        status = brume_ledger_commit(ledger, *id, json, error);
    json_decref(json);
    json_decref(note);
    return status;
}

static json_t *recall(brume_ledger *ledger, const char *key)
{
    brume_error error = {0};
    json_t *answer = NULL;
    assert_ok(brume_ledger_recall(ledger, key, &answer, NULL, &error));
    return answer;
}

static size_t find(brume_ledger *ledger, const char *text)
{
    brume_error error = {0};
    json_t *found = NULL;
    assert_ok(brume_ledger_find(ledger, text, &found, &error));
    size_t count = json_array_size(json_object_get(found, "charges"));
    json_decref(found);
    return count;
}

static void texts_and_answers_are_taken_out_and_the_rest_holds(void **state)
{
    (void)state;
    place where;
    brume_error error = {0};
    uint64_t ann = 0, bo = 0, other = 0;
    size_t count = 0;
    json_t *export = NULL, *answer = NULL, *names = NULL;
    brume_dataset *dataset = NULL;
    make_place(&where);
    brume_ledger *ledger = open_ledger(&where);
    register_dataset(ledger, "visits", "2", NULL);
    assert_ok(ask(ledger, "SELECT 1 WHERE name = 'Ann Lee'", "a", "Zoe Ott", &ann, &error));
    assert_ok(ask(ledger, "SELECT 1 WHERE name = 'Bo Ek'", "b", "42", &bo, &error));
    assert_ok(ask(ledger, "SELECT 1", "c", "43", &other, &error));
    assert_ok(brume_ledger_export(ledger, false, &export, &error));
    char *text = json_dumps(export, 0); /* an export has no texts */
    assert_null(strstr(text, "Ann"));
    free(text);
    assert_int_equal(find(ledger, "ann lee"), 1);
    assert_int_equal(find(ledger, "Zoe"), 1);
    assert_int_equal(find(ledger, "nobody"), 0);
    assert_true(in_files(&where, "Ann Lee"));
    brume_redaction both = {&ann, 1, true, "request 12"}, question = {&bo, 1, false, "request 13"};
    assert_ok(brume_ledger_redact(ledger, &both, &count, &error));
    assert_int_equal(count, 1);
    assert_ok(brume_ledger_redact(ledger, &question, &count, &error));
    assert_false(in_files(&where, "Ann Lee"));
    assert_false(in_files(&where, "Zoe Ott"));
    assert_false(in_files(&where, "Bo Ek"));
    verify(ledger, export);
    /* no question has a record any more; by its number the kept answer has */
    assert_null(recall(ledger, "a"));
    assert_null(recall(ledger, "b"));
    assert_null(recall(ledger, "note of a"));
    answer = recall(ledger, "c");
    assert_non_null(answer);
    json_decref(answer);
    assert_ok(brume_ledger_recall_reservation(ledger, bo, &answer, &names, NULL, &error));
    json_decref(answer);
    json_decref(names);
    assert_fails(brume_ledger_recall_reservation(ledger, ann, &answer, &names, NULL, &error),
                 BRUME_EUNKNOWN);
    assert_non_null(strstr(error.message, "redacted"));
    /* asked again it is paid and recorded */
    assert_ok(ask(ledger, "SELECT 1 WHERE name = 'Ann Lee'", "a", "44", &ann, &error));
    answer = recall(ledger, "a");
    assert_non_null(answer);
    json_decref(answer);
    verify(ledger, export);
    /* and nothing was refunded */
    assert_ok(brume_ledger_dataset(ledger, "visits", &dataset, &error));
    assert_true(brume_decimal_nearest(&dataset->filter.spent) == 1);
    brume_dataset_close(dataset);
    /* twice does no harm; what is no charge is refused, and nothing changes */
    assert_ok(brume_ledger_redact(ledger, &question, &count, &error));
    uint64_t wrong[] = {bo, 2};
    brume_redaction no_charge = {wrong, 2, true, ""};
    assert_fails(brume_ledger_redact(ledger, &no_charge, &count, &error), BRUME_EUNKNOWN);
    verify(ledger, export);
    json_decref(export);
    brume_ledger_close(ledger);
    remove_place(&where);
}

static void copy_old(place *where)
{
    static char bytes[1 << 20];
    make_place(where);
    FILE *from = fopen(BRUME_TEST_DATA "/schema-4.db", "rb"), *to = fopen(where->path, "wb");
    assert_non_null(from);
    assert_non_null(to);
    size_t size = fread(bytes, 1, sizeof bytes, from);
    assert_int_equal(fwrite(bytes, 1, size, to), size);
    fclose(from);
    fclose(to);
}

/* Rows of older schemas are restated. Every subset of the charges that name somebody, with and
 * without their answers. */
static void older_rows_are_restated_and_keep_their_hashes(void **state)
{
    (void)state;
    static const uint64_t all[] = {6, 9, 15, 27};
    for (unsigned subset = 1; subset < 16; subset += 2) {
        place where;
        brume_error error = {0};
        json_t *export = NULL;
        uint64_t chosen[4], id = 0;
        size_t count = 0, done = 0;
        for (int i = 0; i < 4; i++)
            if (subset >> i & 1)
                chosen[count++] = all[i];
        copy_old(&where);
        brume_ledger *ledger = open_ledger(&where);
        assert_ok(brume_ledger_export(ledger, false, &export, &error));
        assert_int_equal(find(ledger, "ann lee"), 2);
        brume_redaction wanted = {chosen, count, subset & 2, "request 12"};
        assert_ok(brume_ledger_redact(ledger, &wanted, &done, &error));
        assert_int_equal(done, count);
        verify(ledger, export);
        wanted.answers = true; /* what is left of them too */
        wanted.charges = all;
        wanted.count = 4;
        assert_ok(brume_ledger_redact(ledger, &wanted, &done, &error));
        verify(ledger, export);
        assert_int_equal(find(ledger, "ann lee"), 0);
        assert_false(in_files(&where, "Ann Lee"));
        assert_false(in_files(&where, "Bo Ek"));
        assert_false(in_files(&where, "Cy Oz"));
        assert_fails(reserve(ledger, "rooms", "2.76", "key", &id, &error), BRUME_EBUDGET);
        brume_ledger_close(ledger);
        ledger = open_ledger(&where);
        assert_ok(reserve(ledger, "rooms", "2.75", "key", &id, &error));
        verify(ledger, export);
        json_decref(export);
        brume_ledger_close(ledger);
        remove_place(&where);
    }
}

/* What somebody changes after a redaction, or in place of one, is found. */
static void a_redaction_hides_no_change(void **state)
{
    (void)state;
    static const char *const edits[] = {
        "UPDATE journal SET body = replace(body, '0.5', '0.05') WHERE id = 6",
        "UPDATE journal SET body = replace(body, '\"redacted\":', '\"redacted\":1') WHERE id = 6",
        "UPDATE journal SET body = json_set(body, '$.redacted', 32) WHERE id = 12",
        "UPDATE journal SET body = json_remove(body, '$.sql', '$.typed') WHERE id = 12",
        "UPDATE journal SET hash = upper(hash) WHERE id = 6",
        "DELETE FROM wording",
    };
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        place where;
        brume_error error = {0};
        brume_ledger_report report;
        uint64_t ann = 6, id = 0;
        size_t done = 0;
        char *guard = NULL, sql[2048];
        copy_old(&where);
        brume_ledger *ledger = open_ledger(&where);
        brume_redaction wanted = {&ann, 1, true, "request 12"};
        assert_ok(brume_ledger_redact(ledger, &wanted, &done, &error));
        assert_ok(reserve(ledger, "rooms", "0.1", "key", &id, &error));
        brume_ledger_close(ledger);
        assert_int_equal(read_texts(&where,
                                    "SELECT sql FROM sqlite_schema WHERE name = "
                                    "'journal_keeps_text'",
                                    &guard, 1),
                         1);
        snprintf(sql, sizeof sql, "DROP TRIGGER journal_keeps_text; %s; %s", edits[i], guard);
        tamper(&where, sql);
        free(guard);
        ledger = open_ledger(&where);
        if (brume_ledger_verify(ledger, &report, &error) != BRUME_EDAMAGED)
            fail_msg("not found: %s", edits[i]);
        brume_ledger_close(ledger);
        remove_place(&where);
    }
}

/* With its guard the journal lets nothing be restated of which its newest row does not say so. */
static void the_journal_restates_only_what_its_newest_row_says(void **state)
{
    (void)state;
    place where;
    brume_error error = {0};
    uint64_t id = 0;
    make_place(&where);
    brume_ledger *ledger = open_ledger(&where);
    register_dataset(ledger, "visits", "2", NULL);
    assert_ok(ask(ledger, "SELECT 1", "a", "42", &id, &error));
    brume_ledger_close(ledger);
    char *texts[1] = {NULL};
    assert_int_equal(
        read_texts(&where, "UPDATE journal SET body = '{}' WHERE id = 3 RETURNING id", texts, 1),
        0);
    assert_int_equal(read_texts(&where, "SELECT body FROM journal WHERE id = 3", texts, 1), 1);
    assert_string_not_equal(texts[0], "{}");
    free(texts[0]);
    remove_place(&where);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_and_answers_are_taken_out_and_the_rest_holds),
        cmocka_unit_test(older_rows_are_restated_and_keep_their_hashes),
        cmocka_unit_test(a_redaction_hides_no_change),
        cmocka_unit_test(the_journal_restates_only_what_its_newest_row_says),
    };
    return cmocka_run_group_tests_name("redaction", tests, NULL, NULL);
}
