/* Plans of queries about the clinic, as they are made from datasets and policies: nothing is
 * registered, no row is read. */
#ifndef BRUME_TESTS_PLANNED_H
#define BRUME_TESTS_PLANNED_H

#include "check.h"

#include "clinic.h"
#include "query/plan/make_plan.h"
#include "query/plan/plan_terms.h"
#include "query/sql/parse.h"

static brume_error error;

/* What a test varies of the clinic's datasets. */
typedef struct terms {
    brume_adjacency adjacency;
    uint64_t groups[2], rows[2]; /* limits of visits and of patients */
    brume_rule rule;             /* 0: approximate */
    bool bias;                   /* a fifth of every price is for estimates of bias */
} terms;

static bool ages_are_declared;            /* those of visits: 40 and 41 */
static const char *budget_of_patients[2]; /* epsilon and delta; NULL: 100 and 0.1 as of all */

typedef struct planned {
    brume_dataset datasets[4];
    brume_policy policies[4];
    brume_policy_column columns[4][7];
    brume_plan_table tables[4];
    brume_query *query;
    brume_plan *plan;
    brume_terms *priced;
} planned;

static void fill_table(planned *all, size_t t, const terms *of)
{
    static char names[4][16] = {"visits", "patients", "clinics", "people"};
    static char female[] = "f", male[] = "m", *sexes[] = {female, male};
    static char fifth[] = "0.2", forty[] = "40", more[] = "41", *ages[] = {forty, more};
    size_t limits = t == 1;
    brume_decimal epsilon, delta;
    bool other = t == 1 && budget_of_patients[0];
    assert_ok(brume_decimal_parse(other ? budget_of_patients[0] : "100", &epsilon, &error));
    assert_ok(brume_decimal_parse(other ? budget_of_patients[1] : "0.1", &delta, &error));
    all->datasets[t] = (brume_dataset){.name = names[t], .adjacency = of->adjacency};
    assert_ok(brume_filter_make(of->rule ? of->rule : BRUME_RULE_APPROXIMATE, &epsilon,
                                of->rule == BRUME_RULE_PURE ? NULL : &delta, NULL,
                                &all->datasets[t].filter, &error));
    for (size_t i = 0; i < clinic_tables[t].column_count; i++)
        all->columns[t][i].type = clinic_tables[t].columns[i].type;
    if (t == 1) { /* sex is declared */
        all->columns[t][1].domain = sexes;
        all->columns[t][1].domain_count = 2;
    }
    if (t == 0 && ages_are_declared) {
        all->columns[t][1].domain = ages;
        all->columns[t][1].domain_count = 2;
    }
    all->policies[t] = (brume_policy){.max_groups = of->groups[limits],
                                      .max_rows = of->rows[limits],
                                      .bias_share = of->bias ? fifth : NULL,
                                      .columns = all->columns[t],
                                      .column_count = clinic_tables[t].column_count};
    all->tables[t] = (brume_plan_table){&all->datasets[t], &all->policies[t]};
}

static brume_status try(planned *all, const char *sql, const terms *of, const char *epsilon,
                        const char *delta)
{
    brume_payment payment = {.epsilon = epsilon, .delta = delta};
    memset(all, 0, sizeof *all);
    for (size_t t = 0; t < 4; t++)
        fill_table(all, t, of);
    assert_ok(brume_query_parse(sql, &clinic_catalog, &all->query, &error));
    return brume_query_plan_make(all->query, all->tables, &payment, &all->plan, &error);
}

static void make(planned *all, const char *sql, const terms *of, const char *epsilon,
                 const char *delta)
{
    assert_ok(try(all, sql, of, epsilon, delta));
    assert_ok(brume_terms_make(all->plan, NULL, 0, &all->priced, &error));
}

static void clear(planned *all)
{
    brume_terms_close(all->priced);
    brume_query_plan_close(all->plan);
    brume_query_free(all->query);
}

#endif
