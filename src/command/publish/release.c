/* release.json: what the ledger knows of answers that leave it. */
#include "command/publish/release.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include <openssl/evp.h>

#include <brume/mechanism/mechanism.h>
#include <brume/version.h>

#include "command/owner/yaml.h"
#include "command/publish/bundle.h"
#include "command/publish/guarantee.h"
#include "command/user/user.h"
#include "query/release/ask.h"

/* ---- what only the owner knows ---- */

const brume_about_key brume_about_keys[] = {
    {"title", "the name of what is published", true},
    {"publisher", "who publishes it; several in a list", true},
    {"description", "what it is, in two sentences", true},
    {"use", "what it is meant for", true},
    {"region", "which region it describes, or whose law applies", true},
    {"authors", "who fills in the entry for the registry; several in a list", true},
    {"sector", "Technology, Healthcare, Education, Government, Energy or Finance", false},
    {"license", "the licence of the tables, such as CC-BY-4.0", false},
    {"contact", "whom to ask", false},
    {"sources", "links to more about it", false},
    {"preprocessing", "what was done with the data before, and whether that was private", false},
    {"justification", "why this unit, this budget, these bounds", false},
    {"updates", "whether and when there will be more releases of the same data", false},
    {NULL, NULL, false},
};

static bool is_about_key(const char *name)
{
    for (const brume_about_key *key = brume_about_keys; key->name; key++)
        if (strcmp(key->name, name) == 0)
            return true;
    return false;
}

static json_t *about_value(const brume_yaml *item)
{
    if (item->kind == BRUME_YAML_TEXT)
        return json_string(item->text);
    json_t *list = json_array();
    for (size_t i = 0; i < item->count; i++)
        json_array_append_new(list, json_string(item->items[i].text ? item->items[i].text : ""));
    return list;
}

brume_status brume_published_about(const char *path, json_t **out, brume_error *error)
{
    char *text = NULL;
    size_t length = 0;
    brume_yaml *tree = NULL;
    json_t *about = json_object();
    if (!about)
        return brume_no_memory(error, "a release");
    brume_status status =
        path ? brume_bundle_read(*path == '/' ? "" : ".", path, &text, &length, error) : BRUME_OK;
    if (path && status == BRUME_OK)
        status = brume_yaml_parse(text, length, path, &tree, error);
    for (size_t i = 0; status == BRUME_OK && tree && i < tree->count; i++) {
        const brume_yaml *item = &tree->items[i];
        if (!item->key || !is_about_key(item->key))
            status = brume_fail(error, BRUME_EUNKNOWN,
                                "title, publisher, description, use, region, authors, sector, "
                                "license, contact, sources, preprocessing, justification, updates",
                                "%s:%zu: '%.60s' is nothing that a release says", path, item->line,
                                item->key ? item->key : "");
        else if (json_object_set_new(about, item->key, about_value(item)) != 0)
            status = brume_no_memory(error, "a release");
    }
    brume_yaml_close(tree);
    free(text);
    if (status == BRUME_OK)
        *out = about;
    else
        json_decref(about);
    return status;
}

json_t *brume_published_missing(const json_t *about)
{
    json_t *list = json_array();
    for (const brume_about_key *key = brume_about_keys; list && key->name; key++)
        if (key->required && !json_object_get(about, key->name))
            json_array_append_new(list, json_string(key->name));
    return list;
}

/* ---- the dataset ---- */

static const char *unit_of(const json_t *policy)
{
    const json_t *tables = json_object_get(policy, "tables");
    for (size_t i = 0; i < json_array_size(tables); i++) {
        const char *unit = json_string_value(json_object_get(json_array_get(tables, i), "unit"));
        if (unit)
            return unit;
    }
    const char *unit = json_string_value(json_object_get(policy, "unit"));
    return unit ? unit : "row";
}

/* A column as the public may know it: its type, and what the owner declares of it. */
static json_t *public_column(const json_t *column)
{
    return json_pack("{s:O?,s:O?,s:O?,s:O?,s:O?}", "name", json_object_get(column, "name"), "type",
                     json_object_get(column, "type"), "low", json_object_get(column, "low"), "high",
                     json_object_get(column, "high"), "domain", json_object_get(column, "domain"));
}

