/* A question about one table, and the engine that has its rows. */
#include "asked.h"

#include "check.h"

#include <stdlib.h>

#include "query/collect/place.h"
#include "query/plan/make_plan.h"
#include "random/tape.h"

static brume_error error;

asked asked_open(brume_policy *policy, const char *name, const char *sql, uint64_t seed)
{
    asked all = {.bits = brume_tape_open_seeded(seed)};
    brume_source source;
    brume_column *columns = NULL;
    assert_ok(brume_policy_source(policy, &source, &columns, &error));
    assert_ok(brume_engine_open(&source, 1, &all.engine, &error));
    free(columns);
    assert_ok(brume_question_alone(policy, name, sql, &all.question, &error));
    return all;
}

void asked_plan(asked *all, brume_rule rule, const char *epsilon, const char *delta)
{
    brume_payment payment = {.epsilon = epsilon, .delta = delta};
    all->question->datasets[0]->filter.rule = rule;
    assert_ok(brume_query_plan_make(all->question->query, all->question->tables, &payment,
                                    &all->plan, &error));
    assert_ok(brume_terms_make(all->plan, NULL, 0, &all->terms, &error));
}

brume_collected *asked_collect(const asked *all, bool in_engine, size_t measurement)
{
    brume_collected *collected = NULL;
    assert_ok(brume_place(all->question, all->plan,
                          in_engine ? BRUME_WHERE_ENGINE : BRUME_WHERE_BRUME, &error));
    assert_true(all->plan->in_engine == in_engine);
    assert_ok(brume_collect(&all->plan->measurements[measurement].collection, all->engine, 1,
                            all->bits, &collected, &error));
    return collected;
}

void asked_close(asked *all)
{
    brume_terms_close(all->terms);
    brume_query_plan_close(all->plan);
    brume_question_close(all->question);
    brume_engine_close(all->engine);
    brume_bits_close(all->bits);
}
