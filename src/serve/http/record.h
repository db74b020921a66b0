/* The record of requests: a file to which a line of JSON is added for each request of a user.
 *
 *  1. Lines are only ever added, one write each, so that the lines of several servers of a ledger
 *     do not mix, and one that is killed loses none that it has added. The file is opened for each:
 *     one that was renamed is followed by a new one.
 *  2. It has who, when, which route and how it ended; never a question, an answer or a token.
 *  3. Where lines cannot be added (a full disk), brume_http_record_is_good says so until one can be
 *     again, which tells how many are missing: only requests that ran meanwhile can be.
 *
 * What was charged is in the journal of the ledger itself, which is hashed in a chain; free
 * requests are not put there, because each would be a transaction on disk, and anybody with a token
 * could make the journal as long as he likes. Any thread. */
#ifndef BRUME_SERVE_HTTP_RECORD_H
#define BRUME_SERVE_HTTP_RECORD_H

#include <stdbool.h>

typedef struct brume_http_record brume_http_record;

/* The file is made by the first line. NULL without memory. */
brume_http_record *brume_http_record_open(const char *path);
void brume_http_record_close(brume_http_record *record); /* NULL is nothing to close */

/* Can requests be recorded now? Costs nothing while they could be. */
bool brume_http_record_is_good(brume_http_record *record);

/* Add a line, without its end. */
void brume_http_record_add(brume_http_record *record, const char *line);

#endif
