/* What happens when the file is not what brume wrote: a clear error, nothing charged, nothing lost.
 */
#include "fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A ledger with one dataset, one open and one answered reservation; closed. */
static void make_ledger(place *where)
{
    brume_error error = {0};
    uint64_t id = 0;
    make_place(where);
    brume_ledger *ledger = open_ledger(where);
    register_dataset(ledger, "visits", "1", NULL);
    assert_ok(reserve(ledger, "visits", "0.25", "open", &id, &error));
    assert_ok(reserve(ledger, "visits", "0.5", "answered", &id, &error));
    json_t *answer = json_pack("[i]", 42);
    assert_ok(brume_ledger_commit(ledger, id, answer, &error));
    json_decref(answer);
    brume_ledger_close(ledger);
}

static brume_status verify_file(const place *where, brume_error *error)
{
    brume_ledger *ledger = NULL;
    brume_ledger_report report;
    brume_status status = brume_ledger_open(where->path, BRUME_LEDGER_READ, &ledger, error);
    if (status == BRUME_OK)
        status = brume_ledger_verify(ledger, &report, error);
    brume_ledger_close(ledger);
    return status;
}

static brume_status reserve_in_file(const place *where, brume_error *error)
{
    brume_ledger *ledger = NULL;
    uint64_t id = 0;
    brume_status status = brume_ledger_open(where->path, BRUME_LEDGER_WRITE, &ledger, error);
    if (status == BRUME_OK)
        status = reserve(ledger, "visits", "0.1", "key", &id, error);
    brume_ledger_close(ledger);
    return status;
}

static brume_status read_history(const place *where, brume_error *error)
{
    brume_ledger *ledger = NULL;
    json_t *history = NULL;
    brume_status status = brume_ledger_open(where->path, BRUME_LEDGER_READ, &ledger, error);
    if (status == BRUME_OK)
        status = brume_ledger_history(ledger, NULL, NULL, &history, error);
    json_decref(history);
    brume_ledger_close(ledger);
    return status;
}

/* What was possible before each of the edits is refused as damage after it. */
static void assert_found(const char *const *edits, size_t count,
                         void (*edit)(const place *where, const char *sql),
                         brume_status (*attempt)(const place *where, brume_error *error))
{
    for (size_t i = 0; i < count; i++) {
        place where;
        brume_error error = {0};
        make_ledger(&where);
        assert_ok(attempt(&where, &error));
        edit(&where, edits[i]);
        if (attempt(&where, &error) != BRUME_EDAMAGED)
            fail_msg("not found: %s", edits[i]);
        remove_place(&where);
    }
}

static void every_edit_beside_the_journal_is_found_by_verify(void **state)
{
    (void)state;
    static const char *const edits[] = {
        "UPDATE dataset SET filter = (SELECT json_extract(body, '$.filter') FROM journal WHERE "
        "kind='register')",
        "UPDATE dataset SET queries = 0",
        "UPDATE dataset SET source = 'elsewhere'",
        "UPDATE dataset SET last = 2",
        "UPDATE dataset SET data_version = '2'",
        "UPDATE dataset SET name = 'other'",
        "DELETE FROM dataset",
        "UPDATE reservation SET state = 'failed'",
        "DELETE FROM reservation WHERE state = 'reserved'",
        "INSERT INTO reservation VALUES(99, 'key', 'reserved')",
        "DELETE FROM charge",
        "UPDATE answer SET body = '[43]'",
        "DELETE FROM answer",
        "INSERT INTO answer VALUES('key', 4, '', '[1]')",
        "UPDATE answer SET salt = ''",
        "UPDATE wording SET body = replace(body, 'COUNT', 'MIN')",
        "DELETE FROM wording",
        "INSERT INTO wording VALUES(99, '', '{}')",
        "INSERT INTO journal VALUES(6, 'now', 'create', '{}', 'hash')",
        "DELETE FROM mark",
        "UPDATE mark SET dataset = 'other'",
        "INSERT INTO mark VALUES('visits', 'more')",
        "UPDATE secret SET value = 'guessed'",
    };
    assert_found(edits, sizeof edits / sizeof *edits, tamper, verify_file);
}

