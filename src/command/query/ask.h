/* What `query` and `explain` share: the options of a payment, and readable numbers. */
#ifndef BRUME_COMMAND_ASK_H
#define BRUME_COMMAND_ASK_H

#include "command/command.h"
#include "query/release/ask.h"

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

/* --limit. */
#define BRUME_LIMIT_OPTION                                                                         \
    {                                                                                              \
        .name = "limit", .type = BRUME_OPTION_TEXT, .argument = "[COLUMN=]T", .repeated = true,    \
        .help = "what one unit may add to a count or sum at most; chosen privately unless said"    \
    }

/* --where. */
extern const char *const brume_where_words[];
#define BRUME_WHERE_OPTION                                                                         \
    {                                                                                              \
        .name = "where", .type = BRUME_OPTION_CHOICE, .argument = "engine|brume|auto",             \
        .choices = brume_where_words,                                                              \
        .help = "where rows are bounded: by the server that has them, or streamed to "             \
                "brume; auto (unless said) streams, unless the owner says that rows stay, or "     \
                "declares more of them than fit into memory"                                       \
    }

/* --format of an answer. */
extern const char *const brume_answer_formats[];
#define BRUME_FORMAT_OPTION                                                                        \
    {                                                                                              \
        .name = "format", .type = BRUME_OPTION_CHOICE, .argument = "FORMAT",                       \
        .choices = brume_answer_formats,                                                           \
        .help = "table (unless said), markdown, csv, json or html"                                 \
    }

/* --within, --within-rank, --confidence, --joint, --at-least. */
#define BRUME_TARGET_OPTIONS                                                                       \
    {.name = "within",                                                                             \
     .type = BRUME_OPTION_REAL,                                                                    \
     .argument = "A",                                                                              \
     .least = 0,                                                                                   \
     .least_open = true,                                                                           \
     .most = 1e300,                                                                                \
     .help = "choose the least epsilon for which each value is within A"},                         \
        {.name = "within-rank",                                                                    \
         .type = BRUME_OPTION_REAL,                                                                \
         .argument = "T",                                                                          \
         .least = 0,                                                                               \
         .least_open = true,                                                                       \
         .most = 1e300,                                                                            \
         .help = "the same for quantiles: within T rows in rank"},                                 \
        {.name = "confidence",                                                                     \
         .type = BRUME_OPTION_REAL,                                                                \
         .argument = "C",                                                                          \
         .least = 0,                                                                               \
         .least_open = true,                                                                       \
         .most = 1,                                                                                \
         .most_open = true,                                                                        \
         .help = "with at least this probability; 0.95 unless said"},                              \
        {.name = "joint", .type = BRUME_OPTION_FLAG, .help = "for all values at once"},            \
    {                                                                                              \
        .name = "at-least", .type = BRUME_OPTION_COUNT, .argument = "N", .least = 1, .most = 1e15, \
        .help = "means and variances: for groups with at least N values"                           \
    }

brume_payment brume_call_payment(const brume_call *call);

/* What the options above ask for; false if none of them was given. */
bool brume_call_target(const brume_call *call, brume_target *target);

/* A price or a target, not both; that a query needs one is found when it is read. */
BRUME_MUST_USE brume_status brume_call_check_price(const brume_call *call, brume_error *error);

/* A number with about four significant digits, for prices and error bars: never below it. */
brume_number_text brume_rounded_up(double value);

/* What `query` does, for a call of one statement, with its answer instead of the text of it. */
BRUME_MUST_USE brume_status brume_query_call_answer(brume_call *call,
                                                    struct brume_query_answer **answer,
                                                    brume_error *error);

#endif
