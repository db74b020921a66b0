/* The owner's policy of a dataset: where the data is, whose it is, what one unit may contribute,
 * and what is publicly known of its columns. Written once at registration, kept by the ledger as
 * JSON. */
#ifndef BRUME_QUERY_POLICY_H
#define BRUME_QUERY_POLICY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/status.h>

#include "engine/engine.h"
#include "ledger/window.h"
#include "query/plan/key_value.h"

/* What one user of a server may take of the machine with one dataset.
 *
 * The size of an answer has no price: noise of a tiny epsilon on a million groups costs next to
 * nothing, and takes gigabytes and a long row of the ledger. So users have limits, which the owner
 * may set (limits-per-user) and which are checked before anything is charged or read. They depend
 * on the question and on the journal, never on a protected row. The owner at the shell has none. */

enum { BRUME_USER_LIMITS_TEXT = 128 };

/* 0: not said, the default is in force. */
typedef struct brume_user_limits {
    uint64_t memory;       /* bytes for what is known of an answer before rows are read (1 GiB) */
    uint64_t cells;        /* groups that are known before rows are read, times columns (2^17) */
    uint64_t ledger_bytes; /* that all questions and answers of the user take there (256 MiB) */
} brume_user_limits;

/* "memory=512MiB,cells=20000,ledger-bytes=64MiB": some or all of them, each once; sizes in bytes,
 * KiB, MiB or GiB. ESYNTAX, EARGUMENT. */
BRUME_MUST_USE brume_status brume_user_limits_parse(const char *text, brume_user_limits *out,
                                                    brume_error *error);

/* The text that parses to them; "" where nothing was said. */
void brume_user_limits_print(const brume_user_limits *limits, char text[BRUME_USER_LIMITS_TEXT]);

/* The defaults in the place of what was not said. */
brume_user_limits brume_user_limits_in_force(const brume_user_limits *said);

/* Does an answer of so many cells, made of so many numbers, fit? EPOLICY. */
BRUME_MUST_USE brume_status brume_user_limits_check(const brume_user_limits *said,
                                                    const char *dataset, double cells,
                                                    double numbers, brume_error *error);

typedef struct brume_policy_column {
    char *name;
    brume_type type;
    brume_leaf leaf;
    char *native;
    bool not_null;
    char *low, *high; /* declared bounds: exact decimals, dates or timestamps; NULL: none */
    char **domain;    /* declared values, as text, in the order given; NULL: none */
    size_t domain_count;
    bool is_identifier; /* hardly two units share a value: nothing to group by */
} brume_policy_column;

/* In which window of a growing table a row is. All protected tables of a dataset say one of it, or
 * none does; the grid is the same for all of them. */
typedef enum brume_window_place {
    BRUME_WINDOW_NOWHERE = 0, /* the dataset has no windows */
    BRUME_WINDOW_BY_COLUMN,   /* that of its own column */
    BRUME_WINDOW_BY_LINK,     /* that of the row that it is linked to; of two, both */
    BRUME_WINDOW_TIMELESS,    /* none: the budget of whole histories alone protects it */
} brume_window_place;

typedef struct brume_policy_window {
    brume_window_place place;
    char *column;           /* BY_COLUMN */
    brume_window_grid grid; /* its values point to `values` */
    char **values;          /* as declared when the windows were: their order never changes */
    int64_t close_after;    /* seconds after its end at which a window closes */
} brume_policy_window;

typedef struct brume_policy {
    char *location, *table; /* table: PostgreSQL only, else NULL */
    char *options;          /* how the file is to be read, as found at registration */
    bool is_public;         /* needs no protection; has no unit and no budget */
    char *unit;             /* column that says whose row it is; NULL: a row is a unit, or linked */
    /* Linked: it is whose the rows of the table `parent` are whose parent_column equals the
     * column link_column. All three or none. */
    char *link_column, *parent, *parent_column;
    char *unit_name; /* a noun for a unit, "patient" or "patient/patients", for texts (words.h);
                        NULL: not said */
    uint64_t max_groups, max_rows; /* ceilings on what one unit may have; 0: none */
    bool limits_fixed;             /* they are the limits, and nothing is chosen */
    uint64_t table_rows; /* rows of this table that one unit has at most, all groups together, by
                            the owner's declaration; 0: not said. More are cut as by any limit. */
    char *bias_share; /* of each query's price, for estimates of bias: an exact decimal up to 0.5;
                         NULL: not allowed */
    brume_user_limits per_user;
    double timeout;    /* seconds that a query may take; 0: no cap */
    bool rows_stay;    /* no row of it may leave its server */
    bool append_only;  /* rows are only added, until all of a unit go for good: a series may limit
                          units over all time (proofs/series.md) */
    double rows_about; /* how many rows there are, about, as the owner says; 0: not said. Public: it
                          is not compared with the data */
    brume_policy_window window;
    double max_age; /* seconds from which a free re-read warns of its age; 0: it never does */
    brume_policy_column *columns;
    size_t column_count;
} brume_policy;

