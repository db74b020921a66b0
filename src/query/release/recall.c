/* Reading a recorded answer again, by the number of its charge. */
#include "query/release/recall.h"

#include <math.h>

#include "base/error.h"
#include "ledger/dataset.h"

/* What is left of the tightest of the datasets. */
static brume_status find_left(brume_ledger *ledger, const json_t *names,
                              brume_answer_price *remaining, brume_error *error)
{
    double least = INFINITY;
    for (size_t i = 0; i < json_array_size(names); i++) {
        brume_dataset *dataset = NULL;
        brume_charge left;
        BRUME_TRY(brume_ledger_dataset(ledger, json_string_value(json_array_get(names, i)),
                                       &dataset, error));
        brume_status status = brume_filter_left(&dataset->filter, &left, error);
        if (status == BRUME_OK && brume_decimal_lower(&left.amount) < least) {
            least = brume_decimal_lower(&left.amount);
            *remaining = (brume_answer_price){dataset->filter.rule == BRUME_RULE_CONCENTRATED,
                                              brume_decimal_nearest(&left.amount),
                                              brume_decimal_nearest(&left.delta)};
        }
        brume_dataset_close(dataset);
        if (status != BRUME_OK)
            return status;
    }
    return BRUME_OK;
}

brume_status brume_recall(brume_ledger *ledger, uint64_t charge, brume_query_answer **answer,
                          brume_error *error)
{
    json_t *record = NULL, *names = NULL;
    brume_query_answer *made = NULL;
    BRUME_TRY(brume_ledger_recall_reservation(ledger, charge, &record, &names, error));
    brume_status status = BRUME_OK;
    if (!json_object_get(record, "columns"))
        status = brume_fail(error, BRUME_EUNSUPPORTED, "run its command again: that is free",
                            "charge %llu is of no query", (unsigned long long)charge);
    if (status == BRUME_OK)
        status = brume_query_answer_recorded(record, &made, error);
    if (status == BRUME_OK)
        status = find_left(ledger, names, &made->remaining, error);
    json_decref(record);
    json_decref(names);
    if (status != BRUME_OK) {
        brume_query_answer_close(made);
        return status;
    }
    made->cached = true;
    *answer = made;
    return BRUME_OK;
}
