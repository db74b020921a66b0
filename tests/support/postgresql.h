/* Statements that a test gives to the PostgreSQL server of BRUME_TEST_POSTGRESQL. */
#ifndef BRUME_TESTS_POSTGRESQL_H
#define BRUME_TESTS_POSTGRESQL_H

#include "check.h"

#include <stdlib.h>

#include <libpq-fe.h>

/* Run statements on a connection of their own; a failure fails the test, what they answer is passed
 * over. */
static inline void postgresql_run(const char *sql)
{
    PGconn *connection = PQconnectdb(getenv("BRUME_TEST_POSTGRESQL"));
    assert_int_equal(PQstatus(connection), CONNECTION_OK);
    PGresult *result = PQexec(connection, sql);
    if (PQresultStatus(result) != PGRES_COMMAND_OK && PQresultStatus(result) != PGRES_TUPLES_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(connection));
    PQclear(result);
    PQfinish(connection);
}

#endif