/* Free everything; NULL is allowed. */
void brume_policy_close(brume_policy *policy);

/* JSON with every field; NULL if memory is out. For a dataset of several tables: tables.h. */
json_t *brume_policy_to_json(const brume_policy *policy);

/* Read it back. BRUME_EDAMAGED if it is not what brume_policy_to_json wrote; EUNSUPPORTED if it is
 * that of a dataset of several tables, which tables.h reads. */
BRUME_MUST_USE brume_status brume_policy_from_json(const json_t *json, brume_policy **out,
                                                   brume_error *error);

/* Make a policy from what an engine describes; bounds, domains, unit and limits are still to be set
 * with the functions below. */
BRUME_MUST_USE brume_status brume_policy_make(const char *location, const char *table,
                                              const brume_description *description,
                                              brume_policy **out, brume_error *error);

/* The owner's declarations. Each is checked against the columns:
 * EUNKNOWN no such column (nearest name as hint); EARGUMENT bounds that are not of the column's
 * type, reversed, of a column that is neither a number nor a time; a domain with a value twice or
 * not of the column's type. */
BRUME_MUST_USE brume_status brume_policy_set_unit(brume_policy *policy, const char *column,
                                                  brume_error *error);
BRUME_MUST_USE brume_status brume_policy_set_bounds(brume_policy *policy, const char *column,
                                                    const char *low, const char *high,
                                                    brume_error *error);
BRUME_MUST_USE brume_status brume_policy_set_domain(brume_policy *policy, const char *column,
                                                    const char *const *values, size_t count,
                                                    brume_error *error);

/* Mark a column as an identifier. EUNKNOWN as above. */
BRUME_MUST_USE brume_status brume_policy_set_identifier(brume_policy *policy, const char *column,
                                                        brume_error *error);

/* Link the table by its own column; the parent is checked by brume_tables_check. */
BRUME_MUST_USE brume_status brume_policy_set_link(brume_policy *policy, const char *column,
                                                  const char *parent, const char *parent_column,
                                                  brume_error *error);

/* Say in which windows its rows are: a column, or "link", or "none", on a grid of this length, and
 * offset (NULL: none); length "values": each value of the column's declared domain is one. EUNKNOWN
 * no such column; EARGUMENT: neither a time nor a domain, hours of a date, an offset of a date, a
 * link where there is none. */
BRUME_MUST_USE brume_status brume_policy_set_window(brume_policy *policy, const char *place,
                                                    const char *length, const char *offset,
                                                    brume_error *error);

/* The windows that it had before its columns were declared anew, with the values of that time.
 * EUNKNOWN, EARGUMENT: the column is gone, or has no windows any more. */
BRUME_MUST_USE brume_status brume_policy_keep_window(brume_policy *policy,
                                                     const brume_policy *before,
                                                     brume_error *error);

/* Is it the same grid? */
bool brume_policy_same_grid(const brume_policy *a, const brume_policy *b);

enum { BRUME_UNIT_NAME = 40 }; /* bytes of a noun */

/* Say what a unit is called: a noun, or two with a slash between. EARGUMENT: that is none. */
BRUME_MUST_USE brume_status brume_policy_set_unit_name(brume_policy *policy, const char *name,
                                                       brume_error *error);

/* Allow private estimates of bias at this share of a query's price. BRUME_EARGUMENT if it is not
 * above 0 and at most 0.5. */
BRUME_MUST_USE brume_status brume_policy_set_bias_share(brume_policy *policy, const char *share,
                                                        brume_error *error);

/* Do the rows belong to the same units, and to the same windows, under both policies of one source?
 * False wherever that is not certain: another unit or type of the unit's column, another place of
 * it where no header names it, or lines that are read in another way (where the row is the unit:
 * that are put together in another way). Policies from before formats were declared are taken to
 * read lines as they are read now. */
bool brume_policy_same_units(const brume_policy *before, const brume_policy *after);

/* The column of that name (exactly, else without regard to case), or NULL. */
brume_policy_column *brume_policy_find(const brume_policy *policy, const char *name);

/* What the engine needs to open the source again. Points into the policy; free with free(). */
BRUME_MUST_USE brume_status brume_policy_source(const brume_policy *policy, brume_source *out,
                                                brume_column **columns, brume_error *error);

/* A value of a declared domain as the engine would send it in a key column of this type.
 * BRUME_EARGUMENT if the text is no such value. Text points into `text`. */

BRUME_MUST_USE brume_status brume_policy_domain_value(brume_type type, const char *text,
                                                      brume_key_value *out, brume_error *error);

#endif
