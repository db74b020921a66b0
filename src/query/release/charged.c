/* A charged release that is not SQL: the release path for one statistic of a registered dataset. */
#include "query/release/charged.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ledger/digest.h"
#include "ledger/user.h"
#include "query/collect/unit_rows.h"
#include "query/plan/question.h"
#include "query/release/answer.h"
#include "query/plan/window_price.h"
#include "query/release/prepare.h"

static brume_status check_adjacency(const brume_charged *release, const brume_question *question,
                                    brume_error *error)
{
    const brume_dataset *dataset = question->datasets[0];
    const brume_policy *policy = question->policies[0];
    brume_adjacency wanted = release->adjacency == BRUME_EDGE ? BRUME_ADD_REMOVE
                                                              : release->adjacency;
    if (policy->is_public)
        return brume_fail(error, BRUME_EPOLICY, NULL, "'%s' is public and has no budget",
                          dataset->name);
    if (wanted != dataset->adjacency)
        return brume_fail(error, BRUME_EPOLICY, "the owner decided on it at registration",
                          "'%s' is registered under another adjacency", dataset->name);
    if (policy->unit && release->adjacency != BRUME_ADD_REMOVE)
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

static brume_status open_source(const brume_policy *policy, const char *password,
                                brume_engine **engine, brume_error *error)
{
    brume_source source;
    brume_column *columns = NULL;
    BRUME_TRY(brume_policy_source(policy, &source, &columns, error));
    source.password = password;
    brume_status status = brume_engine_open(&source, 1, engine, error);
    free(columns);
    return status;
}

/* Draw once from no rows at all and forget the answer: what is wrong with the words typed shows
 * before anything is charged. No data is read. */
static brume_status rehearse(const brume_charged *release, const brume_question *question,
                             brume_bits *bits, brume_error *error)
{
    brume_rows_file empty;
    json_t *nothing = NULL;
    BRUME_TRY(brume_rows_none(question, &empty, error));
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
    BRUME_TRY(brume_rows_read(work->question, engine, work->bits, &rows, error));
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
    brume_marks marks = {0};
    BRUME_TRY(open_source(question->policies[0], question->datasets[0]->password, &engine, error));
    brume_status status = brume_engine_marks(engine, 0, false, &marks, error);
    /* what was typed is in the charge's text, which can be redacted; events cannot */
    json_t *events = release->events ? json_deep_copy(release->events)
                                     : json_pack("[{s:s}]", "release", "statistic");
    brume_ledger_charge charges = {.dataset = question->datasets[0]->name,
                                   .price = charge,
                                   .stated = question->datasets[0]->stated,
                                   .marks = (const char *const *)marks.texts,
                                   .mark_count = marks.count,
                                   .read_mark_count = marks.read_count};
    if (question->touched) {
        charges.windows = &question->touched->datasets[0].set;
        charges.window_price = charge;
    }
    brume_reservation reservation = {.charges = &charges,
                                     .charge_count = 1,
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
    brume_marks_clear(&marks);
    json_decref(events);
    return status;
}

/* The windows that are read, and no others. Of one window a unit comes or goes with its rows there,
 * and so does its one row that counts: the price is that of the mechanism. Of several its row would
 * become another one. Under replace a row may go to another window, so that the number of rows is
 * not public as the mechanisms have it. */
static brume_status find_windows(const brume_charged *release, brume_question *question,
                                 brume_error *error)
{
    const brume_dataset *dataset = question->datasets[0];
    const brume_window_wish wish = {release->windows, brume_touched_now()};
    if (!dataset->has_windows)
        return release->windows
                   ? brume_fail(error, BRUME_EARGUMENT, "leave it out",
                                "'--windows': the dataset '%s' has no windows", dataset->name)
                   : BRUME_OK;
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
    return question->touched
               ? brume_window_price_to_json(question->touched, &price, charge->rule,
                                            question->touched->now)
               : NULL;
}

/* What may be spent now: the least of the dataset and of the windows that were read. */
static brume_status find_left(brume_ledger *ledger, const brume_question *question,
                              brume_charge *left, brume_error *error)
{
    brume_dataset *now = NULL;
    BRUME_TRY(brume_ledger_dataset(ledger, question->datasets[0]->name, &now, error));
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

static brume_status release_from(brume_ledger *ledger, const brume_charged *release,
                                 brume_question *question, brume_bits *bits,
                                 const brume_watch *watch, json_t **answer, brume_error *error)
{
    brume_charge charge;
    char price[BRUME_CHARGE_TEXT], key[BRUME_DIGEST_TEXT];
    BRUME_TRY(brume_spend_limit(watch, question->policies[0]->timeout, question->datasets[0]->name,
                                error));
    BRUME_TRY(check_adjacency(release, question, error));
    BRUME_TRY(find_windows(release, question, error)); /* before a row is read or counted */
    if (question->policies[0]->rows_stay)
        return brume_fail(error, BRUME_EPOLICY, "ask in SQL: counts, sums and means are answered",
                          "the rows of '%s' stay on their server, and this release needs them in "
                          "brume",
                          question->datasets[0]->name);
    BRUME_TRY(make_charge(release, question->datasets[0], &charge, error));
    BRUME_TRY(brume_charge_print(&charge, price, error));
    char *policy = json_dumps(question->datasets[0]->policy, JSON_COMPACT | JSON_SORT_KEYS);
    if (!policy)
        return brume_no_memory(error, "the rows");
    char kind[32] = "release";
    uint64_t nonce = 0;
    brume_status status = release->fresh ? brume_bits_words(bits, &nonce, 1, error) : BRUME_OK;
    if (release->fresh)
        snprintf(kind, sizeof kind, "once %016llx", (unsigned long long)nonce);
    const char *parts[] = {kind,
                           release->what,
                           price,
                           release->delta ? release->delta : "",
                           question->datasets[0]->name,
                           question->datasets[0]->data_version,
                           question->datasets[0]->source,
                           policy,
                           release->windows ? release->windows : ""};
    /* a key of a dataset without windows is as it always was */
    size_t part_count = sizeof parts / sizeof *parts - !question->datasets[0]->has_windows;
    if (status == BRUME_OK)
        status = brume_digest(parts, part_count, key, error);
    free(policy);
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
         json_object_set_new(made, "as_of",
                             brume_as_of_json(read, question->datasets[0]->data_version,
                                              windows)) != 0 ||
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
    if (status == BRUME_OK)
        status = brume_policy_from_json(dataset->policy, &policy, error);
    if (status == BRUME_OK)
        status = brume_rows_question(policy, dataset->name, &sql, error);
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
