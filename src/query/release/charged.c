/* A charged release that is not SQL: the release path for one statistic of a registered dataset. */
#include "query/release/charged.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ledger/digest.h"
#include "ledger/user.h"
#include "query/collect/unit_rows.h"
#include "query/plan/question.h"
#include "query/plan/window_price.h"
#include "query/release/answer.h"
#include "query/release/ask.h"
#include "query/release/prepare.h"

/* The table that pays: the first that is not public. Its dataset is that of all such tables. */
static size_t payer_of(const brume_question *question)
{
    size_t i = 0;
    while (i + 1 < question->table_count && question->policies[i]->is_public)
        i++;
    return i;
}

/* A view is one SELECT of COUNTs over its columns, all of one dataset, in which a row is a unit's,
 * or where rows are the units, one of them. */
static brume_status check_view(const brume_charged *release, const brume_question *question,
                               brume_error *error)
{
    const brume_query *query = question->query;
    bool plain = query->key_count == 0 && !query->having && query->limit < 0 &&
                 query->aggregate_count == release->column_count &&
                 query->output_count == release->column_count;
    for (size_t i = 0; plain && i < query->aggregate_count; i++)
        plain = query->aggregates[i].kind == BRUME_AGGREGATE_COUNT && query->aggregates[i].argument;
    if (!plain)
        return brume_fail(error, BRUME_EARGUMENT, "'--from' is one SELECT, without a semicolon",
                          "the view is more than the SELECT of its rows");
    for (size_t i = 0; i < question->table_count; i++)
        if (!question->policies[i]->is_public &&
            strcmp(question->datasets[i]->name, release->dataset) != 0)
            return brume_fail(error, BRUME_EUNSUPPORTED, "name tables of one dataset",
                              "the view reads '%s' too, and '%s' pays", question->datasets[i]->name,
                              release->dataset);
    if (!query->unit && !query->one_row_per_unit)
        return brume_fail(error, BRUME_EUNSUPPORTED, "select from the table alone",
                          "a row of '%s' may be in several rows of the view", release->dataset);
    return BRUME_OK;
}

static brume_status check_adjacency(const brume_charged *release, const brume_question *question,
                                    brume_error *error)
{
    const brume_dataset *dataset = question->datasets[payer_of(question)];
    const brume_policy *policy = question->policies[payer_of(question)];
    brume_adjacency wanted = release->adjacency == BRUME_EDGE ? BRUME_ADD_REMOVE
                                                              : release->adjacency;
    if (policy->is_public)
        return brume_fail(error, BRUME_EPOLICY, NULL, "'%s' is public and has no budget",
                          dataset->name);
    if (wanted != dataset->adjacency)
        return brume_fail(error, BRUME_EPOLICY, "the owner decided on it at registration",
                          "'%s' is registered under another adjacency", dataset->name);
    if ((policy->unit || question->query->unit) && release->adjacency != BRUME_ADD_REMOVE)
        return brume_fail(error, BRUME_EUNSUPPORTED, "register it with --unit row",
                          "this release needs a dataset in which a row is a unit");
    return BRUME_OK;
}

static brume_status make_charge(const brume_charged *release, const brume_dataset *dataset,
                                brume_charge *charge, brume_error *error)
{
    brume_decimal amount, delta = {0};
    brume_rule rule = dataset->filter.rule;
    if (release->rho && rule != BRUME_RULE_CONCENTRATED)
        return brume_fail(error, BRUME_EPOLICY, "pay with --epsilon",
                          "the budget of '%s' is not of the rule concentrated", dataset->name);
    BRUME_TRY(brume_decimal_parse(release->rho ? release->rho : release->epsilon, &amount, error));
    if (release->rho)
        return brume_charge_make(rule, &amount, NULL, charge, error);
    if (rule == BRUME_RULE_CONCENTRATED && release->rho_upper > 0) {
        brume_cost cost = {.concentrated = BRUME_UPPER, .rho = release->rho_upper};
        return brume_charge_cost(rule, &cost, 1, charge, error);
    }
    if (release->delta)
        BRUME_TRY(brume_decimal_parse(release->delta, &delta, error));
    return brume_charge_guarantee(rule, &amount, &delta, charge, error);
}

