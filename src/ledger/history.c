/* The history: what was asked, what it cost, what the owner amended, what was refused. */
#include <string.h>

#include "base/error.h"
#include "ledger/journal.h"
#include "number/decimal.h"

/* A charge as numbers, in addition to its exact text; NULL if it is none. */
static json_t *cost_to_json(const char *price)
{
    brume_charge charge;
    if (brume_charge_parse(price, &charge, NULL) != BRUME_OK)
        return NULL;
    double amount = brume_decimal_shown_up(&charge.amount);
    double delta = brume_decimal_shown_up(&charge.delta);
    if (charge.rule == BRUME_RULE_CONCENTRATED)
        return json_pack("{s:n,s:f,s:f,s:s}", "epsilon", "delta", delta, "rho", amount, "exact",
                         price);
    return json_pack("{s:f,s:f,s:n,s:s}", "epsilon", amount, "delta", delta, "rho", "exact", price);
}

/* What a row of the journal says apart from its body. */
typedef struct told {
    json_int_t id;
    const char *time, *dataset, *kind, *state;
} told;

static const char *price_of(const json_t *body, const char *dataset)
{
    json_t *charge = NULL;
    size_t i = 0;
    json_array_foreach (json_object_get(body, "charges"), i, charge) {
        const char *name = json_string_value(json_object_get(charge, "dataset"));
        if (name && strcmp(name, dataset) == 0)
            return json_string_value(json_object_get(charge, "price"));
    }
    return NULL;
}

/* A reservation. Rows from before the typed text was kept have the normal one alone. */
static json_t *asked(const told *row, const json_t *body)
{
    const char *price = price_of(body, row->dataset);
    json_t *typed = json_object_get(body, "typed"), *normal = json_object_get(body, "sql");
    bool both = json_is_string(typed);
    if (!price)
        return NULL;
    json_t *entry = json_pack("{s:I,s:s,s:s,s:O?,s:o,s:s,s:O*}", "id", row->id, "time", row->time,
                              "dataset", row->dataset, "sql", both ? typed : normal, "cost",
                              cost_to_json(price), "state", row->state, "user",
                              json_object_get(body, "user"));
    if (entry && both && json_object_set(entry, "normal", normal) != 0) {
        json_decref(entry);
        return NULL;
    }
    return entry;
}

/* An amendment or a refused registration: nothing was asked and nothing spent. */
static json_t *done_by_the_owner(const told *row, const json_t *body)
{
    bool amended = strcmp(row->kind, "amend") == 0;
    json_t *entry = json_pack("{s:I,s:s,s:s,s:n,s:n,s:s,s:O*}", "id", row->id, "time", row->time,
                              "dataset", row->dataset, "sql", "cost", "state",
                              amended ? "amended" : "refused", "user",
                              json_object_get(body, "user"));
    json_t *changes = json_object_get(body, "changes");
    if (entry && changes && json_object_set(entry, "changes", changes) != 0) {
        json_decref(entry);
        return NULL;
    }
    return entry;
}

/* How far streams came: the newest row of each, by the number of its reservation. */
static const char progress_of[] =
    "SELECT json_extract(body, '$.reservation'), json_extract(body, '$.asked'), "
    "json_extract(body, '$.hits') FROM journal WHERE kind = 'progress' AND json_valid(body) "
    "ORDER BY id";

static brume_status read_progress(brume_ledger *ledger, json_t *all, brume_error *error)
{
    sqlite3_stmt *statement = NULL;
    bool row = true;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error, progress_of, ""));
    brume_status status = BRUME_OK;
    while (status == BRUME_OK && row) {
        status = brume_store_step(ledger, statement, &row, error);
        if (status != BRUME_OK || !row)
            break;
        json_t *one = json_pack("{s:I,s:I}", "asked", sqlite3_column_int64(statement, 1), "hits",
                                sqlite3_column_int64(statement, 2));
        if (json_object_set_new(all, brume_store_text(statement, 0), one) != 0)
            status = brume_fail(error, BRUME_EMEMORY, NULL, "reading the ledger: out of memory");
    }
    sqlite3_finalize(statement);
    return status;
}

static brume_status add_entry(sqlite3_stmt *statement, const json_t *progress, json_t *events,
                              brume_error *error)
{
    const told row = {sqlite3_column_int64(statement, 0), brume_store_text(statement, 1),
                      brume_store_text(statement, 2), brume_store_text(statement, 3),
                      brume_store_text(statement, 5)};
    json_t *body = json_loads(brume_store_text(statement, 4), JSON_ALLOW_NUL, NULL);
    json_t *entry = !body                              ? NULL
                    : strcmp(row.kind, "reserve") == 0 ? asked(&row, body)
                                                       : done_by_the_owner(&row, body);
    json_decref(body);
    json_t *far = json_object_get(progress, brume_store_text(statement, 0));
    if (entry && far && json_object_set(entry, "progress", far) != 0)
        return brume_fail(error, BRUME_EMEMORY, NULL, "reading the ledger: out of memory");
    if (!entry) /* not what brume writes: said, not shown in part */
        return brume_fail(error, BRUME_EDAMAGED, "run 'brume ledger verify'",
                          "a row of the journal cannot be read");
    return json_array_append_new(events, entry) == 0
               ? BRUME_OK
               : brume_fail(error, BRUME_EMEMORY, NULL, "reading the ledger: out of memory");
}

static const char events_of[] =
    "SELECT journal.id, journal.time, charge.dataset AS name, journal.kind, journal.body, "
    "reservation.state FROM charge JOIN journal ON journal.id = charge.reservation JOIN reservation "
    "ON reservation.id = charge.reservation WHERE ?1 IS NULL OR charge.dataset = ?1 "
    "UNION ALL SELECT id, time, json_extract(body, '$.dataset') AS name, kind, body, '' FROM "
    "journal WHERE kind IN ('amend', 'refuse') AND json_valid(body) AND (?1 IS NULL OR "
    "json_extract(body, '$.dataset') = ?1) ORDER BY 1, 3";

brume_status brume_ledger_history(brume_ledger *ledger, const char *dataset, json_t **out,
                                  brume_error *error)
{
    sqlite3_stmt *statement = NULL;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error, events_of, "t", dataset));
    json_t *events = json_array(), *progress = json_object();
    bool row = events && progress;
    brume_status status = row ? read_progress(ledger, progress, error) : BRUME_OK;
    while (status == BRUME_OK && row) {
        status = brume_store_step(ledger, statement, &row, error);
        if (status == BRUME_OK && row)
            status = add_entry(statement, progress, events, error);
    }
    sqlite3_finalize(statement);
    json_decref(progress);
    json_t *result = status == BRUME_OK ? json_pack("{s:O}", "events", events) : NULL;
    json_decref(events);
    if (status != BRUME_OK)
        return status;
    if (!result)
        return brume_fail(error, BRUME_EMEMORY, NULL, "reading the ledger: out of memory");
    *out = result;
    return BRUME_OK;
}
