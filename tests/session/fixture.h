/* A folder with a table, a ledger on which it is registered, and a session. */
#ifndef BRUME_TESTS_SESSION_FIXTURE_H
#define BRUME_TESTS_SESSION_FIXTURE_H

#include <brume/session.h>

typedef struct fixture {
    char folder[64], csv[96], ledger[96];
    brume_session *session;
} fixture;

/* `rows` people of three towns with a smoker flag and an income; budget epsilon, under the rule
 * pure, one row a unit at most. */
void fixture_open(fixture *all, int rows, const char *epsilon);
void fixture_close(fixture *all);

/* The answer of a command that must succeed; the caller frees it. */
char *fixture_call(brume_session *session, const char *command, const char *options);

/* What is left of the budget of `people`. */
double fixture_left(brume_session *session);

/* How many queries were charged. */
int fixture_queries(brume_session *session);

#endif