static json_t *public_table(const json_t *policy, const char *name)
{
    json_t *columns = json_array(), *column = NULL;
    size_t i = 0;
    json_array_foreach (json_object_get(policy, "columns"), i, column)
        json_array_append_new(columns, public_column(column));
    return json_pack("{s:s,s:O?,s:b,s:O?,s:O?,s:o}", "name", name, "unit",
                     json_object_get(policy, "unit"), "public",
                     json_is_true(json_object_get(policy, "public")), "max_groups",
                     json_object_get(policy, "max_groups"), "max_rows",
                     json_object_get(policy, "max_rows"), "columns", columns);
}

static json_t *public_tables(const brume_dataset *dataset)
{
    json_t *list = json_array(), *tables = json_object_get(dataset->policy, "tables");
    for (size_t i = 0; i < json_array_size(tables); i++) {
        const json_t *table = json_array_get(tables, i);
        const char *name = json_string_value(json_object_get(table, "name"));
        json_array_append_new(list, public_table(table, name ? name : ""));
    }
    if (!tables)
        json_array_append_new(list, public_table(dataset->policy, dataset->name));
    return list;
}

static brume_status hash_policy(const json_t *policy, char out[BRUME_SIGNER_TEXT],
                                brume_error *error)
{
    unsigned char hash[32];
    char *text = json_dumps(policy, JSON_COMPACT | JSON_SORT_KEYS);
    bool good = text && EVP_Digest(text, strlen(text), hash, NULL, EVP_sha256(), NULL) == 1;
    free(text);
    for (size_t i = 0; good && i < sizeof hash; i++)
        snprintf(out + 2 * i, 3, "%02x", hash[i]);
    return good ? BRUME_OK : brume_no_memory(error, "a release");
}

brume_status brume_published_spent(const brume_filter *filter, char out[BRUME_CHARGE_TEXT],
                                   brume_error *error)
{
    brume_charge spent = {filter->rule, filter->spent, filter->spent_delta};
    return brume_charge_print(&spent, out, error);
}

/* The budget that each window has beside that of whole histories, or instead of it. */
static brume_status add_windows(const brume_dataset *dataset, json_t *object, brume_error *error)
{
    json_t *windows = json_object();
    BRUME_TRY(windows ? brume_filter_to_json(&dataset->window_budget, windows, error)
                      : brume_no_memory(error, "a release"));
    json_object_del(windows, "spent");
    json_object_del(windows, "remaining");
    bool good = json_object_set_new(object, "windows", windows) == 0 &&
                json_object_set_new(object, "whole_histories", json_boolean(!dataset->no_budget)) ==
                    0;
    if (good && dataset->no_budget) /* nothing is summed over windows, so nothing is claimed */
        good = json_object_set_new(object, "guarantees", json_array()) == 0;
    return good ? BRUME_OK : brume_no_memory(error, "a release");
}

brume_status brume_published_dataset(const brume_dataset *dataset, json_t **out, brume_error *error)
{
    char hash[BRUME_SIGNER_TEXT], spent[BRUME_CHARGE_TEXT], filter[BRUME_FILTER_TEXT];
    json_t *guarantees = NULL;
    if (dataset->no_budget) /* its promise is the sum over windows, which nothing here says */
        return brume_fail(
            error, BRUME_EUNSUPPORTED, "give it a budget for whole histories",
            "'%s' has 'budget: none', and what its windows promise cannot be stated here "
            "yet",
            dataset->name);
    BRUME_TRY(hash_policy(dataset->policy, hash, error));
    BRUME_TRY(brume_published_spent(&dataset->filter, spent, error));
    BRUME_TRY(brume_filter_print(&dataset->filter, filter, error));
    json_t *charges = json_pack("[s]", spent);
    brume_status status = brume_guarantees_of(charges, dataset->adjacency, &guarantees, error);
    json_decref(charges);
    if (status != BRUME_OK)
        return status;
    json_t *object =
        json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:I,s:o,s:s,s:s,s:o}", "name", dataset->name, "rule",
                  brume_rule_word(dataset->filter.rule), "adjacency",
                  brume_adjacency_word(dataset->adjacency), "unit", unit_of(dataset->policy),
                  "data_version", dataset->data_version, "policy_sha256", hash, "charges",
                  (json_int_t)dataset->filter.charges, "tables", public_tables(dataset),
                  "spent_exact", spent, "filter", filter, "guarantees", guarantees);
    if (object && !dataset->no_budget)
        status = brume_filter_to_json(&dataset->filter, object, error);
    if (object && status == BRUME_OK && dataset->has_windows)
        status = add_windows(dataset, object, error);
    if (!object || status != BRUME_OK) {
        json_decref(object);
        return status == BRUME_OK ? brume_no_memory(error, "a release") : status;
    }
    *out = object;
    return BRUME_OK;
}

