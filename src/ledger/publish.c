/* What leaves the ledger in a bundle: recorded answers word by word, and a row that says so. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ledger/journal.h"
#include "ledger/review.h"
#include "ledger/user_row.h"

brume_status brume_ledger_recorded(brume_ledger *ledger, uint64_t id, json_t **out,
                                   brume_error *error)
{
    brume_statement *statement = NULL;
    bool found = false;
    BRUME_TRY(brume_store_prepare(
        ledger, &statement, error,
        "SELECT answer.committed, answer.body, answer.salt, wording.body, wording.salt, "
        "CASE WHEN reservation.answer_key LIKE 'redacted.%' THEN 1 ELSE 0 END "
        "FROM reservation LEFT JOIN answer USING(answer_key) "
        "LEFT JOIN wording ON wording.reservation = reservation.id "
        "WHERE reservation.id = ?1 AND reservation.state = 'committed'",
        "i", (int64_t)id));
    brume_status status = brume_store_step(ledger, statement, &found, error);
    if (status == BRUME_OK && found && brume_store_int(statement, 5))
        status =
            brume_fail(error, BRUME_EPOLICY, "publish it without that one",
                       "charge %llu was redacted: what was asked and answered is not published",
                       (unsigned long long)id);
    if (status == BRUME_OK && (!found || brume_store_null(statement, 0)))
        status = brume_fail(error, BRUME_EUNKNOWN, "'brume history' lists what was answered",
                            "charge %llu has no recorded answer", (unsigned long long)id);
    if (status == BRUME_OK)
        status = brume_review_check(ledger, id, error);
    if (status == BRUME_OK) {
        bool worded = !brume_store_null(statement, 3);
        *out = json_pack("{s:I,s:s,s:s,s:o}", "row", (json_int_t)brume_store_int(statement, 0),
                         "text", brume_store_text(statement, 1), "salt",
                         brume_store_text(statement, 2), "wording",
                         worded ? json_pack("{s:s,s:s}", "text", brume_store_text(statement, 3),
                                            "salt", brume_store_text(statement, 4))
                                : json_null());
        if (!*out)
            status = brume_no_memory(error, "an answer");
    }
    brume_store_finish(statement);
    return status;
}

/* The row; the filter's state is what the dataset has spent at this moment, answers of others
 * included. */
static brume_status append(brume_ledger *ledger, const brume_publication *what, uint64_t *row,
                           brume_error *error)
{
    brume_dataset *dataset = NULL;
    char filter[BRUME_FILTER_TEXT];
    BRUME_TRY(brume_journal_check_head(ledger, error));
    BRUME_TRY(brume_user_check_owner(ledger, error));
    BRUME_TRY(brume_ledger_dataset(ledger, what->dataset, &dataset, error));
    brume_status status = brume_filter_print(&dataset->filter, filter, error);
    brume_dataset_close(dataset);
    if (status != BRUME_OK)
        return status;
    BRUME_TRY(brume_journal_next(ledger, row, error));
    json_t *answers = json_array();
    for (size_t i = 0; i < what->count; i++)
        json_array_append_new(answers, json_integer((json_int_t)what->answers[i]));
    return brume_journal_append(ledger, "publish",
                                json_pack("{s:s,s:o,s:s,s:s}", "dataset", what->dataset, "answers",
                                          answers, "filter", filter, "tables", what->tables),
                                error);
}

static int by_number(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The rows of the answers, charge and record, and the row that says that they were published. */
static brume_status prove(brume_ledger *ledger, const brume_publication *what, uint64_t row,
                          json_t **proof, brume_error *error)
{
    size_t count = 0, kept = 1;
    uint64_t *rows = malloc((2 * what->count + 1) * sizeof *rows);
    brume_status status = rows ? BRUME_OK : brume_no_memory(error, "a proof");
    for (size_t i = 0; status == BRUME_OK && i < what->count; i++) {
        json_t *recorded = NULL;
        rows[count++] = what->answers[i];
        status = brume_ledger_recorded(ledger, what->answers[i], &recorded, error);
        rows[count++] = (uint64_t)json_integer_value(json_object_get(recorded, "row"));
        json_decref(recorded);
    }
    if (status == BRUME_OK) {
        rows[count++] = row;
        qsort(rows, count, sizeof *rows, by_number);
        for (size_t i = 1; i < count; i++)
            if (rows[i] != rows[i - 1])
                rows[kept++] = rows[i];
        status = brume_ledger_prove(ledger, rows, kept, proof, error);
    }
    free(rows);
    return status;
}

brume_status brume_ledger_publish(brume_ledger *ledger, const brume_publication *what,
                                  json_t **proof, brume_error *error)
{
    uint64_t row = 0;
    json_t *made = NULL;
    BRUME_TRY(brume_store_begin(ledger, error));
    brume_status status = append(ledger, what, &row, error);
    if (status == BRUME_OK)
        status = prove(ledger, what, row, &made, error);
    if (status == BRUME_OK)
        status = brume_store_commit(ledger, error);
    else
        brume_store_undo(ledger);
    if (status == BRUME_OK)
        *proof = made;
    else
        json_decref(made);
    return status;
}
