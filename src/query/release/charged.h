/* A charged release that is not SQL: the release path for one statistic of a registered dataset.
 *
 *   recall? -> rehearse on no rows -> reserve (durable) -> read, one row a unit -> the caller draws
 *   -> commit -> answer
 *
 * One row of each unit counts, the one with the smallest keyed hash, so that to the statistic a row
 * is a unit, whatever max_rows says; or as many as the caller is prepared for. Where the dataset's
 * unit is the row, all rows count.
 *
 * The rows may be those of a view: SQL that is checked as a subquery is, so that rows of a unit are
 * made of that unit's rows and public ones, over the tables of this one dataset.
 *
 * From a dataset with windows one window is read and pays the price, which is that of a unit whose
 * rows there come or go; several where a row is a unit, because it is in one of them. */
#ifndef BRUME_QUERY_CHARGED_H
#define BRUME_QUERY_CHARGED_H

#include <brume/adjacency.h>
#include <brume/bits.h>

#include "ledger/ledger.h"
#include "query/release/spend.h"

struct brume_question;

/* What a stream of questions works with once its price is on the ledger. */
typedef struct brume_charged_stream {
    brume_ledger *ledger;
    uint64_t reservation; /* for brume_ledger_progress */
    const struct brume_question *question;
    brume_engine *engine;
    brume_bits *bits;
    const brume_watch *watch; /* may be NULL */
} brume_charged_stream;

typedef struct brume_charged {
    const char *dataset;
    const char
        *view; /* SQL whose rows are read; NULL: the dataset is one table, and they are its */
    const char *const *columns; /* of the view: those that are read */
    size_t column_count;
    uint64_t rows_per_unit;      /* of each unit at most so many rows count; 0 is 1 */
    brume_adjacency adjacency;   /* of the statistic; EDGE is add-remove where a row is an edge */
    const char *epsilon, *delta; /* the price as typed; delta NULL: none */
    const char *rho;      /* the price typed in rho instead, for the rule concentrated; else NULL */
    double rho_upper;     /* what it costs in rho, for the rule concentrated; 0: as any (epsilon,
                             delta) guarantee */
    const char *windows;  /* read these alone, where the dataset has windows; NULL: not typed */
    const json_t *events; /* what will be released, for third parties; NULL: `what` says it */
    bool fresh;           /* its answer is not kept, so it is bought again each time */
    bool only_checks;     /* a dry run: what can be wrong with a view shows, nothing is charged, and
                             there is no answer */
    bool needs_rows;      /* refuse an empty table before the charge; under replace only, where the
                             number of rows is public */
    uint64_t most_rows;   /* then also refuse a table with more rows; 0: any number */
    const char *what;     /* everything that was asked, as text: recorded, and the re-read's key */
    /* Draw from the rows in the CSV file at `path` (all columns of the dataset, by their names) and
     * write the answer; it may cost no more than the price. Called twice: first without rows, so
     * that bad options are found before anything is charged. */
    brume_status (*draw)(void *context, const char *path, brume_bits *bits, json_t **answer,
                         brume_error *error);
    /* Instead of `draw`, and `fresh`: answer questions until they end. Called once, when the price
     * is on the ledger; *answer is the record of it. Everything that can be wrong with the words
     * typed must have been found before. Streams run one at a time on a ledger. */
    brume_status (*stream)(void *context, const brume_charged_stream *on, json_t **answer,
                           brume_error *error);
    void *context;
} brume_charged;

/* Errors: as of brume_ask; BRUME_EPOLICY if the statistic's adjacency is not the dataset's. The
 * answer gets "remaining" and "cached". */
BRUME_MUST_USE brume_status brume_charged_release(brume_ledger *ledger,
                                                  const brume_charged *release, brume_bits *bits,
                                                  const brume_watch *watch, json_t **answer,
                                                  brume_error *error);

#endif
