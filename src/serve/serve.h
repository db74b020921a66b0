/* The server: `brume serve`. */
#ifndef BRUME_SERVE_SERVE_H
#define BRUME_SERVE_SERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <brume/status.h>

typedef struct brume_serve_options {
    const char *ledger;   /* NULL: $BRUME_LEDGER, else ./brume.db */
    const char *listen;   /* ADDRESS:PORT of HTTP; port 0: any free one; NULL: no HTTP */
    const char *pg;       /* ADDRESS:PORT of the PostgreSQL protocol; NULL: none */
    const char *tls_cert; /* PEM files; both or neither */
    const char *tls_key;
    bool insecure; /* listen without TLS on addresses that are not the machine's own */
    bool check;    /* start everything, and end at once */
    size_t workers, queue;
    size_t share;    /* of the workers of each kind that one user may have; 0: half of them */
    uint64_t memory; /* bytes that a call may use which spends nothing; 0: 1 GiB */
    double deadline, quantum;
    double rate;          /* requests a second of each user; 0: any number */
    size_t connections;   /* of each user that may be open; 0: any number */
    double patience;      /* seconds in which a request must have come in whole */
    FILE *log;            /* JSON lines; NULL: none */
    const char *requests; /* the file in which requests are recorded; NULL: LEDGER.requests */
    FILE *greeting;       /* where it says, once, what it listens on; NULL: nowhere */
} brume_serve_options;

/* Serve until SIGTERM or SIGINT comes; then take no more requests, let running calls end (10
 * seconds), and return BRUME_OK. Signals are blocked in the calling thread from here on. Errors,
 * all of them before anything is answered: EARGUMENT (options, addresses), EDISK (files, sockets),
 * those of opening the ledger. */
BRUME_MUST_USE brume_status brume_serve(const brume_serve_options *options, brume_error *error);

#endif
