/* A synthetic table that answers a workload of queries nearly as the real one: of a registered
 * dataset, which pays for it, or of a file that nobody keeps account of. `brume synth` reads words
 * into brume_synth_words and writes what comes back.
 *
 *   words -> brume_synth_open (columns, workload, price) -> brume_synth_plan, _compare: nothing
 * read
 *         -> brume_synth_charged or brume_synth_of_file -> brume_synth_write
 *
 * Promises: everything that can be wrong with the words shows before anything is charged; the price
 * is on the ledger before a row is read, and what is drawn costs no more; no row can make a run
 * fail; the report holds what was released and what is computed from it. The one exception is the
 * exact error, which has to be asked for, without a ledger, and is under "not_private". */
#ifndef BRUME_QUERY_SYNTH_H
#define BRUME_QUERY_SYNTH_H

#include <jansson.h>

#include <brume/bits.h>
#include <brume/mechanism/event.h>
#include <brume/synthetic/schema.h>
#include <brume/synthetic/synthetic.h>
#include <brume/synthetic/workload_text.h>

#include "ledger/ledger.h"
#include "query/plan/policy.h"
#include "query/release/spend.h"
#include "reader/csv_rows.h"
#include "reader/format.h"

enum { BRUME_SYNTH_ROWS = 1 << 27 }; /* rows that can be asked for */

/* Rows drawn: counts of the cells of a universe, or under the method tree the values themselves. */
typedef struct brume_synth_rows {
    double *cells; /* cells[cell] of them are in a cell; NULL: `tree` has them */
    brume_tree_result tree;
    brume_schema *found; /* the columns, where domains of some were bought; NULL: as asked */
} brume_synth_rows;

void brume_synth_rows_clear(brume_synth_rows *rows);

typedef struct brume_synth_list {
    const char *const *texts;
    size_t count;
} brume_synth_list;

/* What was asked. A text that was not typed is NULL, a whole number 0, error_share NaN. The texts
 * are the caller's and live as long as what is made of them. */
typedef struct brume_synth_words {
    const char *source;  /* the dataset, or the file */
    const char *windows; /* of a dataset that has some */
    const char *method, *columns, *workload, *other;
    const char *view;       /* SQL whose rows are read in place of the dataset's; tree alone */
    const char *discover;   /* columns of labels whose domains are bought; tree alone */
    uint64_t rows_per_unit; /* of each unit so many rows count; tree alone */
    const char *epsilon, *delta, *rho;      /* the price, exact as typed */
    brume_synth_list domains, bounds, bins; /* "NAME=V1,V2", "NAME=LO..HI", "[NAME=]10" */
    brume_synth_list never;                 /* conditions that no row meets; tree alone */
    uint64_t rounds, candidates, size, rows, records, model_cells;
    double alpha, error_share, confidence;
    bool replace;       /* the adjacency */
    bool dry_run;       /* records may be told under replace too, to compare methods */
    bool exact_error;   /* of a file: the report has the true error too */
    bool is_stream;     /* of questions: columns and price are read alone, by those who need them */
    const char *output; /* .csv or .parquet; "-": no file, the caller takes the text */
    const char *model;  /* tree: a file for what was measured, of which more rows are free */
    const char *tables; /* tree: a CSV file of what was measured, and of the bars */
    const char *others; /* the options but price, workload and output, for the record of a charge */
    const brume_watch *watch; /* says when to stop; NULL: never */
    /* So much of `total` is done (0: unknown); a label that is NULL: this is over. NULL: nobody
     * looks. */
    void (*progress)(void *context, const char *label, uint64_t done, uint64_t total);
    void *context;
} brume_synth_words;

typedef struct brume_synth {
    brume_synth_words words;
    brume_policy *policy;            /* NULL: of a file */
    const brume_text_format *format; /* of the CSV that is read; NULL: the defaults of its name */
    bool spends_rho;                 /* the budget's rule is concentrated */

    /* what was asked, all public */
    brume_schema *schema;
    brume_universe universe;
    brume_workload *workload;
    char *workload_text;
    brume_synthetic_options options;
    double epsilon_lower, delta_lower;       /* with a delta: both, rounded down */
    double discover_epsilon, discover_delta; /* of them, for domains; 0: none are bought */
    const json_t *found; /* {"column": [labels]}: domains that were bought; NULL: not yet */
    uint64_t rows;
    bool is_tree; /* then `tree` is asked, and there is no universe and no workload */
    brume_tree_question tree;
    brume_tree_column tree_columns[BRUME_TREE_COLUMNS];
    brume_tree_table *tree_tables;
    brume_tree_zero *tree_zeros;
    brume_tree_plan tree_plan;
    brume_event events[BRUME_SYNTHETIC_EVENTS];
    size_t event_count;
    double rho_upper; /* of the events together */
    double bytes;     /* about what it takes */
} brume_synth;

/* The words against the dataset's policy (NULL: a file): schema, workload, options, events. Nothing
 * is read of the data. Free with brume_synth_clear, also after a failure. */
BRUME_MUST_USE brume_status brume_synth_open(const brume_synth_words *words,
                                             const brume_dataset *dataset, brume_synth *out,
                                             brume_error *error);
void brume_synth_clear(brume_synth *synth);

/* The plan as JSON: what a report says that needs no data. */
json_t *brume_synth_plan(const brume_synth *synth);

/* What each method promises before any data is read: [{"method","bound","share"}], bounds in
 * records at the confidence; NULL where the number of records is not told. */
