/* From an older schema to this one: nothing is lost, the chain goes on, and no crash leaves a half.
 * The older ledgers are data/schema-1.db to schema-5.db. */
#include "fixture.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ledger/series.h"
#include "ledger/user.h"

enum { OLD_ROWS = 97, OLD_DATASETS = 5, OLD_RESERVATIONS = 46, OLD_ANSWERS = 44, MOST = 512 };

/* A copy of an old ledger in a place of its own. */
static void copy_file(const char *name, place *where)
{
    static char bytes[1 << 20];
    make_place(where);
    FILE *from = fopen(name, "rb"), *to = fopen(where->path, "wb");
    assert_non_null(from);
    assert_non_null(to);
    size_t size = fread(bytes, 1, sizeof bytes, from);
    assert_holds(size > 0 && size < sizeof bytes);
    assert_int_equal(fwrite(bytes, 1, size, to), size);
    fclose(from);
    assert_int_equal(fclose(to), 0);
}

static void copy_old(place *where)
{
    copy_file(BRUME_TEST_DATA "/schema-1.db", where);
}

static brume_status open_as(const place *where, brume_ledger_mode mode, brume_error *error)
{
    brume_ledger *ledger = NULL;
    brume_status status = brume_ledger_open(where->path, mode, &ledger, error);
    brume_ledger_close(ledger);
    return status;
}

static int schema_of(const place *where)
{
    char *text = NULL;
    assert_int_equal(read_texts(where, "PRAGMA user_version", &text, 1), 1);
    int schema = atoi(text);
    free(text);
    return schema;
}

/* Everything that schema 1 holds, row by row as text. */
static size_t old_contents(const place *where, char **texts)
{
    return read_texts(
        where,
        "SELECT 'journal ' || json_array(id, time, kind, body, hash) FROM journal WHERE id <= 97 "
        "UNION ALL SELECT 'dataset ' || json_array(name, source, registered, data_version, filter, "
        "last, queries) FROM dataset UNION ALL SELECT 'reservation ' || json_array(id, answer_key, "
        "state) FROM reservation UNION ALL SELECT 'charge ' || json_array(dataset, reservation) "
        "FROM charge UNION ALL SELECT 'answer ' || json_array(answer_key, committed, body) FROM "
        "answer ORDER BY 1",
        texts, MOST);
}

static void free_texts(char **texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(texts[i]);
}

static void check_report(const place *where, uint64_t rows)
{
    brume_error error = {0};
    brume_ledger *ledger = NULL;
    brume_ledger_report report;
    assert_ok(brume_ledger_open(where->path, BRUME_LEDGER_READ, &ledger, &error));
    assert_ok(brume_ledger_verify(ledger, &report, &error));
    brume_ledger_close(ledger);
    assert_int_equal(report.rows, rows);
    assert_int_equal(report.datasets, OLD_DATASETS);
    assert_int_equal(report.reservations, OLD_RESERVATIONS);
    assert_int_equal(report.answers, OLD_ANSWERS);
}

static void an_older_ledger_is_read_as_it_is(void **state)
{
    (void)state;
    place where;
    brume_error error = {0};
    copy_old(&where);
    check_report(&where, OLD_ROWS);
    assert_int_equal(schema_of(&where), 1);
    brume_ledger *ledger = NULL;
    brume_dataset *dataset = NULL;
    assert_ok(brume_ledger_open(where.path, BRUME_LEDGER_READ, &ledger, &error));
    assert_ok(brume_ledger_dataset(ledger, "visits", &dataset, &error));
    assert_int_equal(dataset->queries, 42);
    brume_dataset_close(dataset);
    brume_ledger_close(ledger);
    remove_place(&where);
}

