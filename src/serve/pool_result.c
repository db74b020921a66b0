/* What came of a job: parts of an answer, whether it was free, whether it was charged. Promises:
 * pool_state.h. */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/error.h"
#include "serve/pool_state.h"

brume_status brume_pool_take_part(void *context, const char *text, size_t length,
                                  brume_error *error)
{
    pool_job *job = context;
    char *longer = realloc(job->told, job->told_length + length + 1);
    if (!longer)
        return brume_no_memory(error, "the answer");
    memcpy(longer + job->told_length, text, length);
    job->told = longer;
    job->told_length += length;
    job->told[job->told_length] = 0;
    return BRUME_OK;
}

void brume_pool_add_told(pool_job *job, brume_pool_result *result)
{
    if (!job->told)
        return;
    if (result->json &&
        brume_pool_take_part(job, result->json, strlen(result->json), &result->error) != BRUME_OK) {
        result->status = BRUME_EMEMORY; /* what was told before is given still */
    }
    brume_free(result->json);
    result->json = job->told;
    job->told = NULL;
}

/* What is wrong with a question, and what a budget or a policy refuses, is found before anything is
 * written. */
static bool is_refusal(brume_status status)
{
    switch (status) {
    case BRUME_EARGUMENT:
    case BRUME_ESYNTAX:
    case BRUME_EUNKNOWN:
    case BRUME_EUNSUPPORTED:
    case BRUME_EBUDGET:
    case BRUME_EPOLICY:
        return true;
    default:
        return false;
    }
}

bool brume_pool_may_be_charged(const pool_job *job)
{
    return job->charged || (job->tried && !is_refusal(job->result.status));
}

bool brume_pool_is_cached(const pool_job *job)
{
    bool good = job->result.status == BRUME_OK &&
                job->result.json; /* not what came before an error */
    json_t *answer = good ? json_loads(job->result.json, 0, NULL) : NULL;
    bool cached = json_is_true(json_object_get(answer, "cached"));
    json_decref(answer);
    return cached;
}