static brume_rows_of rows_of(const brume_charged *release, const brume_question *question)
{
    return (brume_rows_of){.question = question,
                           .each = release->rows_per_unit ? release->rows_per_unit : 1,
                           .names = release->view ? release->columns : NULL};
}

/* Draw once from no rows at all and forget the answer: what is wrong with the words typed shows
 * before anything is charged. No data is read. */
static brume_status rehearse(const brume_charged *release, const brume_question *question,
                             brume_bits *bits, brume_error *error)
{
    brume_rows_file empty;
    json_t *nothing = NULL;
    const brume_rows_of of = rows_of(release, question);
    BRUME_TRY(brume_rows_none(&of, &empty, error));
    brume_status status = release->draw(release->context, empty.path, bits, &nothing, error);
    brume_rows_file_close(&empty);
    json_decref(nothing);
    return status;
}

typedef struct charged_work {
    const brume_charged *release;
    const brume_question *question;
    brume_bits *bits;
    brume_ledger *ledger;
    const brume_watch *watch;
    uint64_t reservation;
} charged_work;

static brume_status answer_stream(void *context, brume_engine *engine, uint64_t reservation,
                                  json_t **answer, brume_error *error)
{
    charged_work *work = context;
    work->reservation = reservation;
    brume_charged_stream on = {work->ledger, reservation, work->question,
                               engine,       work->bits,  work->watch};
    return work->release->stream(work->release->context, &on, answer, error);
}

static brume_status read_and_draw(void *context, brume_engine *engine, uint64_t reservation,
                                  json_t **answer, brume_error *error)
{
    charged_work *work = context;
    work->reservation = reservation;
    brume_rows_file rows;
    const brume_rows_of of = rows_of(work->release, work->question);
    BRUME_TRY(brume_rows_read(&of, engine, work->bits, &rows, error));
    brume_status status =
        work->release->draw(work->release->context, rows.path, work->bits, answer, error);
    brume_rows_file_close(&rows);
    return status;
}

static brume_status reserve_and_answer(brume_ledger *ledger, const brume_charged *release,
                                       const brume_question *question, const brume_charge *charge,
                                       const char *key, brume_bits *bits, const brume_watch *watch,
                                       char read[BRUME_WHEN_TEXT], json_t **answer,
                                       brume_error *error)
{
    brume_engine *engine = NULL;
    brume_readings read_of = {.window = {.charge = *charge}};
    BRUME_TRY(brume_question_engine(question, &engine, error));
    brume_status status = brume_readings_find(question, charge, engine, &read_of, error);
    /* what was typed is in the charge's text, which can be redacted; events cannot */
    json_t *events = release->events ? json_deep_copy(release->events)
                                     : json_pack("[{s:s}]", "release", "statistic");
    brume_reservation reservation = {.charges = read_of.charges,
                                     .charge_count = read_of.charge_count,
                                     .public_tables = read_of.charges + read_of.charge_count,
                                     .public_count = read_of.count - read_of.charge_count,
                                     .sql = release->what,
                                     .events = events,
                                     .answer_key = key};
    charged_work work = {release, question, bits, ledger, watch, 0};
    if (status == BRUME_OK)
        status = brume_check_ledger_bytes(ledger, question, error);
    if (status == BRUME_OK && release->stream)
        status = brume_ledger_begin_stream(ledger, error);
    if (status == BRUME_OK && release->needs_rows && release->adjacency == BRUME_REPLACE)
        status = brume_rows_check(question, engine, release->most_rows, error);
    if (status == BRUME_OK)
        status = brume_spend(ledger, &reservation, engine,
                             release->stream ? answer_stream : read_and_draw, &work, watch, answer,
                             error);
    if (status == BRUME_OK)
        status = brume_ledger_reserved_at(ledger, work.reservation, read, error);
    brume_engine_close(engine);
    brume_readings_clear(&read_of);
    json_decref(events);
    return status;
}

