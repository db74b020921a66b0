/* Parts of what a reservation releases, recorded before the rest is drawn: notes, and the progress
 * of streams. Both belong to a reservation that is open, and to a ledger that nobody edited. */
#include "fixture.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

static brume_error error;

static void a_note_is_recalled_and_the_first_one_stays(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    uint64_t id = 0;
    json_t *answer = NULL, *first = json_pack("{s:i}", "limit", 3), *later = json_object();
    register_dataset(ledger, "visits", "1", NULL);
    assert_ok(reserve(ledger, "visits", "0.1", "key", &id, &error));
    assert_ok(brume_ledger_note(ledger, id, "part", first, &error));
    assert_ok(brume_ledger_note(ledger, id, "part", later, &error));
    assert_ok(brume_ledger_recall(ledger, "part", &answer, NULL, &error));
    assert_true(json_equal(answer, first));
    json_decref(answer);
    assert_ok(brume_ledger_recall(ledger, "key", &answer, NULL, &error));
    assert_null(answer); /* the whole is not answered */
    brume_ledger_report report;
    assert_ok(brume_ledger_verify(ledger, &report, &error));
    assert_ok(brume_ledger_commit(ledger, id, later, &error));
    assert_fails(brume_ledger_note(ledger, id, "another", first, &error), BRUME_EARGUMENT);
    assert_ok(brume_ledger_verify(ledger, &report, &error));
    json_decref(first);
    json_decref(later);
}

/* Is a note on disk, or only seen by the connection that wrote it? */
static void a_note_and_the_progress_of_a_stream_outlive_the_process(void **state)
{
    (void)state;
    place where;
    uint64_t id = 0;
    json_t *part = json_pack("{s:i}", "limit", 3), *answer = NULL, *history = NULL;
    make_place(&where);
    brume_ledger *ledger = open_ledger(&where);
    register_dataset(ledger, "visits", "1", NULL);
    assert_ok(reserve(ledger, "visits", "0.1", "key", &id, &error));
    assert_ok(brume_ledger_note(ledger, id, "part", part, &error));
    assert_ok(brume_ledger_progress(ledger, id, 5, 2, &error));
    brume_ledger_close(ledger);
    ledger = open_ledger(&where);
    assert_ok(brume_ledger_recall(ledger, "part", &answer, NULL, &error));
    assert_true(json_equal(answer, part));
    assert_ok(brume_ledger_history(ledger, "visits", NULL, &history, &error));
    const json_t *event = json_array_get(json_object_get(history, "events"), 0);
    const json_t *progress = json_object_get(event, "progress");
    assert_int_equal(json_integer_value(json_object_get(progress, "asked")), 5);
    assert_int_equal(json_integer_value(json_object_get(progress, "hits")), 2);
    brume_ledger_report report;
    assert_ok(brume_ledger_verify(ledger, &report, &error));
    json_decref(history);
    json_decref(answer);
    json_decref(part);
    brume_ledger_close(ledger);
    remove_place(&where);
}

static void progress_is_of_an_open_reservation(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    uint64_t id = 0;
    json_t *answer = json_object();
    register_dataset(ledger, "visits", "1", NULL);
    assert_fails(brume_ledger_progress(ledger, 99, 1, 0, &error), BRUME_EARGUMENT);
    assert_ok(reserve(ledger, "visits", "0.1", "key", &id, &error));
    assert_ok(brume_ledger_progress(ledger, id, 1, 0, &error));
    assert_ok(brume_ledger_commit(ledger, id, answer, &error));
    assert_fails(brume_ledger_progress(ledger, id, 2, 1, &error), BRUME_EARGUMENT);
    brume_ledger_report report;
    assert_ok(brume_ledger_verify(ledger, &report, &error));
    json_decref(answer);
}

/* Somebody gives a budget back behind the ledger's back: nothing is written on top of that. */
static void nothing_is_noted_on_a_ledger_that_was_edited(void **state)
{
    (void)state;
    for (int streamed = 0; streamed < 2; streamed++) {
        place where;
        uint64_t id = 0;
        json_t *part = json_object();
        make_place(&where);
        brume_ledger *ledger = open_ledger(&where);
        register_dataset(ledger, "visits", "1", NULL);
        assert_ok(reserve(ledger, "visits", "0.5", "key", &id, &error));
        tamper(&where, "UPDATE dataset SET filter = replace(filter, 'spent=0.5', 'spent=0')");
        assert_fails(streamed ? brume_ledger_progress(ledger, id, 1, 0, &error)
                              : brume_ledger_note(ledger, id, "part", part, &error),
                     BRUME_EDAMAGED);
        json_decref(part);
        brume_ledger_close(ledger);
        remove_place(&where);
    }
}

/* Streams run one at a time; a ledger that has none leaves other files alone when it is closed. */
static void one_stream_at_a_time(void **state)
{
    (void)state;
    place where;
    make_place(&where);
    brume_ledger *ledger = open_ledger(&where), *other = open_ledger(&where);
    assert_ok(brume_ledger_begin_stream(ledger, &error));
    assert_ok(brume_ledger_begin_stream(ledger, &error)); /* its own */
    assert_fails(brume_ledger_begin_stream(other, &error), BRUME_EPOLICY);
    brume_ledger_close(ledger);
    assert_ok(brume_ledger_begin_stream(other, &error));
    brume_ledger_close(other);
    if (fcntl(0, F_GETFD) == -1) /* then the next file is that one */
        assert_int_equal(open("/dev/null", O_RDONLY), 0);
    brume_ledger_close(open_ledger(&where));
    assert_int_not_equal(fcntl(0, F_GETFD), -1);
    remove_place(&where);
}

/* Does another process see a lock of this one on the ledger's file? */
static bool is_locked(const place *where)
{
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        int file = open(where->path, O_RDWR);
        _exit(file < 0 || fcntl(file, F_GETLK, &lock) != 0 ? 2 : lock.l_type != F_UNLCK);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
    return WEXITSTATUS(status) == 1;
}

/* SQLite's locks are of the process: without them another one may remove the log under those who
 * write to it. */
static void a_stream_that_ends_leaves_the_locks_of_others(void **state)
{
    (void)state;
    place where;
    make_place(&where);
    brume_ledger *stream = open_ledger(&where), *other = open_ledger(&where),
                 *refused = open_ledger(&where);
    register_dataset(other, "visits", "1", NULL);
    assert_true(is_locked(&where));
    assert_ok(brume_ledger_begin_stream(stream, &error));
    assert_fails(brume_ledger_begin_stream(refused, &error), BRUME_EPOLICY);
    brume_ledger_close(refused);
    assert_true(is_locked(&where));
    brume_ledger_close(stream);
    assert_true(is_locked(&where));
    brume_ledger_close(other);
    assert_false(is_locked(&where));
    remove_place(&where);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_fresh_ledger(a_note_is_recalled_and_the_first_one_stays),
        cmocka_unit_test(a_note_and_the_progress_of_a_stream_outlive_the_process),
        with_fresh_ledger(progress_is_of_an_open_reservation),
        cmocka_unit_test(nothing_is_noted_on_a_ledger_that_was_edited),
        cmocka_unit_test(one_stream_at_a_time),
        cmocka_unit_test(a_stream_that_ends_leaves_the_locks_of_others),
    };
    return cmocka_run_group_tests_name("parts of answers", tests, NULL, NULL);
}
