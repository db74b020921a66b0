/* One call of a user: what the pool is given, and what a child of the nursery runs. */
#ifndef BRUME_SERVE_REQUEST_H
#define BRUME_SERVE_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

/* Whoever is given it copies it. */
typedef struct brume_pool_request {
    const char *user;    /* who asks; never NULL: the owner at the shell has no pool */
    uint64_t issued;     /* the journal row of the token that was shown; 0: any token of the user */
    const char *command; /* "query", "explain", "budget", "ledger export", ... */
    const char *sql;     /* of query and explain; NULL: the command is called with options only */
    const char *options; /* a JSON object; NULL: {} */
    bool wants_rows;     /* with sql and "query": also the rows as an Arrow stream */
} brume_pool_request;

#endif
