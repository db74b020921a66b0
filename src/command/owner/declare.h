/* What an owner declares of a dataset: how its lines are read, its columns and their types, its
 * unit, limits, bounds and domains. `register` and `amend` share it.
 *
 * 1. None of it comes from rows. From a CSV file only the header line is used.
 * 2. A column without a declared type is text or, where --bounds names it, a number with as many
 *    decimals as its bounds are typed with, a date or a timestamp.
 * 3. An option that does not apply to the source is an error: BRUME_EARGUMENT.
 * 4. In an amendment what is not typed stays as it was. If one option that says how lines are read
 *    is typed, it and the others typed replace all of them. --bounds and --domain replace those of
 * their column. A number keeps its type unless --columns says another, or new bounds have more
 * decimals. */
#ifndef BRUME_COMMAND_DECLARE_H
#define BRUME_COMMAND_DECLARE_H

#include "command/command.h"
#include "engine/engine.h"
#include "query/plan/policy.h"
#include "query/release/spend.h"
#include "reader/format.h"

/* Where the options stand in the tables of both commands. */
#define BRUME_SCHEMA_OPTIONS                                                                        \
    BRUME_OPTION(                                                                                   \
        TEXT, "columns", "'NAME TYPE, ...'",                                                        \
        "CSV, JSON: types of columns; boolean, integer, bigint, decimal(p,s), double, text, "       \
        "date, timestamp. Text unless said, or what its bounds are: a number with their decimals, " \
        "a date, a timestamp"),                                                                     \
        BRUME_OPTION(TEXT, "delimiter", "CHAR|tab",                                                 \
                     "CSV: what parts fields; a comma unless said, a tab in a .tsv file"),          \
        BRUME_OPTION(TEXT, "quote", "CHAR|none",                                                    \
                     "CSV: what may stand around a field; \" unless said"),                         \
        BRUME_FLAG("no-header", "CSV: the first line is a row, and --columns names the columns"),   \
        BRUME_FLAG("multiline",                                                                     \
                   "CSV: a quoted field may hold line ends; then one row may hide others")
/* "chosen" or "fixed": how limits come about. */
extern const char *const brume_limits_words[], *const brume_stay_words[];
#define BRUME_POLICY_OPTIONS                                                                       \
    BRUME_OPTION(                                                                                  \
        TEXT, "unit-name", "NOUN",                                                                 \
        "what answers call a unit: patient, or patient/patients; by its column unless said"),      \
        BRUME_OPTION(COUNT, "max-groups", "G",                                                     \
                     "ceiling: groups of a query that one unit may be in; none unless said",       \
                     BRUME_FROM_TO(1, 1 << 26)),                                                   \
        BRUME_OPTION(COUNT, "max-rows", "R",                                                       \
                     "ceiling: rows of one unit that may count in a group; none unless said",      \
                     BRUME_FROM_TO(1, 4294967295.0)),                                              \
        BRUME_OPTION(                                                                              \
            CHOICE, "limits", "HOW",                                                               \
            "chosen: each query chooses its limits privately, up to the ceilings (unless "         \
            "said); fixed: the ceilings are the limits",                                           \
            .choices = brume_limits_words),                                                        \
        BRUME_OPTION(TEXT, "bounds", "COLUMN=LO..HI",                                              \
                     "public bounds of a column; values are clamped to them", .repeated = true),   \
        BRUME_OPTION(                                                                              \
            TEXT, "domain", "COLUMN=V1,V2,...",                                                    \
            "public values of a column; others are dropped when grouping by it. Several for "      \
            "one column add up",                                                                   \
            .repeated = true),                                                                     \
        BRUME_OPTION(REAL, "timeout", "SECONDS",                                                   \
                     "the longest that one query may take; no cap unless said",                    \
                     BRUME_ABOVE_TO(0, BRUME_TIMEOUT_MOST)),                                       \
        BRUME_OPTION(                                                                              \
            TEXT, "limits-per-user", "memory=M,cells=C,ledger-bytes=B",                            \
            "what one user of a server may take: memory of an answer (1GiB unless said), its "     \
            "cells (131072), bytes of the ledger (256MiB)"),                                       \
        BRUME_OPTION(CHOICE, "rows-stay", "true|false",                                            \
                     "true: no row leaves its server; what it cannot add up by itself is "         \
                     "refused. false unless said",                                                 \
                     .choices = brume_stay_words),                                                 \
        BRUME_OPTION(CHOICE, "append-only", "true|false",                                          \
                     "true: rows are only added, until all of a unit go for good; a series may "   \
                     "then limit units over all time. false unless said",                          \
                     .choices = brume_stay_words),                                                 \
        BRUME_OPTION(REAL, "rows-about", "N",                                                      \
                     "about how many rows the table has: a public number, by which queries are "   \
                     "answered on the server where brume's memory may not be enough",              \
                     BRUME_FROM_TO(1, 1e18)),                                                      \
        BRUME_OPTION(TEXT, "window", "'COLUMN LENGTH'",                                            \
                     "a budget for each piece of a table that grows: a column of dates or "        \
                     "timestamps, and hour, day, week, month, quarter, year, or Nd from DATE; or " \
                     "a column with a domain, and values"),                                        \
        BRUME_OPTION(TEXT, "window-offset", "+HH:MM",                                              \
                     "with --window: when a day of timestamps begins, east of UTC"),               \
        BRUME_OPTION(TEXT, "close-after", "AGE",                                                   \
                     "with --window: how long after its end rows of a window may still come: 2d"), \
        BRUME_OPTION(TEXT, "max-age", "AGE",                                                       \
                     "the age from which a free re-read warns: 90m, 12h, 7d; it charges nobody"),  \
        BRUME_OPTION(                                                                              \
            TEXT, "estimate-bias", "SHARE",                                                        \
            "share of each query's price, up to 0.5, that buys counts of the units changed by "    \
            "the limits and bounds; none unless said")

