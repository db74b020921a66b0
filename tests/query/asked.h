/* A question about one table that is in no ledger, and the engine that has its rows: what tests of
 * collecting share. */
#ifndef BRUME_TESTS_QUERY_ASKED_H
#define BRUME_TESTS_QUERY_ASKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/collect/collect.h"
#include "query/plan/question.h"
#include "query/plan/plan_terms.h"

typedef struct asked {
    brume_engine *engine;
    brume_question *question;
    brume_plan *plan; /* NULL until asked_plan */
    brume_terms *terms;
    brume_bits *bits;
} asked;

/* Ask about the table of the policy, which is taken over, under this name. */
asked asked_open(brume_policy *policy, const char *name, const char *sql, uint64_t seed);

/* Plan it, as under this rule. */
void asked_plan(asked *all, brume_rule rule, const char *epsilon, const char *delta);

/* Collect for a measurement of the plan, in the engine or here. */
brume_collected *asked_collect(const asked *all, bool in_engine, size_t measurement);

void asked_close(asked *all);

#endif
