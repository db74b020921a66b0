/* What a ledger in a PostgreSQL database has that a file has not: roles, moves, lost connections.
 * The tests of the ledger itself run on it too (meson.build). */
#include "fixture.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <libpq-fe.h>

#include "ledger/witness.h"

static PGconn *connect_as(const place *where, const char *role)
{
    char settings[512];
    snprintf(settings, sizeof settings, "%s%s%s", where->path, role ? "&user=" : "",
             role ? role : "");
    PGconn *connection = PQconnectdb(settings);
    assert_int_equal(PQstatus(connection), CONNECTION_OK);
    PQclear(PQexec(connection, "SET client_min_messages = error"));
    return connection;
}

static bool runs(PGconn *connection, const char *sql)
{
    PGresult *result = PQexec(connection, sql);
    ExecStatusType said = PQresultStatus(result);
    PQclear(result);
    return said == PGRES_TUPLES_OK || said == PGRES_COMMAND_OK;
}

static void verify(const char *path)
{
    brume_error error = {0};
    brume_ledger *ledger = NULL;
    brume_ledger_report report;
    assert_ok(brume_ledger_open(path, BRUME_LEDGER_READ, &ledger, &error));
    assert_ok(brume_ledger_verify(ledger, &report, &error));
    brume_ledger_close(ledger);
}

static json_t *export_of(const char *path)
{
    brume_error error = {0};
    brume_ledger *ledger = NULL;
    json_t *export = NULL;
    assert_ok(brume_ledger_open(path, BRUME_LEDGER_READ, &ledger, &error));
    assert_ok(brume_ledger_export(ledger, true, &export, &error));
    brume_ledger_close(ledger);
    return export;
}

static brume_status charge(const char *path, const char *epsilon, brume_error *error)
{
    brume_ledger *ledger = NULL;
    uint64_t id = 0;
    brume_status status = brume_ledger_open(path, BRUME_LEDGER_WRITE, &ledger, error);
    if (status == BRUME_OK)
        status = reserve(ledger, "visits", epsilon, "key", &id, error);
    brume_ledger_close(ledger);
    return status;
}

/* A process looks at the schema when it connects, and then once a minute. */
static brume_status charge_of_another_process(const char *path)
{
    brume_error error = {0};
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        _exit((int)charge(path, "0.25", &error));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_holds(WIFEXITED(status));
    return (brume_status)WEXITSTATUS(status);
}

/* ---- moving ---- */

static void a_ledger_that_moved_goes_on_elsewhere_and_only_there(void **state)
{
    (void)state;
    brume_error error = {0};
    brume_ledger_report report;
    place server, other;
    char file[320], back[320];
    make_place(&server);
    make_place(&other);
    snprintf(file, sizeof file, "%s/file.db", server.folder);
    snprintf(back, sizeof back, "%s/back.db", server.folder);
    brume_ledger *ledger = NULL;
    assert_ok(brume_ledger_open(file, BRUME_LEDGER_CREATE, &ledger, &error));
    register_dataset(ledger, "visits", "1", NULL);
    brume_ledger_close(ledger);
    assert_ok(charge(file, "0.25", &error));
    json_t *before = export_of(file);

    assert_ok(brume_ledger_copy(file, server.path, false, &report, &error));
    assert_int_equal(report.reservations, 1);
    verify(file);
    assert_fails(charge(file, "0.25", &error), BRUME_EPOLICY);
    assert_ok(charge(server.path, "0.25", &error));
    /* neither a second time to another place, nor onto a ledger */
    assert_fails(brume_ledger_copy(file, other.path, false, &report, &error), BRUME_EPOLICY);
    assert_fails(brume_ledger_copy(file, server.path, true, &report, &error), BRUME_EPOLICY);
    assert_ok(charge(server.path, "0.25", &error));

    assert_ok(brume_ledger_copy(server.path, back, false, &report, &error));
    assert_fails(charge(server.path, "0.125", &error), BRUME_EPOLICY);
    assert_fails(charge(back, "0.5", &error), BRUME_EBUDGET);
    assert_ok(charge(back, "0.25", &error));
    verify(back);
    /* every row and hash of the first is in the last */
    assert_ok(brume_ledger_open(back, BRUME_LEDGER_READ, &ledger, &error));
    assert_ok(brume_ledger_verify_against(ledger, before, &error));
    brume_ledger_close(ledger);
    json_decref(before);
    /* what arrived was lost: on the owner's word it may be moved once more */
    tamper(&server, "SELECT 1");
    assert_ok(brume_ledger_copy(server.path, other.path, true, &report, &error));
    assert_ok(charge(other.path, "0.25", &error));
    unlink(file);
    unlink(back);
    remove_place(&other);
    remove_place(&server);
}

