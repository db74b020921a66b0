/* What `query` and `explain` share: the options of a payment, and readable numbers. */
#ifndef BRUME_COMMAND_ASK_H
#define BRUME_COMMAND_ASK_H

#include "command/command.h"
#include "query/release/ask.h"

/* --epsilon, --delta, --rho. */
#define BRUME_PAYMENT_OPTIONS                                                                      \
    BRUME_OPTION(TEXT, "epsilon", "E", "the price of the whole query; there is no default"),       \
        BRUME_OPTION(TEXT, "delta", "D",                                                           \
                     "its part of the budget's delta, where one is needed or useful"),             \
        BRUME_OPTION(TEXT, "rho", "R", "the price under the rule concentrated")

/* --fresh, --max-age. */
#define BRUME_AGE_OPTIONS                                                                          \
    {.name = "fresh",                                                                              \
     .type = BRUME_OPTION_FLAG,                                                                    \
     .help = "pay and ask again where the answer is recorded; it is read for nothing from then "   \
             "on"},                                                                                \
    {                                                                                              \
        .name = "max-age", .type = BRUME_OPTION_TEXT, .argument = "AGE",                           \
        .help = "the same where the recorded answer is older: 90m, 12h, 7d"                        \
    }

/* --windows. */
#define BRUME_WINDOWS_OPTION                                                                       \
    BRUME_OPTION(TEXT, "windows", "FIRST..LAST",                                                   \
                 "of a table that grows, read these windows alone and pay for no others: a range " \
                 "of days (weeks, months ...), one of them, or undated")

/* The seconds of "90m", "12h" or "7d"; negative: it is none. */
double brume_age_seconds(const char *age);

/* --limit. */
#define BRUME_LIMIT_OPTION                                                                         \
    BRUME_OPTION(TEXT, "limit", "[COLUMN=]T",                                                      \
                 "what one unit may add to a count or sum at most; chosen privately unless said",  \
                 .repeated = true)

/* --where. */
extern const char *const brume_where_words[];
#define BRUME_WHERE_OPTION                                                                         \
    BRUME_OPTION(CHOICE, "where", "engine|brume|auto",                                             \
                 "where rows are bounded: by the server that has them, or streamed to "            \
                 "brume; auto (unless said) streams, unless the owner says that rows stay, or "    \
                 "declares more of them than fit into memory",                                     \
                 .choices = brume_where_words)

/* --format of an answer. */
extern const char *const brume_answer_formats[];
#define BRUME_FORMAT_OPTION                                                                        \
    BRUME_OPTION(CHOICE, "format", "FORMAT", "table (unless said), markdown, csv, json or html",   \
                 .choices = brume_answer_formats)

/* --within, --within-rank, --confidence, --joint, --at-least. */
#define BRUME_TARGET_OPTIONS                                                                       \
    BRUME_OPTION(REAL, "within", "A", "choose the least epsilon for which each value is within A", \
                 BRUME_ABOVE_TO(0, 1e300)),                                                        \
        BRUME_OPTION(REAL, "within-rank", "T", "the same for quantiles: within T rows in rank",    \
                     BRUME_ABOVE_TO(0, 1e300)),                                                    \
        BRUME_OPTION(REAL, "confidence", "C", "with at least this probability; 0.95 unless said",  \
                     BRUME_BETWEEN(0, 1)),                                                         \
        BRUME_FLAG("joint", "for all values at once"),                                             \
        BRUME_OPTION(COUNT, "at-least", "N",                                                       \
                     "means and variances: for groups with at least N values",                     \
                     BRUME_FROM_TO(1, 1e15))

brume_payment brume_call_payment(const brume_call *call);

/* What the options above ask for; false if none of them was given. */
bool brume_call_target(const brume_call *call, brume_target *target);

/* A price or a target, not both; that a query needs one is found when it is read. */
BRUME_MUST_USE brume_status brume_call_check_price(const brume_call *call, brume_error *error);

/* A number with about four significant digits, for prices and error bars: never below it. */
brume_number_text brume_rounded_up(double value);

/* "touches 31 days, 2026-01-01..2026-01-31: each pays epsilon 0.8; ...", with what is said of them
 * (window_price.h); nothing where `windows` is NULL. */
void brume_write_windows(FILE *out, const json_t *windows, const json_t *cost);

/* The statements of a call: the argument SQL, where it is not -; --file FILE; or standard input.
 * EARGUMENT: none of them, or two; ESOURCE: the file cannot be read; ESYNTAX: there is no statement
 * in it. Free them with brume_sql_split_free, also after an error. */
typedef struct brume_script {
    char **statements;
    size_t count;
} brume_script;
BRUME_MUST_USE brume_status brume_script_open(const brume_call *call, brume_script *out,
                                              brume_error *error);

/* The same error, which also says of which statement (from 0) it is, where there are several, and
 * how many before it were answered. */
BRUME_MUST_USE brume_status brume_script_failed(const brume_script *script, size_t statement,
                                                size_t answered, brume_status status,
                                                brume_error *error);

/* What `query` does, for a call of one statement, with its answer instead of the text of it. */
BRUME_MUST_USE brume_status brume_query_call_answer(brume_call *call,
                                                    struct brume_query_answer **answer,
                                                    brume_error *error);

#endif
