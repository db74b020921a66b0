/* A budget as it is typed: "epsilon=1" or "epsilon=1,delta=1e-6". */
#ifndef BRUME_COMMAND_TYPED_BUDGET_H
#define BRUME_COMMAND_TYPED_BUDGET_H

#include <brume/account/filter.h>

typedef struct brume_typed_budget {
    char *epsilon, *delta; /* exact decimals, inside `text`; delta NULL: none */
    char *text;            /* the caller frees it */
} brume_typed_budget;

/* `option` is the one it was typed behind. BRUME_EARGUMENT: not such a text. */
BRUME_MUST_USE brume_status brume_typed_budget_read(const char *typed, const char *option,
                                                    brume_typed_budget *out, brume_error *error);

/* The budgets of a dataset: of whole histories ("none": no such budget) and of each window (NULL:
 * it has none), under one rule. What a caller frees is in typed[0].text and typed[1].text. */
typedef struct brume_typed_budgets {
    brume_typed_budget typed[2];
    brume_filter whole, window;
    bool has_windows, no_budget;
} brume_typed_budgets;

BRUME_MUST_USE brume_status brume_typed_budgets_read(const char *whole, const char *window,
                                                     const char *rule, brume_typed_budgets *out,
                                                     brume_error *error);

/* The filter of it under a rule; `word` NULL: approximate where there is a delta, else pure. */
BRUME_MUST_USE brume_status brume_typed_budget_filter(const brume_typed_budget *typed,
                                                      const char *word, brume_filter *filter,
                                                      brume_error *error);

/* The epsilon of a cap, checked: into *out, which the caller frees with free(out->text). */
BRUME_MUST_USE brume_status brume_typed_cap_read(const char *typed, brume_typed_budget *out,
                                                 brume_error *error);

#endif