/* Killed at any moment, a move leaves at most one ledger that can be charged, and can be ended. */
static void a_move_that_is_killed_leaves_no_second_ledger(void **state)
{
    (void)state;
    brume_error error = {0};
    brume_ledger_report report;
    for (int round = 0; round < 12; round++) {
        place server;
        PGconn *holder = NULL;
        char file[320];
        brume_ledger *ledger = NULL;
        make_place(&server);
        snprintf(file, sizeof file, "%s/file.db", server.folder);
        assert_ok(brume_ledger_open(file, BRUME_LEDGER_CREATE, &ledger, &error));
        register_dataset(ledger, "visits", "1", NULL);
        brume_ledger_close(ledger);
        if (round % 3 == 0) { /* the move ends the file, and waits at the other place */
            assert_ok(brume_ledger_open(server.path, BRUME_LEDGER_EMPTY, &ledger, &error));
            brume_ledger_close(ledger);
            holder = connect_as(&server, NULL);
            assert_holds(runs(holder, "BEGIN; SELECT 1 FROM gate FOR UPDATE"));
        }
        pid_t child = fork();
        if (child == 0)
            _exit(brume_ledger_copy(file, server.path, false, &report, &error) != BRUME_OK);
        struct timespec pause = {0, holder ? 900000000 : 10000000L * round};
        nanosleep(&pause, NULL);
        kill(child, SIGKILL);
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (holder) {
            assert_holds(runs(holder, "COMMIT"));
            PQfinish(holder);
        }
        brume_status here = charge(file, "0.5", &error);
        brume_status there = charge(server.path, "0.5", &error);
        assert_holds(here != BRUME_OK || there != BRUME_OK);
        assert_holds(!holder || (here == BRUME_EPOLICY && there != BRUME_OK));
        if (here != BRUME_OK && there != BRUME_OK) {
            assert_ok(brume_ledger_copy(file, server.path, true, &report, &error));
            assert_ok(charge(server.path, "0.5", &error));
        }
        unlink(file);
        remove_place(&server);
    }
}

/* ---- roles ---- */

static void a_role_may_append_and_not_change(void **state)
{
    (void)state;
    brume_error error = {0};
    place where;
    char *sql = NULL, path[400], text[64];
    make_place(&where);
    assert_ok(brume_ledger_install_sql("app \"one\"", &sql, &error));
    /* the statements name the schema brume: this test's has another name */
    PGconn *owner = connect_as(&where, NULL);
    (void)runs(owner, "DROP SCHEMA IF EXISTS brume CASCADE");
    assert_holds(runs(owner, "CREATE ROLE \"app \"\"one\"\"\" LOGIN"));
    assert_holds(runs(owner, sql));
    free(sql);
    const char *server = getenv("BRUME_TEST_POSTGRESQL");
    snprintf(path, sizeof path, "%s&user=app%%20%%22one%%22", server);
    PGconn *app = PQconnectdb(path);
    assert_int_equal(PQstatus(app), CONNECTION_OK);
    brume_ledger *ledger = NULL;
    /* the tables are there, and without a row: the first is written by the role that uses them */
    assert_ok(brume_ledger_open(path, BRUME_LEDGER_CREATE, &ledger, &error));
    register_dataset(ledger, "visits", "1", NULL);
    brume_ledger_close(ledger);
    assert_ok(charge(path, "0.25", &error));
    verify(path);
    static const char *const refused[] = {
        "DELETE FROM brume.journal",
        "TRUNCATE brume.journal",
        "UPDATE brume.journal SET hash = 'x'",
        "UPDATE brume.journal SET body = '{}'",
        "UPDATE brume.charge SET dataset = 'x'",
        "DELETE FROM brume.charge",
        "DELETE FROM brume.reservation",
        "DELETE FROM brume.dataset",
        "DROP TRIGGER journal_keeps_text ON brume.journal",
        "ALTER TABLE brume.journal DISABLE TRIGGER ALL",
        "CREATE TABLE brume.more(x int)",
        "CREATE OR REPLACE FUNCTION brume.keep_rows() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN "
        "RETURN OLD; END'",
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        snprintf(text, sizeof text, "%.60s", refused[i]);
        if (runs(app, refused[i]))
            fail_msg("was allowed: %s", text);
    }
    /* what it may change the next charge finds */
    assert_holds(runs(app, "UPDATE brume.dataset SET queries = 0"));
    assert_fails(charge(path, "0.25", &error), BRUME_EDAMAGED);
    PQfinish(app);
    (void)runs(owner, "DROP SCHEMA brume CASCADE");
    (void)runs(owner, "DROP ROLE \"app \"\"one\"\"\"");
    PQfinish(owner);
    remove_place(&where);
}