static void a_reset_state_buys_nothing(void **state)
{
    (void)state;
    place where;
    brume_error error = {0};
    make_ledger(&where);
    tamper(&where,
           "UPDATE dataset SET filter = (SELECT json_extract(body, '$.filter') FROM journal "
           "WHERE kind='register')");
    assert_fails(reserve_in_file(&where, &error), BRUME_EDAMAGED);
    tamper(&where, "UPDATE dataset SET last = 2"); /* now state and row agree */
    assert_fails(reserve_in_file(&where, &error), BRUME_EDAMAGED);
    tamper(&where, "UPDATE dataset SET queries = 0; DELETE FROM charge; DELETE FROM reservation");
    assert_fails(reserve_in_file(&where, &error), BRUME_EDAMAGED);
    assert_fails(verify_file(&where, &error), BRUME_EDAMAGED);
    remove_place(&where);
}

/* Change the journal in spite of its guards, which are put back as they were. */
static void tamper_journal(const place *where, const char *edit)
{
    char sql[2048], *guards = NULL;
    assert_int_equal(read_texts(where,
                                "SELECT group_concat(sql, ';') FROM sqlite_schema WHERE type = "
                                "'trigger'",
                                &guards, 1),
                     1);
    snprintf(sql, sizeof sql,
             "DROP TRIGGER journal_keeps_text; DROP TRIGGER journal_keeps_rows; %s; %s", edit,
             guards);
    free(guards);
    tamper(where, sql);
}

static void a_changed_journal_row_is_found(void **state)
{
    (void)state;
    static const char *const edits[] = {
        "UPDATE journal SET body = replace(body, '0.5', '0.05') WHERE kind = 'reserve'",
        "UPDATE journal SET time = 'yesterday' WHERE id = 3",
        "DELETE FROM journal WHERE id = 5",
        "DELETE FROM journal WHERE id = 3",
    };
    assert_found(edits, sizeof edits / sizeof *edits, tamper_journal, verify_file);
}

static void a_history_that_cannot_be_read_is_an_error(void **state)
{
    (void)state;
    static const char *const edits[] = {
        "UPDATE journal SET body = replace(body, 'dataset', 'datasex') WHERE kind = 'reserve'",
        "UPDATE journal SET body = replace(body, 'price', 'prize') WHERE kind = 'reserve'",
        "UPDATE journal SET body = replace(body, '0.5', 'half') WHERE kind = 'reserve'",
        "UPDATE journal SET body = 'gone' WHERE kind = 'reserve'",
    };
    assert_found(edits, sizeof edits / sizeof *edits, tamper_journal, read_history);
}

static void a_foreign_trigger_table_or_missing_guard_is_refused_at_once(void **state)
{
    (void)state;
    static const char *const edits[] = {
        "DROP TRIGGER journal_keeps_rows",
        "CREATE TRIGGER refund AFTER INSERT ON charge BEGIN UPDATE dataset SET queries = 0; END",
        "CREATE TABLE extra(x)",
        "CREATE VIEW other AS SELECT 1",
    };
    assert_found(edits, sizeof edits / sizeof *edits, tamper, reserve_in_file);
}

static void a_newer_schema_is_refused_and_untouched(void **state)
{
    (void)state;
    place where;
    brume_error error = {0};
    make_ledger(&where);
    tamper(&where, "PRAGMA user_version = 1000");
    assert_fails(reserve_in_file(&where, &error), BRUME_EUNSUPPORTED);
    assert_non_null(strstr(error.message, "1000"));
    tamper(&where, "PRAGMA user_version = 6");
    assert_ok(reserve_in_file(&where, &error));
    tamper(&where, "PRAGMA user_version = 5"); /* what it says of itself must be true */
    assert_fails(reserve_in_file(&where, &error), BRUME_EDAMAGED);
    remove_place(&where);
}