json_t *brume_synth_compare(const brume_synth *typed);

/* What a dry run of a dataset can still find wrong: the view. */
BRUME_MUST_USE brume_status brume_synth_check_view(const brume_synth *synth, brume_ledger *ledger,
                                                   brume_error *error);

/* Rows drawn, charged by charged.h, to be cleared after a success; *answer is the report. The same
 * question at the same price is read again for free, where the rows are few enough to be kept. */
BRUME_MUST_USE brume_status brume_synth_charged(const brume_synth *synth, brume_ledger *ledger,
                                                brume_bits *bits, brume_synth_rows *rows,
                                                json_t **answer, brume_error *error);

/* The same from a CSV file. Without `rows` only its columns are looked for. */
BRUME_MUST_USE brume_status brume_synth_of_file(brume_synth *synth, const char *path,
                                                const brume_text_format *format, brume_bits *bits,
                                                brume_synth_rows *rows, json_t **answer,
                                                brume_error *error);

/* Can the output be written? And write it. */
BRUME_MUST_USE brume_status brume_synth_check_output(const brume_synth *synth, brume_error *error);
BRUME_MUST_USE brume_status brume_synth_write(const brume_synth *synth,
                                              const brume_synth_rows *rows, brume_error *error);

/* The rows as CSV, to be freed. */
BRUME_MUST_USE brume_status brume_synth_text(const brume_synth *synth, const brume_synth_rows *rows,
                                             char **out, brume_error *error);

/* ---- the method tree: wide.c ---- */

/* The words against the schema: question, price, plan. */
BRUME_MUST_USE brume_status brume_synth_tree_open(brume_synth *synth, brume_error *error);
/* The price typed, as the noise it buys. price.c */
BRUME_MUST_USE brume_status brume_synth_tree_price(brume_synth *synth, brume_error *error);
/* --tables: what the report says of each table, as CSV. */
BRUME_MUST_USE brume_status brume_synth_tree_write_tables(const brume_synth *synth,
                                                          const json_t *answer, brume_error *error);
/* A model: what was measured, as JSON; to a file with its columns; and rows of such a file, which
 * cost nothing: `out` is to be cleared, also after a failure. model.c */
json_t *brume_synth_model_json(const brume_tree_result *made);
BRUME_MUST_USE brume_status brume_synth_write_model(const brume_synth *synth,
                                                    const brume_synth_rows *rows,
                                                    const json_t *model, const char *path,
                                                    brume_error *error);
BRUME_MUST_USE brume_status brume_synth_again(const brume_synth_words *words, brume_bits *bits,
                                              brume_synth *out, brume_synth_rows *rows,
                                              brume_error *error);
/* The columns of the schema as the mechanism takes them. */
void brume_synth_tree_columns(brume_synth *synth);
/* The conditions of --never, into the question. never.c */
BRUME_MUST_USE brume_status brume_synth_tree_zeros(brume_synth *synth, brume_error *error);
void brume_synth_tree_zeros_clear(brume_synth *synth);
/* A column with its domain, from the words or the policy, to the schema. */
BRUME_MUST_USE brume_status brume_synth_add_column(brume_synth *synth, const char *name,
                                                   brume_error *error);
/* Are the labels of this column bought? */
bool brume_synth_discovers(const brume_synth *synth, const char *name);
/* Buy them: {"column": [labels, ...]}, which is released. discover.c */
BRUME_MUST_USE brume_status brume_synth_discover(const brume_synth *synth, const char *path,
                                                 brume_bits *bits, json_t **found,
                                                 brume_error *error);
/* What a plan says beside what every method's says, added to it. */
brume_status brume_synth_tree_plan(const brume_synth *synth, json_t *plan, brume_error *error);
/* Read the CSV file and run. */
BRUME_MUST_USE brume_status brume_synth_tree_draw(const brume_synth *synth, const char *path,
                                                  brume_bits *bits, brume_synth_rows *rows,
                                                  json_t **answer, brume_error *error);
/* The rows of a kept answer. */
BRUME_MUST_USE brume_status brume_synth_tree_recall(const brume_synth *synth, const json_t *answer,
                                                    brume_synth_rows *rows, brume_error *error);
/* Are the rows few enough to be kept? */
bool brume_synth_tree_is_kept(const brume_synth *synth);

/* Said to the host, and whether it wants more: the context is the brume_synth. */
bool brume_synth_goes_on(void *context, uint64_t round, uint64_t rounds);
void brume_synth_tell(const brume_synth *synth, const char *label, uint64_t done);
/* The file's columns, in the order of the schema. */
BRUME_MUST_USE brume_status brume_synth_find_columns(const brume_synth *synth, const brume_csv *csv,
                                                     size_t *places, brume_error *error);

/* ---- for streams of questions on the same columns ---- */

/* The price typed: options.epsilon or options.rho. */
BRUME_MUST_USE brume_status brume_synth_price(brume_synth *synth, bool takes_rho,
                                              brume_error *error);
/* And then, with a delta and Gaussian noise, as much more rho as the accountant certifies for the
 * events. */
BRUME_MUST_USE brume_status brume_synth_raise(brume_synth *synth, brume_error *error);
/* The columns with their domains. */
BRUME_MUST_USE brume_status brume_synth_schema(brume_synth *synth, brume_error *error);
/* The histogram of a CSV file over the universe, added to `counts`: private. */
BRUME_MUST_USE brume_status brume_synth_counts(const brume_synth *synth, const char *path,
                                               double *counts, brume_error *error);

#endif
