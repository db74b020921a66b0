/* A ledger in a temporary folder, and short ways to fill it. */
#include "fixture.h"

#include <stdlib.h>
#include <unistd.h>

#include <libpq-fe.h>
#include <sqlite3.h>

void make_place(place *where)
{
    snprintf(where->folder, sizeof where->folder, "/tmp/brume-ledger-XXXXXX");
    assert_non_null(mkdtemp(where->folder));
    const char *server = getenv("BRUME_TEST_POSTGRESQL");
    where->schema[0] = 0;
    if (!server) {
        snprintf(where->path, sizeof where->path, "%s/brume.db", where->folder);
        return;
    }
    static int made;
    snprintf(where->schema, sizeof where->schema, "ledger_%d_%d", (int)getpid(), made++);
    snprintf(where->path, sizeof where->path, "%s&options=-csearch_path%%3D%s", server,
             where->schema);
}

/* On the server: the rows of a statement, which the caller clears. */
static PGresult *ask_server(const place *where, const char *sql)
{
    PGconn *connection = PQconnectdb(where->path);
    assert_int_equal(PQstatus(connection), CONNECTION_OK);
    PQclear(PQexec(connection, "SET client_min_messages = error"));
    PGresult *result = PQexec(connection, sql);
    if (PQresultStatus(result) != PGRES_TUPLES_OK && PQresultStatus(result) != PGRES_COMMAND_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(connection));
    PQfinish(connection);
    return result;
}

bool is_on_server(void)
{
    return getenv("BRUME_TEST_POSTGRESQL") != NULL;
}

void remove_place(const place *where)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal", ".stream"};
    char path[300];
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        snprintf(path, sizeof path, "%s%s", where->path, endings[i]);
        unlink(path);
    }
    rmdir(where->folder);
    char drop[96];
    snprintf(drop, sizeof drop, "DROP SCHEMA IF EXISTS %s CASCADE", where->schema);
    if (where->schema[0])
        PQclear(ask_server(where, drop));
}

brume_ledger *open_ledger(const place *where)
{
    brume_error error = {0};
    brume_ledger *ledger = NULL;
    assert_ok(brume_ledger_open(where->path, BRUME_LEDGER_CREATE, &ledger, &error));
    return ledger;
}

typedef struct fresh {
    place where;
    brume_ledger *ledger;
} fresh;

int make_fresh_ledger(void **state)
{
    fresh *made = calloc(1, sizeof *made);
    assert_non_null(made);
    make_place(&made->where);
    made->ledger = open_ledger(&made->where);
    *state = made;
    return 0;
}

int remove_fresh_ledger(void **state)
{
    fresh *made = *state;
    brume_ledger_close(made->ledger);
    remove_place(&made->where);
    free(made);
    return 0;
}

brume_ledger *fresh_ledger(void **state)
{
    return ((fresh *)*state)->ledger;
}

static brume_decimal decimal(const char *text)
{
    brume_error error = {0};
    brume_decimal x;
    assert_ok(brume_decimal_parse(text, &x, &error));
    return x;
}

void register_dataset(brume_ledger *ledger, const char *name, const char *epsilon,
                      const char *delta)
{
    brume_error error = {0};
    brume_filter filter;
    brume_decimal amount = decimal(epsilon), failure = decimal(delta ? delta : "0");
    assert_ok(brume_filter_make(delta ? BRUME_RULE_APPROXIMATE : BRUME_RULE_PURE, &amount, &failure,
                                NULL, &filter, &error));
    char source[64], path[64];
    snprintf(source, sizeof source, "source of %s", name);
    snprintf(path, sizeof path, "path:/%s", name);
    const char *const marks[] = {path};
    json_t *policy = json_pack("{s:s,s:i}", "unit", "person", "max_groups", 3);
    brume_registration registration = {.name = name,
                                       .source = source,
                                       .marks = marks,
                                       .mark_count = 1,
                                       .data_version = "1",
                                       .adjacency = BRUME_ADD_REMOVE,
                                       .filter = &filter,
                                       .cap = NULL,
                                       .policy = policy};
    assert_ok(brume_ledger_register(ledger, &registration, &error));
    json_decref(policy);
}

brume_charge price_of(const char *epsilon, const char *delta)
{
    brume_error error = {0};
    brume_charge charge;
    brume_decimal amount = decimal(epsilon), failure = decimal(delta ? delta : "0");
    assert_ok(brume_charge_make(delta ? BRUME_RULE_APPROXIMATE : BRUME_RULE_PURE, &amount, &failure,
                                &charge, &error));
    return charge;
}

brume_status reserve(brume_ledger *ledger, const char *dataset, const char *epsilon,
                     const char *key, uint64_t *id, brume_error *error)
{
    brume_charge price = price_of(epsilon, NULL);
    brume_ledger_charge charge = {.dataset = dataset, .price = &price};
    brume_reservation reservation = {
        .charges = &charge, .charge_count = 1, .sql = "SELECT COUNT(*) FROM t", .answer_key = key};
    return brume_ledger_reserve(ledger, &reservation, id, error);
}

void tamper(const place *where, const char *sql)
{
    if (where->schema[0]) {
        PQclear(ask_server(where, sql));
        return;
    }
    sqlite3 *database = NULL;
    assert_int_equal(sqlite3_open(where->path, &database), SQLITE_OK);
    char *message = NULL;
    if (sqlite3_exec(database, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
    sqlite3_close(database);
}

size_t read_texts(const place *where, const char *sql, char **texts, size_t most)
{
    sqlite3 *database = NULL;
    sqlite3_stmt *statement = NULL;
    size_t count = 0;
    if (where->schema[0]) {
        PGresult *result = ask_server(where, sql);
        for (; count < (size_t)PQntuples(result); count++) {
            assert_holds(count < most);
            texts[count] = strdup(PQgetvalue(result, (int)count, 0));
        }
        PQclear(result);
        return count;
    }
    assert_int_equal(sqlite3_open_v2(where->path, &database, SQLITE_OPEN_READWRITE, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), SQLITE_OK);
    while (sqlite3_step(statement) == SQLITE_ROW) {
        assert_holds(count < most);
        texts[count++] = strdup((const char *)sqlite3_column_text(statement, 0));
    }
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return count;
}
