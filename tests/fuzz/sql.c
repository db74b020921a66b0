/* Any text as SQL: it is refused with a message, or it is a query that prints on both engines. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../query/clinic.h"
#include "query/sql/formula.h"
#include "query/sql/parse.h"
#include "query/print/statement.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Print every key, argument and unit of the query for both engines, and evaluate its outputs. */
static void use(brume_query *query)
{
    static const char *const tables[] = {"\"a\"", "\"b\"", "\"c\"", "\"d\""};
    const brume_expression *nodes[260];
    brume_group_sum sums[200];
    size_t count = 0, sum_count = 0;
    brume_error error;
    if (query->unit)
        nodes[count++] = query->unit;
    for (size_t i = 0; i < query->key_count; i++)
        nodes[count++] = query->keys[i].expression;
    for (size_t i = 0; i < query->aggregate_count; i++) {
        const brume_aggregate *each = &query->aggregates[i];
        if (!each->argument)
            continue;
        nodes[count++] = each->argument;
        if (each->kind >= BRUME_AGGREGATE_SUM && each->kind <= BRUME_AGGREGATE_QUANTILE) {
            /* An argument that is to be measured has bounds. */
            if (!each->argument->bounded || !brume_type_is_number(each->argument->type))
                abort();
            if (brume_query_grid(query, each->argument, &each->argument->bounds, 0,
                                 &sums[sum_count].value, &error) == BRUME_OK)
                sums[sum_count++].squares = true;
        }
    }
    for (int dialect = 0; dialect < 2; dialect++) {
        char *sql = NULL;
        if (count && brume_query_print_rows(query, (brume_dialect)dialect, tables, nodes, count,
                                            &sql, &error) == BRUME_OK)
            free(sql);
        if (brume_query_print_groups(query, (brume_dialect)dialect, tables, sums, sum_count, &sql,
                                     &error) == BRUME_OK)
            free(sql);
    }
    brume_value keys[16] = {{0}}, values[1200] = {{0}};
    for (size_t i = 0; i < query->output_count; i++)
        (void)brume_formula_evaluate(query->outputs[i].value, keys, values);
    if (query->having)
        (void)brume_formula_is_true(query->having, keys, values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *sql = malloc(size + 1);
    if (!sql)
        return 0;
    memcpy(sql, data, size);
    sql[size] = 0;
    brume_query *query = NULL;
    brume_error error = {0};
    brume_status status = brume_query_parse(sql, &clinic_catalog, &query, &error);
    if (status == BRUME_OK) {
        use(query);
        brume_query_free(query);
    } else if (!error.message[0] || error.status != status || status == BRUME_EINTERNAL) {
        abort();
    }
    brume_sql_name *names = NULL;
    size_t count = 0;
    brume_sql *parsed = NULL;
    if (brume_sql_parse(sql, &parsed, &error) == BRUME_OK &&
        brume_sql_names(parsed, &names, &count, &error) == BRUME_OK)
        brume_sql_names_free(names, count);
    brume_sql_close(parsed);
    free(sql);
    return 0;
}