/* ---- answers ---- */

/* The event of a charge in the history. */
static brume_status find_event(brume_ledger *ledger, const char *dataset, uint64_t id,
                               json_t **event, brume_error *error)
{
    json_t *page = NULL;
    const brume_history_page wanted = {.before = id + 1, .most = 1};
    BRUME_TRY(brume_ledger_history(ledger, dataset, &wanted, &page, error));
    json_t *events = json_object_get(page, "events");
    json_t *last = json_array_get(events, json_array_size(events) - 1);
    if ((uint64_t)json_integer_value(json_object_get(last, "id")) == id)
        *event = json_incref(last);
    json_decref(page);
    return *event ? BRUME_OK
                  : brume_fail(error, BRUME_EPOLICY, "'brume history NAME' lists a dataset's own",
                               "charge %llu is not of the dataset '%s'", (unsigned long long)id,
                               dataset);
}

static brume_status check_alone(brume_ledger *ledger, const char *dataset, uint64_t id,
                                brume_error *error)
{
    json_t *answer = NULL, *names = NULL;
    char when[BRUME_WHEN_TEXT];
    BRUME_TRY(brume_ledger_recall_reservation(ledger, id, &answer, &names, when, error));
    bool alone = json_array_size(names) == 1;
    json_decref(answer);
    json_decref(names);
    return alone ? BRUME_OK
                 : brume_fail(error, BRUME_EPOLICY,
                              "what several datasets paid for is not published yet",
                              "charge %llu is of '%s' and of other datasets",
                              (unsigned long long)id, dataset);
}

static json_t *column_json(const json_t *column)
{
    json_t *copy = json_copy((json_t *)column);
    return copy;
}

/* What is said of an answer beside its numbers. */
static json_t *describe_answer(const brume_published_table *table, const json_t *event,
                               const json_t *answer)
{
    uint64_t id = table->id;
    char recorded[64], csv[64], parquet[64];
    snprintf(recorded, sizeof recorded, "answers/%llu.json", (unsigned long long)id);
    snprintf(csv, sizeof csv, "tables/%llu.csv", (unsigned long long)id);
    snprintf(parquet, sizeof parquet, "tables/%llu.parquet", (unsigned long long)id);
    json_t *columns = json_array(), *column = NULL;
    size_t i = 0;
    json_array_foreach (json_object_get(answer, "columns"), i, column)
        json_array_append_new(columns, column_json(column));
    return json_pack(
        "{s:I,s:O?,s:O?,s:s,s:O,s:O,s:s,s:s,s:I,s:o,s:O?,s:O?,s:O?,s:O?}", "id", (json_int_t)id,
        "sql", json_object_get(event, "sql"), "asked", json_object_get(event, "time"), "recorded",
        recorded, "salt", json_object_get(table->recorded, "salt"), "wording",
        json_object_get(table->recorded, "wording"), "csv", csv, "parquet", parquet, "rows",
        (json_int_t)json_array_size(json_object_get(answer, "rows")), "columns", columns, "cost",
        json_object_get(event, "cost"), "as_of", json_object_get(answer, "as_of"), "mechanisms",
        json_object_get(answer, "events"), "notes", json_object_get(answer, "notes"));
}

static brume_status add_answer(brume_ledger *ledger, const char *dataset,
                               brume_published_table *table, json_t *answers, json_t *charges,
                               brume_error *error)
{
    json_t *event = NULL, *json = NULL;
    BRUME_TRY(brume_ledger_recorded(ledger, table->id, &table->recorded, error));
    BRUME_TRY(find_event(ledger, dataset, table->id, &event, error));
    brume_status status = check_alone(ledger, dataset, table->id, error);
    if (status == BRUME_OK)
        status = brume_recall(ledger, table->id, &table->answer, error);
    if (status == BRUME_OK)
        table->answer->cached = false; /* its age is not for a text that is read for years */
    if (status == BRUME_OK)
        status = brume_query_answer_to_json(table->answer, &json, error);
    if (status == BRUME_OK &&
        (json_array_append_new(answers, describe_answer(table, event, json)) != 0 ||
         json_array_append(charges, json_object_get(json_object_get(event, "cost"), "exact")) != 0))
        status = brume_no_memory(error, "a release");
    json_decref(event);
    json_decref(json);
    return status;
}

