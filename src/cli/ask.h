/* What `query` and `explain` share: the options of a payment, and readable numbers. */
#ifndef BRUME_CLI_ASK_H
#define BRUME_CLI_ASK_H

#include "cli/command.h"
#include "query/answer.h"

/* --epsilon, --delta, --rho. */
#define BRUME_PAYMENT_OPTIONS                                                                      \
    {.name = "epsilon",                                                                            \
     .type = BRUME_OPTION_TEXT,                                                                    \
     .argument = "E",                                                                              \
     .help = "the price of the whole query; there is no default"},                                 \
        {.name = "delta",                                                                          \
         .type = BRUME_OPTION_TEXT,                                                                \
         .argument = "D",                                                                          \
         .help = "its part of the budget's delta, where one is needed or useful"},                 \
    {                                                                                              \
        .name = "rho", .type = BRUME_OPTION_TEXT, .argument = "R",                                 \
        .help = "the price under the rule concentrated"                                            \
    }

brume_payment brume_call_payment(const brume_call *call);

/* A number with about four significant digits, for error bars. */
brume_number_text brume_rounded(double value);

/* Text of a JSON value in a table; "NULL" for null. The caller frees it. */
char *brume_json_text(const json_t *value);

#endif