/* The windows that are read, and no others. In one window a unit comes or goes with its rows there,
 * and so does its one row that counts: the price is that of the mechanism. In several its row would
 * become another one. Under replace a row may go to another window, so that the number of rows is
 * not public as the mechanisms have it. */
static brume_status find_windows(const brume_charged *release, brume_question *question,
                                 brume_error *error)
{
    const brume_dataset *dataset = question->datasets[payer_of(question)];
    const brume_window_wish wish = {release->windows, brume_touched_now()};
    if (!dataset->has_windows)
        return release->windows
                   ? brume_fail(error, BRUME_EARGUMENT, "leave it out",
                                "'--windows': the dataset '%s' has no windows", dataset->name)
                   : BRUME_OK;
    if (release->view) /* which of its rows are of one window is not worked out */
        return brume_fail(error, BRUME_EUNSUPPORTED, "leave '--from' out, and name one window",
                          "a view cannot be read of a dataset with windows, such as '%s'",
                          dataset->name);
    if (dataset->adjacency == BRUME_REPLACE)
        return brume_fail(error, BRUME_EUNSUPPORTED,
                          "ask in SQL: queries pay for the windows they read",
                          "this cannot be asked of a dataset with windows that is registered under "
                          "replace, such as '%s'",
                          dataset->name);
    if (release->windows || !question->policies[0]->unit)
        BRUME_TRY(brume_touched_find(question->query, question->tables, &wish, &question->touched,
                                     error));
    if (question->policies[0]->unit &&
        (!question->touched || !brume_touched_is_one(question->touched)))
        return brume_fail(error, BRUME_EUNSUPPORTED,
                          "name one with --windows, or ask in SQL, which reads several",
                          "this is asked of one window, and '%s' has many", dataset->name);
    return BRUME_OK;
}

static json_t *windows_to_json(const brume_question *question, const brume_charge *charge)
{
    const brume_window_price price = {.charge = *charge, .why = "one window"};
    return question->touched ? brume_window_price_to_json(question->touched, &price, charge->rule,
                                                          question->touched->now)
                             : NULL;
}

/* What may be spent now: the least of the dataset and of the windows that were read. */
static brume_status find_left(brume_ledger *ledger, const brume_question *question,
                              brume_charge *left, brume_error *error)
{
    brume_dataset *now = NULL;
    BRUME_TRY(
        brume_ledger_dataset(ledger, question->datasets[payer_of(question)]->name, &now, error));
    brume_status status = brume_ledger_left(ledger, now, left, error);
    brume_charge window;
    if (status == BRUME_OK && question->touched) {
        status = brume_ledger_least_left(ledger, now, &question->touched->datasets[0].set, &window,
                                         error);
        if (status == BRUME_OK && brume_decimal_compare(&window.amount, &left->amount) < 0)
            *left = window;
    }
    brume_dataset_close(now);
    return status;
}

/* Everything a free re-read may depend on. */
static brume_status make_key(const brume_charged *release, const brume_question *question,
                             const char *kind, const char *price, char key[BRUME_DIGEST_TEXT],
                             brume_error *error)
{
    enum { FIRST = 4, EACH = 4 };
    /* a key of a dataset without windows is as it always was */
    size_t count = FIRST + EACH * question->table_count + (question->touched != NULL);
    const char **parts = calloc(count, sizeof *parts);
    if (!parts)
        return brume_no_memory(error, "the rows");
    parts[0] = kind;
    parts[1] = release->what;
    parts[2] = price;
    parts[3] = release->delta ? release->delta : "";
    if (question->touched)
        parts[count - 1] = release->windows ? release->windows : "";
    bool good = true;
    for (size_t i = 0; i < question->table_count; i++) {
        const brume_dataset *one = question->datasets[i];
        char *policy = json_dumps(one->policy, JSON_COMPACT | JSON_SORT_KEYS);
        const char *of_table[EACH] = {one->name, one->data_version, one->source, policy};
        memcpy(parts + FIRST + EACH * i, of_table, sizeof of_table);
        good = good && policy;
    }
    brume_status status = good ? brume_digest(parts, count, key, error)
                               : brume_no_memory(error, "the rows");
    for (size_t i = 0; i < question->table_count; i++)
        free((char *)parts[FIRST + EACH * i + EACH - 1]);
    free(parts);
    return status;
}

