/* A question asked in full, with its answer as JSON, for tests that look at many fields of it. */
#ifndef BRUME_TESTS_QUERY_ASK_JSON_H
#define BRUME_TESTS_QUERY_ASK_JSON_H

#include "base/error.h"
#include "query/release/ask.h"

static inline brume_status ask_json(brume_ledger *ledger, const char *sql,
                                    const brume_payment *payment, const brume_target *target,
                                    brume_bits *bits, const brume_watch *watch, json_t **json,
                                    brume_error *error)
{
    brume_query_answer *answer = NULL;
    BRUME_TRY(brume_ask(ledger, sql, payment, target, bits, watch, &answer, error));
    brume_status status = brume_query_answer_to_json(answer, json, error);
    brume_query_answer_close(answer);
    return status;
}

#endif
