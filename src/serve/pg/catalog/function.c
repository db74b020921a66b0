/* Calls of functions in catalog queries. Promises: print.h. */
#include <string.h>

#include "serve/pg/catalog/print.h"

/* Types that depend on the arguments. */
enum { ARGUMENT = 1, ARRAY, ELEMENT };

typedef struct function_card {
    const char *name;
    uint32_t type;
    const char *form;
} function_card;

static const function_card cards[] = {
#define BRUME_PG_FUNCTION(name, type, form) {name, type, form},
#include "serve/pg/catalog/functions.def"
#undef BRUME_PG_FUNCTION
};

static const function_card *find(const char *name)
{
    for (size_t i = 0; i < sizeof cards / sizeof *cards; i++)
        if (strcmp(cards[i].name, name) == 0)
            return &cards[i];
    return NULL;
}

static uint32_t type_of(const function_card *card, uint32_t first)
{
    const brume_pg_type *known =
        brume_pg_type_find(first == BRUME_PG_UNKNOWN ? BRUME_PG_TEXT : first);
    switch (card->type) {
    case ARGUMENT:
        return first;
    case ARRAY:
        return known && known->array ? known->array : 1009;
    case ELEMENT:
        return known && known->element ? known->element : BRUME_PG_TEXT;
    default:
        return card->type;
    }
}

static const char *window(brume_pg_printer *printer, const brume_pg_scope *scope,
                          const PgQuery__WindowDef *over)
{
    const char *parts =
        brume_pg_print_list(printer, scope, over->partition_clause, over->n_partition_clause);
    const char *order =
        brume_pg_print_order(printer, scope, over->order_clause, over->n_order_clause);
    if (*over->refname || *over->name)
        (void)brume_pg_print_fail(printer, "named windows", "");
    return brume_pg_format_text(printer, " OVER (%s%s%s%s)", *parts ? "PARTITION BY " : "", parts,
                                *order ? " ORDER BY " : "", order);
}

/* A function that nobody knows: what PostgreSQL tells of itself is NULL here. */
static bool is_of_catalog(const char *name)
{
    static const char *const starts[] = {"pg_", "_pg_", "has_", "txid_", "inet_"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(name, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

brume_pg_sql brume_pg_print_function(brume_pg_printer *printer, const brume_pg_scope *scope,
                                     const PgQuery__FuncCall *call)
{
    const char *name = brume_pg_string_of(call->funcname[call->n_funcname - 1]);
    const function_card *card = find(name);
    const char *arguments = call->agg_star ? "*" : "";
    uint32_t first = BRUME_PG_TEXT;
    for (size_t i = 0; i < call->n_args; i++) {
        brume_pg_sql one = brume_pg_print_expression(printer, scope, call->args[i]);
        first = i == 0 ? one.type : first;
        if (card && (strcmp(name, "string_agg") == 0 || strcmp(name, "array_agg") == 0) && i == 0 &&
            one.type == 2205)
            one = brume_pg_cast_to(printer, one, BRUME_PG_TEXT);
        arguments = brume_pg_format_text(printer, "%s%s%s", arguments, i ? ", " : "", one.text);
    }
    if (!card && is_of_catalog(name))
        return (brume_pg_sql){"NULL", BRUME_PG_TEXT};
    if (!card)
        return brume_pg_print_fail(printer, "unknown function", name);
    if (call->agg_distinct)
        arguments = strcmp(name, "string_agg") == 0 /* SQLite takes DISTINCT of one argument only */
                        ? arguments
                        : brume_pg_format_text(printer, "DISTINCT %s", arguments);
    const char *text = *card->form ? brume_pg_format_text(printer, card->form, arguments)
                                   : brume_pg_format_text(printer, "%s(%s)", name, arguments);
    if (call->agg_filter)
        text =
            brume_pg_format_text(printer, "%s FILTER (WHERE %s)", text,
                                 brume_pg_print_expression(printer, scope, call->agg_filter).text);
    if (call->over)
        text = brume_pg_format_text(printer, "%s%s", text, window(printer, scope, call->over));
    return (brume_pg_sql){text, type_of(card, first)};
}