static void a_structure_that_was_changed_is_refused(void **state)
{
    (void)state;
    static const char *const changes[] = {
        "CREATE TABLE more(x int)",
        "ALTER TABLE dataset ADD COLUMN more int",
        "ALTER TABLE journal DISABLE TRIGGER journal_keeps_text",
        "DROP TRIGGER journal_keeps_rows ON journal",
        "CREATE RULE none AS ON INSERT TO charge DO INSTEAD NOTHING",
        "ALTER TABLE charge ENABLE ROW LEVEL SECURITY",
        "CREATE OR REPLACE FUNCTION keep_text() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN "
        "NEW; END'",
        "CREATE OR REPLACE FUNCTION json_valid(body text) RETURNS boolean LANGUAGE sql AS 'SELECT "
        "true'",
        "CREATE FUNCTION lower(text) RETURNS text LANGUAGE sql AS 'SELECT $1'",
        "ALTER TABLE reservation DROP CONSTRAINT reservation_pkey",
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        brume_error error = {0};
        place where;
        make_place(&where);
        brume_ledger *ledger = open_ledger(&where);
        register_dataset(ledger, "visits", "1", NULL);
        brume_ledger_close(ledger);
        assert_ok(charge(where.path, "0.25", &error));
        tamper(&where, changes[i]);
        assert_int_equal(charge_of_another_process(where.path), BRUME_EDAMAGED);
        remove_place(&where);
    }
}

/* The number of rows that a witness file says. */
static unsigned long long rows_in(const char *path, char hash[65])
{
    unsigned long long rows = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "brume-witness %*64s %llu %64s", &rows, hash), 2);
    fclose(file);
    return rows;
}

/* A database that was restored from an older backup has forgotten charges: its witness has not. */
static void a_witness_is_told_of_charges_and_refuses_an_older_state(void **state)
{
    (void)state;
    brume_error error = {0};
    place where;
    char witness[320], hash[65], later[65], text[512] = "";
    make_place(&where);
    brume_ledger *ledger = open_ledger(&where);
    register_dataset(ledger, "visits", "1", NULL);
    snprintf(witness, sizeof witness, "%s/head", where.folder);
    const brume_witness_choice choice = {.place = witness};
    assert_ok(brume_ledger_set_witness(ledger, &choice, &error));
    brume_ledger_close(ledger);
    unsigned long long before = rows_in(witness, hash);
    assert_ok(charge(where.path, "0.25", &error));
    assert_int_equal(rows_in(witness, later), before + 1);
    assert_ok(charge(where.path, "0.25", &error));
    /* the witness has seen rows that this state of the database has not */
    FILE *file = fopen(witness, "r+");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    char *number = strrchr(text, ' ');
    *number = 0;
    number = strrchr(text, ' ');
    *number = 0;
    rewind(file);
    fprintf(file, "%s %llu %s\n", text, before + 5, later);
    fclose(file);
    assert_fails(charge(where.path, "0.25", &error), BRUME_EDAMAGED);
    assert_int_equal(charge_of_another_process(where.path), BRUME_EDAMAGED);
    unlink(witness);
    snprintf(text, sizeof text, "%s.lock", witness);
    unlink(text);
    remove_place(&where);
}

/* ---- failures ---- */