static void opening_for_writing_migrates_and_keeps_every_row(void **state)
{
    (void)state;
    place where;
    brume_error error = {0};
    static char *before[MOST], *after[MOST];
    copy_old(&where);
    size_t count = old_contents(&where, before);
    assert_int_equal(count, OLD_ROWS + OLD_DATASETS + 2 * OLD_RESERVATIONS + OLD_ANSWERS);
    assert_ok(open_as(&where, BRUME_LEDGER_WRITE, &error));
    assert_int_equal(schema_of(&where), 6);
    assert_int_equal(old_contents(&where, after), count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(before[i], after[i]);
    free_texts(before, count);
    free_texts(after, count);
    char *added = NULL;
    assert_int_equal(read_texts(&where, "SELECT kind FROM journal WHERE id > 97", &added, 1), 1);
    assert_string_equal(added, "migrate");
    free(added);
    check_report(&where, OLD_ROWS + 1);
    assert_ok(open_as(&where, BRUME_LEDGER_WRITE, &error)); /* once is enough */
    check_report(&where, OLD_ROWS + 1);
    remove_place(&where);
}

static void budgets_answers_and_exports_go_on_after_it(void **state)
{
    (void)state;
    place where;
    brume_error error = {0};
    uint64_t id = 0;
    brume_ledger *ledger = NULL;
    json_t *export = NULL, *answer = NULL;
    char *key = NULL;
    copy_old(&where);
    assert_ok(brume_ledger_open(where.path, BRUME_LEDGER_READ, &ledger, &error));
    assert_ok(brume_ledger_export(ledger, false, &export, &error));
    brume_ledger_close(ledger);
    assert_int_equal(read_texts(&where, "SELECT answer_key FROM answer LIMIT 1", &key, 1), 1);
    assert_ok(brume_ledger_open(where.path, BRUME_LEDGER_WRITE, &ledger, &error));
    assert_ok(brume_ledger_verify_against(ledger, export, &error));
    assert_ok(brume_ledger_recall(ledger, key, &answer, NULL, &error));
    assert_non_null(answer);
    /* 'people' has 0.5 of 1 left, and not a whole budget again. */
    assert_fails(reserve(ledger, "people", "0.51", "key", &id, &error), BRUME_EBUDGET);
    assert_ok(reserve(ledger, "people", "0.5", "key", &id, &error));
    assert_fails(reserve(ledger, "people", "0.01", "key", &id, &error), BRUME_EBUDGET);
    assert_ok(brume_ledger_fail(ledger, id, BRUME_EENGINE, &error));
    assert_ok(brume_ledger_verify_against(ledger, export, &error));
    brume_ledger_report report;
    assert_ok(brume_ledger_verify(ledger, &report, &error));
    brume_ledger_close(ledger);
    json_decref(export);
    json_decref(answer);
    free(key);
    remove_place(&where);
}

static void old_sources_are_known_by_their_paths_and_globs(void **state)
{
    (void)state;
    static const char *const paths[] = {"path:/tmp/clinic/visits.csv",
                                        "path:/tmp/clinic/parts/2026-09.csv"};
    place where;
    brume_error error = {0};
    copy_old(&where);
    brume_ledger *ledger = open_ledger(&where);
    brume_dataset *dataset = NULL;
    assert_ok(brume_ledger_dataset(ledger, "people", &dataset, &error));
    json_t *policy = json_object();
    brume_charge one = price_of("1", NULL);
    brume_filter filter;
    assert_ok(brume_filter_make(BRUME_RULE_PURE, &one.amount, &one.delta, NULL, &filter, &error));
    for (size_t i = 0; i < 2; i++) {
        brume_registration again = {.name = "new",
                                    .source = "by another name",
                                    .marks = &paths[i],
                                    .mark_count = 1,
                                    .data_version = "",
                                    .adjacency = BRUME_ADD_REMOVE,
                                    .filter = &filter,
                                    .policy = policy};
        assert_fails(brume_ledger_register(ledger, &again, &error), BRUME_EPOLICY);
    }
    json_decref(policy);
    brume_dataset_close(dataset);
    brume_ledger_close(ledger);
    remove_place(&where);
}

/* In schema 2 'people' is a protected file of 0.25 spent, 'codes' a public one. */
static void schema_2_goes_on_and_its_public_files_stay_public(void **state)
{
    (void)state;
    place where;
    brume_error error = {0};
    brume_ledger *ledger = NULL;
    brume_ledger_report report;
    json_t *history = NULL;
    uint64_t id = 0;
    copy_file(BRUME_TEST_DATA "/schema-2.db", &where);
    assert_ok(brume_ledger_open(where.path, BRUME_LEDGER_READ, &ledger, &error));
    assert_ok(brume_ledger_verify(ledger, &report, &error)); /* read as it is */
    brume_ledger_close(ledger);
    assert_int_equal(schema_of(&where), 2);
    ledger = open_ledger(&where);
    assert_int_equal(schema_of(&where), 6);
    assert_ok(brume_ledger_verify(ledger, &report, &error));
    assert_int_equal(report.rows, 6);
    assert_fails(reserve(ledger, "people", "0.76", "key", &id, &error), BRUME_EBUDGET);
    assert_ok(reserve(ledger, "people", "0.75", "key", &id, &error));
    /* Rows from before the typed SQL was kept show what they have. */
    assert_ok(brume_ledger_history(ledger, "people", NULL, &history, &error));
    const json_t *first = json_array_get(json_object_get(history, "events"), 0);
    assert_non_null(strstr(json_string_value(json_object_get(first, "sql")), "people"));
    assert_null(json_object_get(first, "normal"));
    json_decref(history);
    brume_ledger_close(ledger);
    char *marks = NULL;
    assert_int_equal(read_texts(&where,
                                "SELECT group_concat(DISTINCT dataset) FROM mark WHERE mark LIKE "
                                "'public %'",
                                &marks, 1),
                     1);
    assert_string_equal(marks, "codes");
    free(marks);
    remove_place(&where);
}

/* In schema 3 'people' has 0.25 of 1 spent, 'rooms' (replace, approximate) 0.5 of 2, 'codes' is
 * public, and there are a row that amends and one that refuses. */
static void schema_3_goes_on_and_takes_users(void **state)
{
    (void)state;
    place where;
    brume_error error = {0};
    brume_ledger *ledger = NULL;
    brume_ledger_report report;
    json_t *export = NULL, *users = NULL;
    brume_user *user = NULL;
    char token[BRUME_TOKEN_TEXT];
    uint64_t id = 0;
    copy_file(BRUME_TEST_DATA "/schema-3.db", &where);
    assert_ok(brume_ledger_open(where.path, BRUME_LEDGER_READ, &ledger, &error));
    assert_ok(brume_ledger_verify(ledger, &report, &error)); /* read as it is: nobody is a user */
    assert_ok(brume_ledger_export(ledger, false, &export, &error));
    assert_ok(brume_ledger_users(ledger, 0, &users, &error));
    assert_int_equal(json_array_size(users), 0);
    json_decref(users);
    assert_fails(brume_ledger_authenticate(ledger, "brume_", 0, &user, &error), BRUME_EPOLICY);
    assert_ok(brume_ledger_find_user(ledger, "alice", 0, &user, &error));
    assert_int_equal(user->role, BRUME_ROLE_NONE);
    brume_user_close(user);
    brume_ledger_close(ledger);
    assert_int_equal(schema_of(&where), 3);
    ledger = open_ledger(&where);
    assert_int_equal(schema_of(&where), 6);
    assert_ok(brume_ledger_verify_against(ledger, export, &error));
    brume_allotment allotment = {"rooms", "1", NULL};
    brume_new_user alice = {"alice", BRUME_ROLE_ANALYST, 0, &allotment, 1};
    assert_ok(brume_ledger_add_user(ledger, &alice, token, &error));
    assert_fails(reserve(ledger, "people", "0.76", "key", &id, &error), BRUME_EBUDGET);
    assert_ok(reserve(ledger, "people", "0.75", "key", &id, &error));
    assert_ok(brume_ledger_verify(ledger, &report, &error));
    assert_int_equal(report.rows, 15);
    assert_int_equal(report.users, 1);
    json_decref(export);
    brume_ledger_close(ledger);
    remove_place(&where);
}

/* In schema 4 'visits' has 2.7 of 8 spent in seven charges, two of them of one question, one of a
 * stream; 'rooms' 0.25 of 3; queries that name people; and notes of chosen limits. */
static void schema_4_goes_on_and_finds_its_answers(void **state)
{
    (void)state;
    place where;
    brume_error error = {0};
    brume_ledger *ledger = NULL;
    brume_ledger_report report;
    json_t *export = NULL, *answer = NULL, *history = NULL;
    char *keys[32];
    copy_file(BRUME_TEST_DATA "/schema-4.db", &where);
    size_t count = read_texts(&where, "SELECT answer_key FROM answer", keys, 32);
    assert_int_equal(count, 13);
    assert_ok(brume_ledger_open(where.path, BRUME_LEDGER_READ, &ledger, &error));
    assert_ok(brume_ledger_verify(ledger, &report, &error)); /* read as it is */
    assert_int_equal(report.rows, 30);
    assert_int_equal(report.answers, 8);
    assert_ok(brume_ledger_export(ledger, false, &export, &error));
    assert_ok(brume_ledger_recall(ledger, keys[0], &answer, NULL, &error));
    assert_non_null(answer);
    json_decref(answer);
    brume_ledger_close(ledger);
    assert_int_equal(schema_of(&where), 4);
    ledger = open_ledger(&where);
    assert_int_equal(schema_of(&where), 6);
    assert_ok(brume_ledger_verify(ledger, &report, &error));
    assert_int_equal(report.rows, 31);
    assert_int_equal(report.answers, 8);
    assert_ok(brume_ledger_verify_against(ledger, export, &error));
    for (size_t i = 0; i < count; i++) { /* each under the key that it always had */
        assert_ok(brume_ledger_recall(ledger, keys[i], &answer, NULL, &error));
        assert_non_null(answer);
        json_decref(answer);
        free(keys[i]);
    }
    assert_ok(brume_ledger_history(ledger, "visits", NULL, &history, &error));
    const json_t *first = json_array_get(json_object_get(history, "events"), 1);
    assert_non_null(strstr(json_string_value(json_object_get(first, "sql")), "Ann Lee"));
    json_decref(history);
    json_decref(export);
    brume_ledger_close(ledger);
    remove_place(&where);
}

/* In schema 5 'grown' has windows, 'stays' an open series, a charge of 'visits' was redacted and
 * one published, and 'ann' has an allotment. */
static void schema_5_goes_on_with_windows_series_and_redactions(void **state)
{
    (void)state;
    place where;
    brume_error error = {0};
    brume_ledger *ledger = NULL;
    brume_ledger_report before, after;
    json_t *export = NULL, *history = NULL, *answer = NULL, *names = NULL;
    char *keys[32];
    uint64_t id = 0;
    size_t i = 0, redacted = 0;
    json_t *event = NULL;
    copy_file(BRUME_TEST_DATA "/schema-5.db", &where);
    size_t count =
        read_texts(&where,
                   "SELECT reservation.id FROM reservation JOIN answer USING(answer_key) "
                   "WHERE state = 'committed'",
                   keys, 32);
    assert_int_equal(count, 5);
    assert_ok(brume_ledger_open(where.path, BRUME_LEDGER_READ, &ledger, &error));
    assert_ok(brume_ledger_verify(ledger, &before, &error)); /* read as it is */
    assert_ok(brume_ledger_export(ledger, true, &export, &error));
    for (i = 0; i < count; i++) {
        assert_ok(brume_ledger_recall_reservation(ledger, strtoull(keys[i], NULL, 10), &answer,
                                                  &names, NULL, &error));
        json_decref(answer);
        json_decref(names);
    }
    brume_ledger_close(ledger);
    assert_int_equal(schema_of(&where), 5);
    ledger = open_ledger(&where);
    assert_int_equal(schema_of(&where), 6);
    assert_ok(brume_ledger_verify(ledger, &after, &error));
    assert_int_equal(after.rows, before.rows + 1);
    assert_int_equal(after.answers, before.answers);
    assert_int_equal(after.reservations, before.reservations);
    assert_int_equal(after.users, 2);
    assert_ok(brume_ledger_verify_against(ledger, export, &error));
    for (i = 0; i < count; i++) {
        assert_ok(brume_ledger_recall_reservation(ledger, strtoull(keys[i], NULL, 10), &answer,
                                                  &names, NULL, &error));
        json_decref(answer);
        json_decref(names);
        free(keys[i]);
    }
    assert_ok(brume_ledger_history(ledger, "visits", NULL, &history, &error));
    json_array_foreach (json_object_get(history, "events"), i, event)
        redacted += json_is_true(json_object_get(event, "redacted"));
    assert_int_equal(redacted, 1);
    json_decref(history);
    assert_ok(brume_ledger_series_names(ledger, &names, &error));
    assert_int_equal(json_array_size(names), 1);
    json_decref(names);
    assert_fails(reserve(ledger, "rooms", "3.26", "key", &id, &error), BRUME_EBUDGET);
    assert_ok(reserve(ledger, "rooms", "3.25", "key", &id, &error));
    assert_ok(brume_ledger_verify(ledger, &after, &error));
    json_decref(export);
    brume_ledger_close(ledger);
    remove_place(&where);
}

static void an_older_ledger_that_does_not_hold_is_not_migrated(void **state)
{
    (void)state;
    static const char *const edits[] = {
        "UPDATE dataset SET queries = 1 WHERE name = 'visits'",
        "UPDATE dataset SET filter = (SELECT filter FROM dataset WHERE name = 'again') WHERE name "
        "= 'people'",
        "DELETE FROM answer WHERE committed = 8",
        "UPDATE reservation SET state = 'failed'",
        "CREATE TABLE mark(x)",
        "INSERT INTO journal VALUES(98, 'now', 'migrate', '{}', 'hash')",
    };
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        place where;
        brume_error error = {0};
        copy_old(&where);
        tamper(&where, edits[i]);
        assert_fails(open_as(&where, BRUME_LEDGER_WRITE, &error), BRUME_EDAMAGED);
        assert_int_equal(schema_of(&where), 1);
        remove_place(&where);
    }
}

