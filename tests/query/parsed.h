/* SQL over the clinic's tables that must parse, or be refused in given words. */
#ifndef BRUME_TESTS_QUERY_PARSED_H
#define BRUME_TESTS_QUERY_PARSED_H

#include "check.h"

#include "clinic.h"
#include "query/sql/parse.h"

static brume_error error;

static inline brume_query *parse(const char *sql)
{
    brume_query *query = NULL;
    brume_status status = brume_query_parse(sql, &clinic_catalog, &query, &error);
    if (status != BRUME_OK)
        fail_msg("%s: %s", sql, error.message);
    return query;
}

static inline void refused(const char *sql, brume_status expected, const char *message,
                           const char *hint)
{
    brume_query *query = NULL;
    brume_status status = brume_query_parse(sql, &clinic_catalog, &query, &error);
    if (status != expected)
        fail_msg("%s: %s (%s)", sql, brume_status_word(status), error.message);
    if (!strstr(error.message, message) || (hint && !strstr(error.hint, hint)))
        fail_msg("%s: '%s', hint '%s'", sql, error.message, error.hint);
    assert_null(query);
}

#endif