/* Does an option say something about the columns, the format, bounds, domains or the unit, so that
 * the source must be looked at? */
bool brume_declares_schema(const brume_call *call);

/* The first option given that is of a protected dataset only; NULL: none. */
const char *brume_declares_protection(const brume_call *call);

/* What was found at a place. */
typedef struct brume_found_source {
    char *location, *password; /* a URL without its password; password may be NULL */
    brume_description description;
    brume_marks marks;
} brume_found_source;

/* Open the source at found->location as the options declare it, on top of `before` (NULL: nothing),
 * and describe it. With `marks` also find those, which reads files. Clear also after a failure. */
BRUME_MUST_USE brume_status brume_find_source(const brume_call *call, const char *table,
                                              const brume_policy *before, bool marks,
                                              brume_found_source *found, brume_error *error);
void brume_found_source_clear(brume_found_source *found);

/* Do the options that are typed apply to the source? *text: it is a CSV or JSON file. */
BRUME_MUST_USE brume_status brume_check_schema_options(const brume_call *call, const char *location,
                                                       bool *text, brume_error *error);

/* How the lines of a text file are read, as typed on top of `before` (NULL: nothing). */
BRUME_MUST_USE brume_status brume_declare_format(const brume_call *call, const char *location,
                                                 const brume_policy *before,
                                                 brume_text_format *format, brume_error *error);

/* The typed limits, bounds and domains, into `policy`. */
BRUME_MUST_USE brume_status brume_declare_policy(const brume_call *call, brume_policy *policy,
                                                 brume_error *error);

/* "COLUMN LENGTH" of --window, in `text`, which is changed; false if it is not that. */
bool brume_split_window(char *text, char **column, char **length);

/* The seconds of an age; EARGUMENT. */
BRUME_MUST_USE brume_status brume_declared_age(const char *typed, const char *option,
                                               double *seconds, brume_error *error);

/* "COLUMN=LO..HI" in its parts; *column is freed by the caller and holds all three. */
BRUME_MUST_USE brume_status brume_split_bounds(const char *typed, char **column, char **low,
                                               char **high, brume_error *error);

/* Does an option of this name, COLUMN=..., name the column? */
bool brume_declares_column(const brume_call *call, const char *option, const char *column);

/* ---- saying it ---- */

/* Columns with their types, bounds and domains, of a policy as JSON. */
BRUME_MUST_USE brume_status brume_write_columns(brume_call *call, const json_t *policy,
                                                brume_error *error);

/* "  lines       delimiter ',', quote '\"', a header": how the lines of a CSV file are read;
 * nothing of other sources. */
void brume_write_format(const brume_call *call, const char *location, const char *options);

/* The same as JSON: the object of reader/format.h; null for none. */
json_t *brume_format_to_json(const char *location, const char *options);

/* What the owner should know of the source: sentences, as a JSON array; NULL if memory is out. */
json_t *brume_source_warnings(const brume_description *description, bool is_public);
void brume_write_warnings(const brume_call *call, const json_t *warnings);

/* The ceilings on what one unit may have, a line each; 0 is none. */
void brume_write_ceilings(FILE *out, uint64_t max_groups, uint64_t max_rows, bool fixed);

#endif