/* ---- what can go wrong while it is done ---- */

static int in_child(void (*prepare)(const place *), const place *where, char *message)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        brume_error error = {0};
        prepare(where);
        brume_status status = open_as(where, BRUME_LEDGER_WRITE, &error);
        ssize_t written = write(ends[1], error.message, sizeof error.message);
        _exit(written < 0 ? 99 : (int)status);
    }
    close(ends[1]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_holds(read(ends[0], message, sizeof((brume_error *)0)->message) > 0);
    close(ends[0]);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void limit_file_size(const place *where)
{
    (void)where;
    struct rlimit limit = {4096, 4096}; /* like a full disk: the log cannot grow */
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
}

static void become_nobody(const place *where, mode_t folder)
{
    if (chmod(where->path, 0444) != 0 || chmod(where->folder, folder) != 0)
        _exit(99);
    if (geteuid() == 0 && setuid(65534) != 0)
        _exit(99);
}

static void lock_file(const place *where)
{
    become_nobody(where, 0777);
}

static void lock_folder(const place *where)
{
    become_nobody(where, 0555);
}

static void a_full_disk_or_a_read_only_file_leaves_the_old_ledger(void **state)
{
    (void)state;
    place where;
    brume_error error = {0};
    char message[sizeof error.message] = "";
    copy_old(&where);
    assert_int_equal(in_child(limit_file_size, &where, message), BRUME_EDISK);
    assert_int_equal(schema_of(&where), 1);
    assert_int_equal(in_child(lock_file, &where, message), BRUME_EDISK);
    assert_non_null(strstr(message, "older schema, and read-only"));
    assert_int_equal(in_child(lock_folder, &where, message), BRUME_EDISK);
    assert_non_null(strstr(message, "read-only"));
    chmod(where.folder, 0700);
    chmod(where.path, 0600);
    assert_int_equal(schema_of(&where), 1);
    check_report(&where, OLD_ROWS);
    assert_ok(open_as(&where, BRUME_LEDGER_WRITE, &error));
    check_report(&where, OLD_ROWS + 1);
    remove_place(&where);
}

static void a_killed_migration_leaves_the_old_ledger_or_the_new_one(void **state)
{
    (void)state;
    enum { KILLS = 120 };
    place where;
    brume_error error = {0};
    struct timespec began, ended;
    copy_old(&where);
    clock_gettime(CLOCK_MONOTONIC, &began);
    assert_ok(open_as(&where, BRUME_LEDGER_WRITE, &error));
    clock_gettime(CLOCK_MONOTONIC, &ended);
    remove_place(&where);
    long usual = (long)(ended.tv_sec - began.tv_sec) * 1000000000L + ended.tv_nsec - began.tv_nsec;
    srandom(20261115); /* when they die; the test's outcome must not depend on it */
    int old = 0, new = 0;
    for (int i = 0; i < KILLS; i++) {
        copy_old(&where);
        pid_t child = fork();
        if (child == 0)
            _exit((int)open_as(&where, BRUME_LEDGER_WRITE, &error));
        long moment = (long)((double)random() / 2147483648.0 * 1.5 * (double)usual);
        struct timespec pause = {moment / 1000000000L, moment % 1000000000L};
        nanosleep(&pause, NULL);
        kill(child, SIGKILL);
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_holds(WIFSIGNALED(status) || WEXITSTATUS(status) == BRUME_OK);
        int schema = schema_of(&where);
        old += schema == 1;
        new += schema == 6;
        check_report(&where, schema == 1 ? OLD_ROWS : OLD_ROWS + 1);
        assert_ok(open_as(&where, BRUME_LEDGER_WRITE, &error));
        check_report(&where, OLD_ROWS + 1);
        remove_place(&where);
    }
    assert_int_equal(old + new, KILLS);
    print_message("# killed before the end %d times, after it %d times\n", old, new);
}

static void of_many_processes_one_migrates(void **state)
{
    (void)state;
    enum { PROCESSES = 12 };
    place where;
    copy_old(&where);
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++)
        if ((children[i] = fork()) == 0) {
            brume_error error = {0};
            _exit((int)open_as(&where, BRUME_LEDGER_WRITE, &error));
        }
    for (int i = 0; i < PROCESSES; i++) {
        int status = 0;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), BRUME_OK);
    }
    check_report(&where, OLD_ROWS + 1);
    remove_place(&where);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_older_ledger_is_read_as_it_is),
        cmocka_unit_test(opening_for_writing_migrates_and_keeps_every_row),
        cmocka_unit_test(budgets_answers_and_exports_go_on_after_it),
        cmocka_unit_test(old_sources_are_known_by_their_paths_and_globs),
        cmocka_unit_test(schema_2_goes_on_and_its_public_files_stay_public),
        cmocka_unit_test(schema_3_goes_on_and_takes_users),
        cmocka_unit_test(schema_4_goes_on_and_finds_its_answers),
        cmocka_unit_test(schema_5_goes_on_with_windows_series_and_redactions),
        cmocka_unit_test(an_older_ledger_that_does_not_hold_is_not_migrated),
        cmocka_unit_test(a_full_disk_or_a_read_only_file_leaves_the_old_ledger),
        cmocka_unit_test(a_killed_migration_leaves_the_old_ledger_or_the_new_one),
        cmocka_unit_test(of_many_processes_one_migrates),
    };
    return cmocka_run_group_tests_name("ledger migration", tests, NULL, NULL);
}
