/* What is said of the limits of a plan: where they come from, and what choosing them costs. */
#include "base/error.h"
#include "query/plan/plan_distinct.h"
#include "query/plan/plan_limit.h"
#include "query/price/price_parts.h"

double brume_plan_groups_choice_share(const brume_plan *plan)
{
    if (brume_plan_group_choices(plan) == 0)
        return 0;
    if (plan->limits_only)
        return brume_plan_joint_share(plan);
    int p = plan->price.noise == BRUME_NOISE_DISCRETE_LAPLACE ? 1 : 2;
    return brume_plan_joint_share(plan) * brume_limited_choice_share(p, plan->amount, plan->step);
}

double brume_plan_choice_share(const brume_plan *plan)
{
    double share = brume_plan_groups_choice_share(plan);
    for (size_t i = 0; i < plan->measurement_count; i++)
        if (brume_distinct_chooses(&plan->measurements[i]))
            share += brume_distinct_choice_share(plan, &plan->measurements[i]);
    return share;
}

const char *brume_limit_source_word(brume_limit_source source)
{
    static const char *const words[] = {[BRUME_LIMIT_AUTO] = "auto",
                                        [BRUME_LIMIT_TYPED] = "typed",
                                        [BRUME_LIMIT_POLICY] = "policy",
                                        [BRUME_LIMIT_LEDGER] = "ledger",
                                        [BRUME_LIMIT_NONE] = "none"};
    return words[source];
}

static bool has_source(const brume_plan *plan, brume_limit_source source)
{
    for (size_t i = 0; i < plan->limit_count; i++)
        if (plan->limits[i].source == source)
            return true;
    for (size_t i = 0; i < plan->measurement_count; i++)
        if (plan->measurements[i].kind == BRUME_MEASUREMENT_DISTINCT &&
            plan->measurements[i].distinct.limit.source == source)
            return true;
    return false;
}

const char *brume_plan_limits_word(const brume_plan *plan)
{
    static const brume_limit_source dearest_first[] = {BRUME_LIMIT_AUTO, BRUME_LIMIT_LEDGER,
                                                       BRUME_LIMIT_TYPED, BRUME_LIMIT_POLICY};
    for (size_t i = 0; i < sizeof dearest_first / sizeof *dearest_first; i++)
        if (has_source(plan, dearest_first[i]))
            return brume_limit_source_word(dearest_first[i]);
    return plan->bounded ? "policy" : "none";
}

void brume_plan_limit_add_earlier(const brume_plan_limit *limit, json_t *json)
{
    if (limit->source == BRUME_LIMIT_AUTO && limit->earlier != BRUME_EARLIER_NONE)
        json_object_set_new(
            json, "earlier",
            json_string(limit->earlier == BRUME_EARLIER_NOISY ? "noisy" : "not found"));
}
