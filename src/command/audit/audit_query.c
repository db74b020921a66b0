/* brume audit --query: the whole path of a SQL query on two neighbouring tables.
 *
 * Promises: the ledger is only read, and no source of a dataset; an interruption leaves no files.
 * The claim is the charge that the ledger would take. */
#include "command/audit/audit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <brume/mechanism/mechanism.h>

#include "audit/query_subject.h"
#include "base/error.h"
#include "command/query/ask.h"
#include "command/frame/watch.h"
#include "command/ledger/open_ledger.h"
#include "query/plan/make_plan.h"

/* Under the rule concentrated: the delta at which the claim is read. */
static const double CONCENTRATED_DELTA = 0.01;

/* Where no price is typed: the whole budget, of the dataset that has least. It is not spent. */
static brume_status pay_all(const brume_question *question, char whole[BRUME_DECIMAL_TEXT],
                            brume_payment *payment, brume_error *error)
{
    const brume_filter *least = NULL;
    for (size_t i = 0; i < question->table_count; i++) {
        const brume_filter *filter = &question->datasets[i]->filter;
        if (!question->policies[i]->is_public &&
            (!least || brume_decimal_upper(&filter->limit) < brume_decimal_upper(&least->limit)))
            least = filter;
    }
    if (!least)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "no dataset of the query is private: there is nothing to audit");
    brume_decimal_print(&least->limit, whole, BRUME_DECIMAL_TEXT);
    if (least->rule == BRUME_RULE_CONCENTRATED)
        payment->rho = whole;
    else
        payment->epsilon = whole;
    return BRUME_OK;
}

/* What the charge promises: epsilon, rounded up, at delta. */
static brume_status read_claim(brume_plan *plan, brume_audited *a, brume_error *error)
{
    a->delta = brume_decimal_upper(&plan->charge.delta);
    if (plan->rule != BRUME_RULE_CONCENTRATED) {
        a->claimed = brume_decimal_upper(&plan->charge.amount);
        return BRUME_OK;
    }
    brume_event event = {.mechanism = brume_card_by_name("zcdp")->id,
                         .adjacency = plan->adjacency,
                         .sensitivity = 1,
                         .parameter = {brume_decimal_upper(&plan->charge.amount)},
                         .count = 1};
    BRUME_TRY(brume_audit_claim(&event, CONCENTRATED_DELTA, &a->claimed, error));
    a->delta += CONCENTRATED_DELTA; /* the failure's and the conversion's add */
    return BRUME_OK;
}

/* ---- keeping the evidence ---- */

/* The folder, before anything is drawn. */
static brume_status make_folder(const brume_question *question, const char *folder,
                                brume_error *error)
{
    if (!folder)
        return BRUME_OK;
    if (question->policies[0]->table)
        return brume_fail(error, BRUME_EUNSUPPORTED, "leave it out",
                          "'--save' is for datasets of files: a server gets its tables in the SQL");
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return brume_fail(error, BRUME_EDISK, strerror(errno), "cannot make the folder '%s'",
                          folder);
    return BRUME_OK;
}

/* A new file in the folder. */
static brume_status save_text(const char *folder, const char *name, const char *text,
                              brume_error *error)
{
    char *path = NULL;
    if (!text || asprintf(&path, "%s/%s", folder, name) < 0)
        return brume_no_memory(error, "an audit");
    FILE *out = fopen(path, "wx");
    bool good = out && fprintf(out, "%s\n", text) > 0;
    good = (!out || fclose(out) == 0) && good;
    brume_status status =
        good ? BRUME_OK
             : brume_fail(error, BRUME_EDISK, "is it there already?", "cannot write '%s'", path);
    free(path);
    return status;
}

static brume_status save(brume_call *call, const brume_query_subject *subject, const char *folder,
                         const char *sql, const brume_audited *a, brume_error *error)
{
    if (!folder)
        return BRUME_OK;
    json_t *event = json_pack("{s:f, s:f, s:o, s:o}", "epsilon_claimed", a->claimed, "delta",
                              a->delta, "witness", brume_audited_witness(a), "score",
                              brume_query_subject_score(subject));
    char *text = event ? json_dumps(event, JSON_INDENT(2)) : NULL;
    brume_status status = brume_query_subject_save(subject, folder, error);
    if (status == BRUME_OK)
        status = save_text(folder, "query.sql", sql, error);
    if (status == BRUME_OK)
        status = save_text(folder, "event.json", text, error);
    free(text);
    json_decref(event);
    if (status == BRUME_OK && !call->json)
        fprintf(
            call->out,
            "saved in %s: 1-*.csv and 2-*.csv, query.sql, event.json\n"
            "rerun: register the tables of each neighbour in a ledger of its own, with the same\n"
            "  policy, and ask query.sql at the same price\n",
            folder);
    return status;
}

static brume_status audit(brume_call *call, const brume_question *question, brume_plan *plan,
                          const char *sql, brume_audited *a, brume_error *error)
{
    brume_bits *bits = NULL;
    brume_query_subject *subject = NULL;
    const brume_watch *watch = NULL;
    a->samples = brume_call_count(call, "samples", BRUME_QUERY_SUBJECT_SAMPLES);
    a->step = 1;
    a->outcome = brume_query_subject_outcome();
    brume_audit_options options = brume_audited_options(a);
    brume_status status = brume_bits_open(&bits, error);
    if (status == BRUME_OK)
        status = brume_call_watch_noted(call, &watch, error);
    if (status == BRUME_OK)
        status =
            brume_query_subject_open(question, plan, sql, &options, bits, watch, &subject, error);
    if (status == BRUME_OK)
        status = brume_audited_draw(call, a, brume_query_subject_draw, subject, bits, error);
    if (status == BRUME_OK) {
        a->neighbours = brume_query_subject_neighbours(subject);
        status = brume_audited_write(call, a, error);
    }
    if (status == BRUME_OK)
        status = save(call, subject, brume_call_text(call, "save"), sql, a, error);
    brume_query_subject_close(subject);
    brume_bits_close(bits);
    return status;
}

brume_status brume_audit_query(brume_call *call, brume_audited *a, brume_error *error)
{
    const char *sql = brume_call_text(call, "query");
    brume_payment payment = brume_call_payment(call);
    brume_ledger *ledger = NULL;
    brume_question *question = NULL;
    brume_plan *plan = NULL;
    char whole[BRUME_DECIMAL_TEXT];
    brume_status status = brume_call_open_ledger(call, BRUME_LEDGER_READ, &ledger, error);
    if (status == BRUME_OK)
        status = brume_question_open(ledger, sql, &question, error);
    brume_ledger_close(ledger);
    if (status == BRUME_OK && !payment.epsilon && !payment.rho)
        status = pay_all(question, whole, &payment, error);
    if (status == BRUME_OK)
        status = brume_query_plan_make(question->query, question->tables, &payment, &plan, error);
    if (status == BRUME_OK)
        status = read_claim(plan, a, error);
    if (status == BRUME_OK)
        status = make_folder(question, brume_call_text(call, "save"), error);
    if (status == BRUME_OK)
        status = audit(call, question, plan, sql, a, error);
    brume_query_plan_close(plan);
    brume_question_close(question);
    return status;
}