static void write_file(const place *where, const void *bytes, size_t size)
{
    FILE *file = fopen(where->path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void a_file_that_is_no_ledger_is_refused_and_untouched(void **state)
{
    (void)state;
    place where;
    brume_error error = {0};
    brume_ledger *ledger = NULL;
    make_place(&where);
    assert_fails(brume_ledger_open(where.path, BRUME_LEDGER_READ, &ledger, &error), BRUME_ESOURCE);
    assert_fails(brume_ledger_open(where.path, BRUME_LEDGER_WRITE, &ledger, &error), BRUME_ESOURCE);
    char text[4096] = "name,age\nada,36\n";
    write_file(&where, text, sizeof text);
    assert_fails(brume_ledger_open(where.path, BRUME_LEDGER_CREATE, &ledger, &error),
                 BRUME_EDAMAGED);
    struct stat file;
    assert_int_equal(stat(where.path, &file), 0);
    assert_int_equal(file.st_size, sizeof text);
    unlink(where.path);
    tamper(&where, "CREATE TABLE accounts(x); INSERT INTO accounts VALUES(1)"); /* somebody's */
    assert_fails(brume_ledger_open(where.path, BRUME_LEDGER_CREATE, &ledger, &error),
                 BRUME_EDAMAGED);
    tamper(&where, "INSERT INTO accounts VALUES(2)");
    assert_fails(brume_ledger_open(where.folder, BRUME_LEDGER_CREATE, &ledger, &error),
                 BRUME_EDAMAGED);
    assert_fails(
        brume_ledger_open("/nowhere/at/all/brume.db", BRUME_LEDGER_CREATE, &ledger, &error),
        BRUME_EDISK);
    assert_null(ledger);
    remove_place(&where);
}

static void flipped_bytes_never_crash_and_never_verify(void **state)
{
    (void)state;
    place where;
    brume_error error = {0};
    make_ledger(&where);
    static unsigned char bytes[1 << 20];
    FILE *file = fopen(where.path, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    size_t found = 0, tried = 0;
    for (size_t at = 100; at < size; at += 211) {
        unsigned char before = bytes[at];
        bytes[at] ^= 0x41;
        write_file(&where, bytes, size);
        /* A flip in unused space changes nothing; any other must be found. */
        found += verify_file(&where, &error) != BRUME_OK;
        tried++;
        bytes[at] = before;
    }
    assert_holds(found > 0 && tried > 50);
    write_file(&where, bytes, size / 2);
    assert_holds(verify_file(&where, &error) != BRUME_OK);
    remove_place(&where);
}

/* A source that is not found in an index could be registered once more, with a second budget: no
 * table says so, and no digest. */
static void a_damaged_index_is_found(void **state)
{
    (void)state;
    static const char *const roots[] = {
        "SELECT rootpage FROM sqlite_schema WHERE name = 'dataset_source'",
        "SELECT rootpage FROM sqlite_schema WHERE name = 'mark_of_datasets'"};
    for (size_t i = 0; i < 2; i++) {
        place where;
        brume_error error = {0};
        char *texts[2] = {NULL, NULL};
        make_ledger(&where);
        assert_ok(verify_file(&where, &error));
        assert_int_equal(read_texts(&where, roots[i], texts, 1), 1);
        assert_int_equal(read_texts(&where, "PRAGMA page_size", texts + 1, 1), 1);
        long end = atol(texts[0]) * atol(texts[1]); /* of the page: entries begin there */
        FILE *file = fopen(where.path, "r+b");
        assert_non_null(file);
        assert_int_equal(fseek(file, end - 12, SEEK_SET), 0);
        int byte = fgetc(file);
        assert_true(byte > ' ');
        assert_int_equal(fseek(file, end - 12, SEEK_SET), 0);
        assert_int_equal(fputc(byte ^ 1, file), byte ^ 1);
        assert_int_equal(fclose(file), 0);
        assert_fails(verify_file(&where, &error), BRUME_EDAMAGED);
        free(texts[0]);
        free(texts[1]);
        remove_place(&where);
    }
}

/* Run in a child process; its exit status is the brume_status. */
static int in_child(void (*prepare)(const place *), const place *where)
{
    pid_t child = fork();
    if (child == 0) {
        brume_error error = {0};
        prepare(where);
        _exit((int)reserve_in_file(where, &error));
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void limit_file_size(const place *where)
{
    /* Like a full disk: the log cannot grow. */
    (void)where;
    struct rlimit limit = {4096, 4096};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
}

static void become_nobody(const place *where)
{
    if (chmod(where->path, 0444) != 0 || chmod(where->folder, 0555) != 0)
        _exit(99);
    if (geteuid() == 0 && setuid(65534) != 0)
        _exit(99);
}

static void a_full_disk_gives_an_error_and_charges_nothing(void **state)
{
    (void)state;
    place where;
    brume_error error = {0};
    make_ledger(&where);
    assert_int_equal(in_child(limit_file_size, &where), BRUME_EDISK);
    assert_ok(verify_file(&where, &error));
    assert_ok(reserve_in_file(&where, &error)); /* 0.25 were left, and still are */
    assert_ok(reserve_in_file(&where, &error));
    assert_fails(reserve_in_file(&where, &error), BRUME_EBUDGET);
    remove_place(&where);
}

static void a_read_only_ledger_gives_an_error_and_charges_nothing(void **state)
{
    (void)state;
    place where;
    brume_error error = {0};
    make_ledger(&where);
    assert_int_equal(in_child(become_nobody, &where), BRUME_EDISK);
    chmod(where.folder, 0700);
    chmod(where.path, 0600);
    assert_ok(verify_file(&where, &error));
    assert_ok(reserve_in_file(&where, &error));
    remove_place(&where);
}

static void an_edit_between_reservation_and_answer_keeps_the_answer_back(void **state)
{
    (void)state;
    static const char *const edits[] = {
        "UPDATE dataset SET filter = (SELECT json_extract(body, '$.filter') FROM journal WHERE "
        "kind='register')",
        "DELETE FROM mark",
        "DROP TRIGGER journal_keeps_rows; DELETE FROM journal WHERE id = (SELECT max(id) FROM "
        "journal)",
    };
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        place where;
        brume_error error = {0};
        uint64_t id = 0;
        make_ledger(&where);
        brume_ledger *ledger = open_ledger(&where);
        assert_ok(reserve(ledger, "visits", "0.1", "key", &id, &error));
        tamper(&where, edits[i]);
        json_t *answer = json_pack("[i]", 42);
        assert_fails(brume_ledger_commit(ledger, id, answer, &error), BRUME_EDAMAGED);
        json_decref(answer);
        brume_ledger_close(ledger);
        remove_place(&where);
    }
}

static void a_ledger_that_is_replaced_in_use_gets_no_charge_and_gives_no_answer(void **state)
{
    (void)state;
    place where;
    brume_error error = {0};
    uint64_t id = 0, unused = 0;
    char away[128];
    make_ledger(&where);
    brume_ledger *ledger = open_ledger(&where);
    assert_ok(reserve(ledger, "visits", "0.1", "key", &id, &error));
    snprintf(away, sizeof away, "%s/away.db", where.folder);
    assert_int_equal(rename(where.path, away), 0);
    json_t *answer = json_pack("[i]", 42);
    assert_fails(brume_ledger_commit(ledger, id, answer, &error), BRUME_EDAMAGED);
    assert_non_null(strstr(error.message, "moved or replaced"));
    write_file(&where, "an older copy", 13);
    assert_fails(brume_ledger_commit(ledger, id, answer, &error), BRUME_EDAMAGED);
    assert_fails(reserve(ledger, "visits", "0.1", "other", &unused, &error), BRUME_EDAMAGED);
    assert_int_equal(rename(away, where.path), 0);
    assert_ok(brume_ledger_commit(ledger, id, answer, &error)); /* put back, it goes on */
    json_decref(answer);
    brume_ledger_close(ledger);
    assert_ok(verify_file(&where, &error));
    remove_place(&where);
}

static void a_second_name_of_the_ledger_buys_nothing(void **state)
{
    (void)state;
    place where, other;
    brume_error error = {0};
    uint64_t id = 0;
    make_ledger(&where);
    other = where;
    snprintf(other.path, sizeof other.path, "%s/other.db", where.folder);
    brume_ledger *ledger = open_ledger(&where);
    assert_ok(reserve(ledger, "visits", "0.1", "key", &id, &error)); /* in the log of one name */
    assert_int_equal(link(where.path, other.path), 0);
    assert_fails(reserve_in_file(&other, &error), BRUME_EDAMAGED);
    assert_non_null(strstr(error.message, "several names"));
    assert_fails(verify_file(&other, &error), BRUME_EDAMAGED);
    assert_fails(reserve(ledger, "visits", "0.1", "more", &id, &error), BRUME_EDAMAGED);
    brume_ledger_close(ledger);
    unlink(other.path);
    assert_ok(verify_file(&where, &error));
    /* A symbolic link is the same file with the same log. */
    assert_int_equal(symlink(where.path, other.path), 0);
    ledger = open_ledger(&where);
    assert_ok(reserve(ledger, "visits", "0.1", "key", &id, &error)); /* 0.05 are left */
    assert_fails(reserve_in_file(&other, &error), BRUME_EBUDGET);
    brume_ledger_close(ledger);
    unlink(other.path);
    remove_place(&where);
}

static void a_name_that_means_memory_to_sqlite_is_a_file(void **state)
{
    (void)state;
    static const char *const names[] = {":memory:", "file::memory:", "file:x?mode=memory"};
    place where;
    brume_error error = {0};
    char before[256];
    make_place(&where);
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(where.folder), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        brume_ledger *ledger = NULL;
        assert_ok(brume_ledger_open(names[i], BRUME_LEDGER_CREATE, &ledger, &error));
        register_dataset(ledger, "visits", "1", NULL);
        brume_ledger_close(ledger);
        assert_ok(brume_ledger_open(names[i], BRUME_LEDGER_READ, &ledger, &error));
        brume_dataset *dataset = NULL;
        assert_ok(brume_ledger_dataset(ledger, "visits", &dataset, &error));
        brume_dataset_close(dataset);
        brume_ledger_close(ledger);
        unlink(names[i]);
    }
    assert_int_equal(chdir(before), 0);
    remove_place(&where);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_edit_beside_the_journal_is_found_by_verify),
        cmocka_unit_test(a_reset_state_buys_nothing),
        cmocka_unit_test(a_changed_journal_row_is_found),
        cmocka_unit_test(a_history_that_cannot_be_read_is_an_error),
        cmocka_unit_test(a_foreign_trigger_table_or_missing_guard_is_refused_at_once),
        cmocka_unit_test(a_newer_schema_is_refused_and_untouched),
        cmocka_unit_test(a_file_that_is_no_ledger_is_refused_and_untouched),
        cmocka_unit_test(flipped_bytes_never_crash_and_never_verify),
        cmocka_unit_test(a_damaged_index_is_found),
        cmocka_unit_test(an_edit_between_reservation_and_answer_keeps_the_answer_back),
        cmocka_unit_test(a_ledger_that_is_replaced_in_use_gets_no_charge_and_gives_no_answer),
        cmocka_unit_test(a_second_name_of_the_ledger_buys_nothing),
        cmocka_unit_test(a_name_that_means_memory_to_sqlite_is_a_file),
        cmocka_unit_test(a_full_disk_gives_an_error_and_charges_nothing),
        cmocka_unit_test(a_read_only_ledger_gives_an_error_and_charges_nothing),
    };
    return cmocka_run_group_tests_name("ledger damage", tests, NULL, NULL);
}
