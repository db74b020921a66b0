/* The history: what was asked, what it cost, what the owner amended, what was refused; in pages. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "ledger/journal.h"
#include "ledger/page_of_windows.h"
#include "ledger/wording.h"
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
typedef struct history_told {
    json_int_t id;
    const char *time, *dataset, *kind, *state;
} history_told;

static const json_t *charge_of(const json_t *body, const char *dataset)
{
    json_t *charge = NULL;
    size_t i = 0;
    json_array_foreach (json_object_get(body, "charges"), i, charge) {
        const char *name = json_string_value(json_object_get(charge, "dataset"));
        if (name && strcmp(name, dataset) == 0)
            return charge;
    }
    return NULL;
}

/* "windows" of a charge: {"ranges","undated","count","price"}, where the dataset has any. */
static bool add_windows(brume_ledger *ledger, const char *dataset, const json_t *charge,
                        json_t *entry)
{
    const char *price = json_string_value(json_object_get(charge, "window_price"));
    const json_t *list = json_object_get(charge, "windows");
    brume_window_set set = {.undated = json_is_true(json_object_get(charge, "undated"))};
    json_t *ranges = NULL;
    if (!list)
        return true;
    brume_status status = brume_window_set_from_json(list, &set, NULL);
    if (status == BRUME_OK)
        status = brume_ledger_name_windows(ledger, dataset, &set, &ranges, NULL);
    json_t *made = status == BRUME_OK && price
                       ? json_pack("{s:o,s:b,s:I,s:o}", "ranges", ranges, "undated", set.undated,
                                   "count", (json_int_t)brume_window_set_size(&set), "price",
                                   cost_to_json(price))
                       : NULL;
    brume_window_set_free(&set);
    return made && json_object_set_new(entry, "windows", made) == 0;
}

/* A series is a reservation that stays open: a price is waiting for no answer. */
static const char *state_of(const history_told *row, const json_t *body)
{
    const json_t *event = json_array_get(json_object_get(body, "events"), 0);
    return json_object_get(event, "series") && strcmp(row->state, "reserved") == 0 ? "open"
                                                                                   : row->state;
}

/* A reservation. Rows from before the typed text was kept have the normal one alone, and those that
 * were redacted none. */
static json_t *asked(brume_ledger *ledger, const history_told *row, const json_t *body)
{
    const json_t *charge = charge_of(body, row->dataset);
    const char *price = json_string_value(json_object_get(charge, "price"));
    json_t *words = NULL;
    if (!price || brume_wording_read(ledger, (uint64_t)row->id, body, &words, NULL) != BRUME_OK)
        return NULL;
    json_t *typed = json_object_get(words, "typed"), *normal = json_object_get(words, "sql");
    bool both = json_is_string(typed);
    json_t *gone = words ? NULL : json_string("(redacted)");
    json_t *entry = json_pack("{s:I,s:s,s:s,s:O?,s:o,s:s,s:O*}", "id", row->id, "time", row->time,
                              "dataset", row->dataset, "sql",
                              gone   ? gone
                              : both ? typed
                                     : normal,
                              "cost", cost_to_json(price), "state", state_of(row, body), "user",
                              json_object_get(body, "user"));
    bool good = entry && (!both || json_object_set(entry, "normal", normal) == 0) &&
                (words || json_object_set_new(entry, "redacted", json_true()) == 0) &&
                add_windows(ledger, row->dataset, charge, entry);
    json_decref(words);
    json_decref(gone);
    if (!good) {
        json_decref(entry);
        return NULL;
    }
    return entry;
}

/* What the owner did: nothing was asked and nothing spent. */
static json_t *done_by_the_owner(const history_told *row, const json_t *body)
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
    "json_extract(body, '$.hits') FROM journal WHERE kind = 'progress' AND id > ?1 AND "
    "json_valid(body) ORDER BY id";

/* For the reservations from `first` on. */
static brume_status read_progress(brume_ledger *ledger, int64_t first, json_t *all,
                                  brume_error *error)
{
    brume_statement *statement = NULL;
    bool row = true;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error, progress_of, "i", first));
    brume_status status = BRUME_OK;
    while (status == BRUME_OK && row) {
        status = brume_store_step(ledger, statement, &row, error);
        if (status != BRUME_OK || !row)
            break;
        json_t *one = json_pack("{s:I,s:I}", "asked", brume_store_int(statement, 1), "hits",
                                brume_store_int(statement, 2));
        if (json_object_set_new(all, brume_store_text(statement, 0), one) != 0)
            status = brume_fail(error, BRUME_EMEMORY, NULL, "reading the ledger: out of memory");
    }
    brume_store_finish(statement);
    return status;
}

/* Which rows of the journal are events, the newest first; without their bodies, which may be long
 * and are sorted by nobody. */
static const char events_of[] =
    "SELECT reservation, dataset FROM charge WHERE (?1 IS NULL OR dataset = ?1) AND "
    "reservation < ?2 UNION ALL SELECT id, json_extract(body, '$.dataset') FROM journal WHERE "
    "kind IN ('amend', 'refuse') AND id < ?2 AND json_valid(body) AND (?1 IS NULL OR "
    "json_extract(body, '$.dataset') = ?1) ORDER BY 1 DESC, 2 DESC";

static const char event_of[] =
    "SELECT journal.time, journal.kind, journal.body, coalesce(reservation.state, '') FROM journal "
    "LEFT JOIN reservation ON reservation.id = journal.id WHERE journal.id = ?1";

