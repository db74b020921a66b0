/* Any text as a row expression: where it is accepted, its types, bounds and printed forms are sound
 * in themselves. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../query/clinic.h"
#include "query/expression/build.h"
#include "query/expression/expression.h"
#include "query/print/statement.h"
#include "query/sql/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const brume_expression *node)
{
    brume_bounds whole = brume_type_bounds(node->type);
    if (node->type.kind == BRUME_TYPE_REFUSED || node->depth > BRUME_LIMIT_DEPTH ||
        node->size > BRUME_LIMIT_NODES || node->max_length > BRUME_LIMIT_TEXT ||
        node->work > BRUME_LIMIT_WORK)
        abort();
    if (node->type.kind == BRUME_TYPE_DOUBLE) {
        if (!(node->bounds.real_low <= node->bounds.real_high) ||
            !(fabs(node->bounds.real_low) <= 1e150) || !(fabs(node->bounds.real_high) <= 1e150))
            abort();
    } else if (brume_type_is_number(node->type) &&
               !(whole.low <= node->bounds.low && node->bounds.low <= node->bounds.high &&
                 node->bounds.high <= whole.high)) {
        abort();
    }
    if (node->type.kind == BRUME_TYPE_DECIMAL &&
        (node->type.precision < 1 || node->type.precision > 38 || node->type.scale < 0 ||
         node->type.scale > node->type.precision))
        abort();
    for (size_t i = 0; i < node->argument_count; i++)
        check(node->arguments[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *sql = NULL;
    if (size > 20000 || memchr(data, 0, size) ||
        asprintf(&sql, "SELECT COUNT(%.*s) FROM visits", (int)size, (const char *)data) < 0)
        return 0;
    brume_query *query = NULL;
    brume_error error = {0};
    if (brume_query_parse(sql, &clinic_catalog, &query, &error) == BRUME_OK) {
        static const char *const tables[] = {"\"a\"", "\"b\"", "\"c\"", "\"d\""};
        for (size_t i = 0; i < query->aggregate_count; i++) {
            const brume_expression *node = query->aggregates[i].argument;
            if (!node)
                continue;
            check(node);
            for (int dialect = 0; dialect < 2; dialect++) {
                char *printed = NULL;
                if (brume_query_print_rows(query, (brume_dialect)dialect, tables, &node, 1,
                                           &printed, &error) == BRUME_OK)
                    free(printed);
            }
        }
        brume_query_free(query);
    }
    free(sql);
    return 0;
}
