/* Reservations on sources that are known by their marks: what tests of marks share. */
#ifndef BRUME_TESTS_LEDGER_MARKED_H
#define BRUME_TESTS_LEDGER_MARKED_H

#include "fixture.h"

/* Register what is said of a source, with a budget of 1 and this policy, which is taken over. */
static inline brume_status register_source(brume_ledger *ledger, brume_registration said,
                                           json_t *policy, brume_error *error)
{
    brume_charge one = price_of("1", NULL);
    brume_filter filter;
    assert_int_equal(
        brume_filter_make(BRUME_RULE_PURE, &one.amount, &one.delta, NULL, &filter, error),
        BRUME_OK);
    said.data_version = "";
    said.adjacency = BRUME_ADD_REMOVE;
    said.filter = &filter;
    said.policy = policy;
    brume_status status = brume_ledger_register(ledger, &said, error);
    json_decref(policy);
    return status;
}

/* Reserve 0.1 on a dataset whose source has these marks now (the second may be NULL). */
static inline brume_status ask(brume_ledger *ledger, const char *name, const char *first,
                               const char *second, brume_error *error)
{
    brume_charge price = price_of("0.1", NULL);
    const char *const marks[] = {first, second};
    brume_ledger_charge charge = {
        .dataset = name, .price = &price, .marks = marks, .mark_count = second ? 2 : 1};
    brume_reservation reservation = {
        .charges = &charge, .charge_count = 1, .sql = "SELECT 1", .answer_key = "key"};
    uint64_t id = 0;
    return brume_ledger_reserve(ledger, &reservation, &id, error);
}

/* How many queries the dataset was charged for. */
static inline uint64_t queries_of(brume_ledger *ledger, const char *name)
{
    brume_error error = {0};
    brume_dataset *dataset = NULL;
    assert_ok(brume_ledger_dataset(ledger, name, &dataset, &error));
    uint64_t queries = dataset->queries;
    brume_dataset_close(dataset);
    return queries;
}

#endif
