/* brume audit --query: the whole path of a SQL query on two neighbouring tables.
 *
 * Promises: the ledger is only read, and no source of a dataset; an interruption leaves no files.
 * The claim is the charge that the ledger would take. */
#include "command/audit/audit.h"

#include <brume/mechanism/mechanism.h>

#include "audit/query/neighbours.h"
#include "audit/query/query_subject.h"
#include "base/error.h"
#include "command/query/ask.h"
#include "command/ledger/open_ledger.h"
#include "number/decimal.h"
#include "query/plan/make_plan.h"
#include "query/plan/window_price.h"

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

/* What the charge promises, of a whole history or of one window: epsilon, rounded up, at delta. */
static brume_status read_claim(const brume_plan *plan, const brume_touched *touched,
                               brume_audited *a, brume_error *error)
{
    brume_charge charge = plan->charge;
    brume_window_price window;
    if (touched) {
        BRUME_TRY(brume_window_price_of(plan, touched, &window, error));
        charge = window.charge;
    }
    a->delta = brume_decimal_shown_up(&charge.delta);
    if (plan->rule != BRUME_RULE_CONCENTRATED) {
        a->claimed = brume_decimal_shown_up(&charge.amount);
        return BRUME_OK;
    }
    brume_event event = {.mechanism = brume_card_by_name("zcdp")->id,
                         .adjacency = plan->adjacency,
                         .sensitivity = 1,
                         .parameter = {brume_decimal_upper(&charge.amount)},
                         .count = 1};
    BRUME_TRY(brume_audit_claim(&event, CONCENTRATED_DELTA, &a->claimed, error));
    a->delta += CONCENTRATED_DELTA; /* the failure's and the conversion's add */
    return BRUME_OK;
}

/* ---- keeping the evidence ---- */

static brume_status make_folder(const brume_question *question, const char *folder,
                                brume_error *error)
{
    if (folder && question->policies[0]->table)
        return brume_fail(error, BRUME_EUNSUPPORTED, "leave it out",
                          "'--save' is for datasets of files: a server gets its tables in the SQL");
    return brume_audit_make_folder(folder, error);
}

static brume_status save(brume_call *call, const brume_query_subject *subject, const char *folder,
                         const char *sql, const brume_audited *a, brume_error *error)
{
    if (!folder)
        return BRUME_OK;
    brume_status status = brume_query_subject_save(subject, folder, error);
    if (status == BRUME_OK)
        status = brume_audit_save_text(folder, "query.sql", sql, error);
    if (status == BRUME_OK)
        status =
            brume_audit_save_event(folder, a, "score", brume_query_subject_score(subject), error);
    if (status == BRUME_OK && !call->json)
        fprintf(
            call->out,
            "saved in %s: 1-*.csv and 2-*.csv, query.sql, event.json\n"
            "rerun: register the tables of each neighbour in a ledger of its own, with the same\n"
            "  policy, and ask query.sql at the same price\n",
            folder);
    return status;
}

/* ---- lanes: the question and its plan, once for each thread ---- */

typedef struct lane {
    brume_question *question;
    brume_plan *plan;
    brume_terms *terms;
    char whole[BRUME_DECIMAL_TEXT]; /* the price, where none is typed */
} lane;

static void close_lanes(lane *lanes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        brume_terms_close(lanes[i].terms);
        brume_query_plan_close(lanes[i].plan);
        brume_question_close(lanes[i].question);
    }
}

/* `window`: neighbours differ in one window, and the question reads what it touches alone. */
static brume_status open_lane(brume_ledger *ledger, const char *sql, brume_payment payment,
                              bool window, lane *out, brume_error *error)
{
    BRUME_TRY(brume_question_open(ledger, sql, &out->question, error));
    if (!payment.epsilon && !payment.rho)
        BRUME_TRY(pay_all(out->question, out->whole, &payment, error));
    const brume_window_wish wish = {payment.windows, brume_touched_now()};
    if (window)
        BRUME_TRY(brume_touched_find(out->question->query, out->question->tables, &wish,
                                     &out->question->touched, error));
    if (window && out->question->touched->count == 0)
        return brume_fail(error, BRUME_EARGUMENT, "leave it out",
                          "'--neighbour window': no table of the query has windows");
    BRUME_TRY(brume_query_plan_make(out->question->query, out->question->tables, &payment,
                                    &out->plan, error));
    return brume_terms_make(out->plan, NULL, 0, &out->terms, error);
}

static brume_status audit_subject(brume_call *call, const brume_query_subject *subject,
                                  const char *sql, brume_audited *a, brume_bits *bits,
                                  brume_error *error)
{
    a->neighbours = brume_query_subject_neighbours(subject);
    if (brume_call_has(call, "time"))
        return brume_audited_time(call, a, brume_query_subject_draw, subject, bits, error);
    BRUME_TRY(brume_audited_draw(call, a, brume_query_subject_draw, subject, bits, error));
    BRUME_TRY(brume_audited_write(call, a, error));
    return save(call, subject, brume_call_text(call, "save"), sql, a, error);
}

static brume_status audit(brume_call *call, const lane *lanes, size_t count, const char *sql,
                          brume_audited *a, brume_error *error)
{
    brume_bits *bits = NULL;
    brume_query_subject *subject = NULL;
    brume_query_lane same[BRUME_NEIGHBOUR_LANES];
    for (size_t i = 0; i < count; i++)
        same[i] = (brume_query_lane){lanes[i].question, lanes[i].terms};
    a->samples = brume_call_count(call, "samples", BRUME_QUERY_SUBJECT_SAMPLES);
    a->threads = count;
    a->step = 1;
    a->ordered = true;
    a->outcome = brume_query_subject_outcome();
    brume_audit_options options = brume_audited_options(a);
    BRUME_TRY(brume_bits_open(&bits, error));
    brume_status status =
        brume_query_subject_open(same, count, sql, &options, bits, a->watch, &subject, error);
    if (status == BRUME_OK)
        status = audit_subject(call, subject, sql, a, bits, error);
    brume_query_subject_close(subject);
    brume_bits_close(bits);
    return status;
}

brume_status brume_audit_query(brume_call *call, brume_audited *a, brume_error *error)
{
    const char *sql = brume_call_text(call, "query");
    brume_ledger *ledger = NULL;
    lane lanes[BRUME_NEIGHBOUR_LANES] = {{NULL, NULL, NULL, ""}};
    size_t count = brume_audit_processors();
    count = count < 1 ? 1 : count < BRUME_NEIGHBOUR_LANES ? count : BRUME_NEIGHBOUR_LANES;
    brume_status status = brume_call_open_ledger(call, BRUME_LEDGER_READ, &ledger, error);
    for (size_t i = 0; status == BRUME_OK && i < count; i++)
        status = open_lane(ledger, sql, brume_call_payment(call), brume_call_has(call, "neighbour"),
                           &lanes[i], error);
    if (status == BRUME_OK)
        status = read_claim(lanes[0].plan, lanes[0].question->touched, a, error);
    if (status == BRUME_OK)
        status = make_folder(lanes[0].question, brume_call_text(call, "save"), error);
    if (status == BRUME_OK)
        status = audit(call, lanes, count, sql, a, error);
    close_lanes(lanes, BRUME_NEIGHBOUR_LANES);
    return status;
}