/* The cards of the mechanisms that any answer used. */
static json_t *used_mechanisms(const json_t *answers)
{
    json_t *used = json_object();
    for (size_t i = 0; i < json_array_size(answers); i++) {
        const json_t *events = json_object_get(json_array_get(answers, i), "mechanisms");
        for (size_t j = 0; j < json_array_size(events); j++) {
            const char *name =
                json_string_value(json_object_get(json_array_get(events, j), "mechanism"));
            const brume_card *card = name ? brume_card_by_name(name) : NULL;
            if (card && !json_object_get(used, name))
                json_object_set_new(used, name,
                                    json_pack("{s:s,s:s,s:s}", "summary", card->summary,
                                              "guarantee", card->guarantee, "proof", card->proof));
        }
    }
    return used;
}

static json_t *program_json(void)
{
    struct utsname machine;
    return json_pack("{s:s,s:s,s:s}", "name", "brume", "version", BRUME_VERSION, "platform",
                     uname(&machine) == 0 ? machine.machine : "");
}

static json_t *today(void)
{
    char text[16];
    struct tm utc;
    time_t now = time(NULL);
    gmtime_r(&now, &utc);
    strftime(text, sizeof text, "%Y-%m-%d", &utc);
    return json_string(text);
}

static brume_status fill(brume_ledger *ledger, const brume_dataset *dataset, const json_t *about,
                         brume_published *release, brume_error *error)
{
    json_t *answers = json_array(), *charges = json_array(), *guarantees = NULL, *state = NULL;
    brume_status status = answers && charges ? BRUME_OK : brume_no_memory(error, "a release");
    for (size_t i = 0; status == BRUME_OK && i < release->count; i++)
        status = add_answer(ledger, dataset->name, &release->tables[i], answers, charges, error);
    if (status == BRUME_OK)
        status = brume_guarantees_of(charges, dataset->adjacency, &guarantees, error);
    if (status == BRUME_OK)
        status = brume_published_dataset(dataset, &state, error);
    if (status == BRUME_OK)
        release->document = json_pack(
            "{s:s,s:o,s:O,s:o,s:o,s:O,s:{s:O,s:o},s:o,s:o}", "format", "brume release 1",
            "published", today(), "about", about, "missing", brume_published_missing(about),
            "dataset", state, "answers", answers, "cost", "charges", charges, "guarantees",
            guarantees, "mechanisms", used_mechanisms(answers), "program", program_json());
    else
        json_decref(guarantees);
    json_decref(answers);
    json_decref(charges);
    return status != BRUME_OK || release->document ? status : brume_no_memory(error, "a release");
}

brume_status brume_published_open(brume_ledger *ledger, const char *dataset,
                                  const uint64_t *answers, size_t count, const json_t *about,
                                  brume_published **out, brume_error *error)
{
    brume_dataset *state = NULL;
    brume_published *release = calloc(1, sizeof *release);
    if (release)
        release->tables = calloc(count, sizeof *release->tables);
    if (!release || !release->tables) {
        free(release);
        return brume_no_memory(error, "a release");
    }
    release->count = count;
    for (size_t i = 0; i < count; i++)
        release->tables[i].id = answers[i];
    brume_status status = brume_ledger_dataset(ledger, dataset, &state, error);
    if (status == BRUME_OK && state->no_budget)
        status = brume_fail(error, BRUME_EUNSUPPORTED,
                            "its answers protect rows of one window, and what windows cost "
                            "together is said by no bundle yet",
                            "'%s' has no budget of whole histories", state->name);
    if (status == BRUME_OK)
        status = fill(ledger, state, about, release, error);
    brume_dataset_close(state);
    if (status == BRUME_OK)
        *out = release;
    else
        brume_published_close(release);
    return status;
}

void brume_published_close(brume_published *release)
{
    for (size_t i = 0; release && i < release->count; i++) {
        brume_query_answer_close(release->tables[i].answer);
        json_decref(release->tables[i].recorded);
    }
    if (release) {
        json_decref(release->document);
        free(release->tables);
    }
    free(release);
}