static json_t *read_event(brume_ledger *ledger, brume_statement *row, int64_t id,
                          const char *dataset)
{
    const history_told one = {id, brume_store_text(row, 0), dataset, brume_store_text(row, 1),
                              brume_store_text(row, 3)};
    json_t *body = json_loads(brume_store_text(row, 2), JSON_ALLOW_NUL, NULL);
    json_t *entry = !body                              ? NULL
                    : strcmp(one.kind, "reserve") == 0 ? asked(ledger, &one, body)
                                                       : done_by_the_owner(&one, body);
    json_decref(body);
    return entry;
}

/* A page that is being filled, the newest event first. */
typedef struct page {
    brume_ledger *ledger;
    json_t *events;
    int64_t first; /* the number of the oldest one */
    size_t bytes;  /* of all of them, about */
} page;

/* One more event. */
static brume_status add_event(page *to, int64_t id, const char *dataset, brume_error *error)
{
    brume_statement *row = NULL;
    bool found = false;
    BRUME_TRY(brume_store_prepare(to->ledger, &row, error, event_of, "i", id));
    brume_status status = brume_store_step(to->ledger, row, &found, error);
    json_t *entry = status == BRUME_OK && found ? read_event(to->ledger, row, id, dataset) : NULL;
    to->first = id;
    to->bytes += entry ? strlen(brume_store_text(row, 2)) : 0;
    brume_store_finish(row);
    if (status != BRUME_OK)
        return status;
    if (!entry) /* not what brume writes: said, not shown in part */
        return brume_fail(error, BRUME_EDAMAGED, "run 'brume ledger verify'",
                          "a row of the journal cannot be read");
    return json_array_append_new(to->events, entry) == 0
               ? BRUME_OK
               : brume_fail(error, BRUME_EMEMORY, NULL, "reading the ledger: out of memory");
}

/* Fill it until it is full. All events of one row of the journal are on one page. */
static brume_status fill_page(brume_statement *ids, size_t most, page *to, bool *more,
                              brume_error *error)
{
    for (;;) {
        BRUME_TRY(brume_store_step(to->ledger, ids, more, error));
        if (!*more)
            return BRUME_OK;
        int64_t id = brume_store_int(ids, 0);
        bool full = json_array_size(to->events) >= most ||
                    (most < SIZE_MAX && to->bytes >= BRUME_HISTORY_BYTES);
        if (full && id != to->first)
            return BRUME_OK;
        BRUME_TRY(add_event(to, id, brume_store_text(ids, 1), error));
    }
}

/* A stream that was killed came farther than its newest row says; one that ended in order did not.
 * False without memory. */
static bool add_left(brume_ledger *ledger, json_t *progress)
{
    uint64_t id = 0, asked = 0, hits = 0;
    char key[24];
    brume_stream_left(ledger, &id, &asked, &hits);
    snprintf(key, sizeof key, "%llu", (unsigned long long)id);
    const json_t *row = json_object_get(progress, key);
    bool farther = id > 0 && (uint64_t)json_integer_value(json_object_get(row, "asked")) < asked;
    return !farther || json_object_set_new(progress, key,
                                           json_pack("{s:I,s:I}", "asked", (json_int_t)asked,
                                                     "hits", (json_int_t)hits)) == 0;
}

/* Oldest first, and how far streams came. */
static json_t *put_in_order(const page *from, const json_t *progress)
{
    json_t *events = json_array();
    for (size_t i = json_array_size(from->events); events && i-- > 0;) {
        json_t *event = json_array_get(from->events, i);
        char id[24];
        snprintf(id, sizeof id, "%lld",
                 (long long)json_integer_value(json_object_get(event, "id")));
        json_t *far = json_object_get(progress, id);
        if ((far && json_object_set(event, "progress", far) != 0) ||
            json_array_append(events, event) != 0) {
            json_decref(events);
            return NULL;
        }
    }
    return events;
}

brume_status brume_ledger_history(brume_ledger *ledger, const char *dataset,
                                  const brume_history_page *wanted, json_t **out,
                                  brume_error *error)
{
    size_t most = wanted && wanted->most ? wanted->most : SIZE_MAX;
    int64_t before = wanted && wanted->before ? (int64_t)wanted->before : INT64_MAX;
    page to = {.ledger = ledger, .events = json_array()};
    brume_statement *ids = NULL;
    json_t *progress = json_object();
    bool more = false;
    brume_status status =
        to.events && progress
            ? brume_store_prepare(ledger, &ids, error, events_of, "ti", dataset, before)
            : brume_no_memory(error, "the history");
    if (status == BRUME_OK)
        status = fill_page(ids, most, &to, &more, error);
    brume_store_finish(ids);
    if (status == BRUME_OK)
        status = read_progress(ledger, to.first, progress, error);
    if (status == BRUME_OK && !add_left(ledger, progress))
        status = brume_no_memory(error, "the history");
    json_t *events = status == BRUME_OK ? put_in_order(&to, progress) : NULL;
    json_t *result = events ? json_pack("{s:O,s:o}", "events", events, "before",
                                        more ? json_integer(to.first) : json_null())
                            : NULL;
    json_decref(events);
    json_decref(to.events);
    json_decref(progress);
    if (status == BRUME_OK && !result)
        status = brume_no_memory(error, "the history");
    if (status == BRUME_OK)
        *out = result;
    return status;
}