static void a_connection_that_is_lost_leaves_the_ledger_whole(void **state)
{
    (void)state;
    brume_error error = {0};
    place where;
    make_place(&where);
    brume_ledger *ledger = open_ledger(&where);
    register_dataset(ledger, "visits", "1", NULL);
    brume_ledger_close(ledger);
    PGconn *owner = connect_as(&where, NULL);
    int charged = 0;
    for (int round = 0; round < 8; round++) {
        /* a charge waits for the gate, its backend is ended, the gate opens */
        assert_holds(runs(owner, "BEGIN; SELECT 1 FROM gate FOR UPDATE"));
        pid_t child = fork();
        if (child == 0)
            _exit((int)charge(where.path, "0.125", &error));
        struct timespec pause = {0, 300000000};
        nanosleep(&pause, NULL);
        if (round % 2)
            assert_holds(runs(owner, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                                     "WHERE application_name = 'brume ledger' AND wait_event_type "
                                     "= 'Lock'"));
        assert_holds(runs(owner, "COMMIT"));
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_holds(WIFEXITED(status));
        charged += WEXITSTATUS(status) == BRUME_OK;
        assert_holds(WEXITSTATUS(status) == BRUME_OK || WEXITSTATUS(status) == BRUME_EDISK);
    }
    assert_holds(charged >= 4 && charged < 8); /* those that were let be, at least */
    assert_ok(brume_ledger_open(where.path, BRUME_LEDGER_READ, &ledger, &error));
    brume_ledger_report report;
    assert_ok(brume_ledger_verify(ledger, &report, &error));
    assert_int_equal(report.reservations, charged);
    brume_ledger_close(ledger);
    PQfinish(owner);
    remove_place(&where);
}

static void of_24_processes_as_many_are_charged_as_the_budget_carries(void **state)
{
    (void)state;
    brume_error error = {0};
    place where;
    make_place(&where);
    brume_ledger *ledger = open_ledger(&where);
    register_dataset(ledger, "visits", "1", NULL);
    brume_ledger_close(ledger);
    pid_t children[24];
    int charged = 0;
    for (int i = 0; i < 24; i++)
        if ((children[i] = fork()) == 0)
            _exit((int)charge(where.path, "0.1", &error));
    for (int i = 0; i < 24; i++) {
        int status = 0;
        waitpid(children[i], &status, 0);
        assert_true(WIFEXITED(status));
        assert_holds(WEXITSTATUS(status) == BRUME_OK || WEXITSTATUS(status) == BRUME_EBUDGET);
        charged += WEXITSTATUS(status) == BRUME_OK;
    }
    assert_int_equal(charged, 10);
    verify(where.path);
    remove_place(&where);
}

static void a_server_that_may_lose_charges_is_refused(void **state)
{
    (void)state;
    brume_error error = {0};
    place where;
    make_place(&where);
    brume_ledger_close(open_ledger(&where));
    tamper(&where, "ALTER SYSTEM SET fsync = off");
    tamper(&where, "SELECT pg_reload_conf()");
    brume_ledger *ledger = NULL;
    brume_status status = BRUME_OK;
    for (int i = 0; i < 100 && status == BRUME_OK; i++) { /* until the server has read it */
        struct timespec pause = {0, 50000000};
        char path[300]; /* another URL each time: a connection of its own */
        snprintf(path, sizeof path, "%s&connect_timeout=%d", where.path, i + 10);
        nanosleep(&pause, NULL);
        status = brume_ledger_open(path, BRUME_LEDGER_WRITE, &ledger, &error);
        if (status == BRUME_OK)
            brume_ledger_close(ledger);
    }
    assert_int_equal(status, BRUME_EDISK);
    tamper(&where, "ALTER SYSTEM RESET fsync");
    tamper(&where, "SELECT pg_reload_conf()");
    remove_place(&where);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ledger_that_moved_goes_on_elsewhere_and_only_there),
        cmocka_unit_test(a_move_that_is_killed_leaves_no_second_ledger),
        cmocka_unit_test(a_role_may_append_and_not_change),
        cmocka_unit_test(a_structure_that_was_changed_is_refused),
        cmocka_unit_test(a_witness_is_told_of_charges_and_refuses_an_older_state),
        cmocka_unit_test(a_connection_that_is_lost_leaves_the_ledger_whole),
        cmocka_unit_test(of_24_processes_as_many_are_charged_as_the_budget_carries),
        cmocka_unit_test(a_server_that_may_lose_charges_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