static brume_status release_from(brume_ledger *ledger, const brume_charged *release,
                                 brume_question *question, brume_bits *bits,
                                 const brume_watch *watch, json_t **answer, brume_error *error)
{
    brume_charge charge;
    char price[BRUME_CHARGE_TEXT], key[BRUME_DIGEST_TEXT];
    const brume_dataset *payer = question->datasets[payer_of(question)];
    BRUME_TRY(brume_spend_limit(watch, question->policies[payer_of(question)]->timeout, payer->name,
                                error));
    if (release->view)
        BRUME_TRY(check_view(release, question, error));
    BRUME_TRY(check_adjacency(release, question, error));
    BRUME_TRY(find_windows(release, question, error)); /* before a row is read or counted */
    for (size_t i = 0; i < question->table_count; i++)
        if (question->policies[i]->rows_stay)
            return brume_fail(error, BRUME_EPOLICY,
                              "ask in SQL: counts, sums and means are answered",
                              "the rows of '%s' stay on their server, and this release needs them "
                              "in brume",
                              question->datasets[i]->name);
    BRUME_TRY(make_charge(release, payer, &charge, error));
    if (release->only_checks)
        return BRUME_OK;
    BRUME_TRY(brume_charge_print(&charge, price, error));
    char kind[32] = "release";
    uint64_t nonce = 0;
    if (release->fresh)
        BRUME_TRY(brume_bits_words(bits, &nonce, 1, error));
    if (release->fresh)
        snprintf(kind, sizeof kind, "once %016llx", (unsigned long long)nonce);
    brume_status status = make_key(release, question, kind, price, key, error);
    json_t *made = NULL;
    char read[BRUME_WHEN_TEXT];
    if (status == BRUME_OK)
        status = brume_ledger_recall(ledger, key, &made, read, error);
    bool cached = made != NULL;
    if (status == BRUME_OK && !cached && !release->stream)
        status = rehearse(release, question, bits, error);
    if (status == BRUME_OK && !cached)
        status = reserve_and_answer(ledger, release, question, &charge, key, bits, watch, read,
                                    &made, error);
    brume_charge left;
    json_t *windows = windows_to_json(question, &charge);
    if (status == BRUME_OK)
        status = find_left(ledger, question, &left, error);
    if (status == BRUME_OK &&
        (json_object_set_new(made, "remaining", brume_left_to_json(&left)) != 0 ||
         json_object_set_new(made, "as_of", brume_as_of_json(read, payer->data_version, windows)) !=
             0 ||
         (windows && json_object_set(made, "windows", windows) != 0) ||
         json_object_set_new(made, "cached", json_boolean(cached)) != 0))
        status = brume_no_memory(error, "the rows");
    json_decref(windows);
    if (status != BRUME_OK) {
        json_decref(made);
        return status;
    }
    *answer = made;
    return BRUME_OK;
}

brume_status brume_charged_release(brume_ledger *ledger, const brume_charged *release,
                                   brume_bits *bits, const brume_watch *watch, json_t **answer,
                                   brume_error *error)
{
    brume_dataset *dataset = NULL;
    brume_policy *policy = NULL;
    brume_question *question = NULL;
    char *sql = NULL;
    brume_status status = brume_ledger_dataset(ledger, release->dataset, &dataset, error);
    if (status == BRUME_OK && !release->view)
        status = brume_policy_from_json(dataset->policy, &policy, error);
    if (status == BRUME_OK)
        status = release->view ? brume_rows_question_of(release->view, release->columns,
                                                        release->column_count, &sql, error)
                               : brume_rows_question(policy, dataset->name, &sql, error);
    if (status == BRUME_OK)
        status = brume_question_open(ledger, sql, &question, error);
    if (status == BRUME_OK)
        status = release_from(ledger, release, question, bits, watch, answer, error);
    brume_question_close(question);
    free(sql);
    brume_policy_close(policy);
    brume_dataset_close(dataset);
    return status;
}
