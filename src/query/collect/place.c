/* Where the rows of a query are bounded. */
#include "query/collect/place.h"

#include <math.h>
#include <unistd.h>

#include "base/error.h"
#include "query/collect/collect.h"
#include "query/collect/pushed/pushed.h"

brume_status brume_place_dialect(const brume_question *question, brume_dialect *dialect,
                                 brume_error *error)
{
    for (size_t i = 0; i < question->table_count; i++) {
        brume_dialect each;
        if (!brume_engine_dialect_of(question->policies[i]->location, &each))
            return brume_fail(error, BRUME_ESOURCE, NULL,
                              "'%s' is not a source that brume can open",
                              question->datasets[i]->name);
        if (i > 0 && each != *dialect)
            return brume_fail(error, BRUME_EUNSUPPORTED,
                              "load both into the same database, or export the table to a file",
                              "sources of different kinds cannot be read in one query");
        *dialect = each;
    }
    return BRUME_OK;
}

/* Why the plan needs rows outside of the engine; NULL: it does not. */
static const char *obstacle_of(const brume_plan *plan, brume_dialect dialect)
{
    static const char *const kinds[] = {
        [BRUME_MEASUREMENT_MODE] = "modes of undeclared values keep values of each unit by a keyed "
                                   "hash",
        [BRUME_MEASUREMENT_DISTINCT] = "COUNT(DISTINCT) keeps values of each unit by a keyed hash",
    };
    const char *found = NULL;
    for (size_t i = plan->measurement_count; i-- > 0;) { /* what was asked for comes last */
        const brume_measurement *one = &plan->measurements[i];
        const char *obstacle = brume_push_obstacle(&one->collection, dialect);
        bool named = brume_push_dialect_of(dialect) && (one->kind == BRUME_MEASUREMENT_MODE ||
                                                        one->kind == BRUME_MEASUREMENT_DISTINCT);
        if (obstacle && named)
            return kinds[one->kind];
        found = obstacle ? obstacle : found;
    }
    return found;
}

/* The dataset whose owner says that rows stay; NULL: there is none. */
static const char *staying(const brume_question *question)
{
    for (size_t i = 0; i < question->table_count; i++)
        if (question->policies[i]->rows_stay)
            return question->datasets[i]->name;
    return NULL;
}

static brume_status refuse(const char *stays, const char *obstacle, brume_error *error)
{
    if (stays)
        return brume_fail(error, BRUME_EUNSUPPORTED,
                          "counts, sums, means and variances of declared groups can be answered",
                          "the rows of '%s' stay on their server, and this query needs them in "
                          "brume, because %s",
                          stays, obstacle);
    return brume_fail(error, BRUME_EUNSUPPORTED, "leave '--where' out: rows are streamed then",
                      "the server cannot answer this query by itself, because %s", obstacle);
}

/* Bytes that a streamed row takes at most, where each is its own unit's only one in its group: a
 * record of the pair and of each value of it, and the row itself while it waits to be sorted. */
static double bytes_of_row(const brume_plan *plan)
{
    double bytes = 0;
    for (size_t i = 0; i < plan->measurement_count; i++)
        bytes += 128 + 40 * (double)plan->measurements[i].collection.value_count;
    return bytes;
}

/* May the rows, as many as are declared, not fit into half of the machine's memory? */
static bool are_too_many(const brume_question *question, const brume_plan *plan)
{
    double rows = 0;
    for (size_t i = 0; i < question->table_count; i++)
        rows = fmax(rows, question->policies[i]->rows_about);
    double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    return rows * bytes_of_row(plan) > memory / 2;
}

static bool streams(const brume_plan *plan)
{
    for (size_t i = 0; i < plan->measurement_count; i++)
        if (brume_collect_streams(&plan->measurements[i].collection))
            return true;
    return false;
}

brume_status brume_place(const brume_question *question, brume_plan *plan, brume_where asked,
                         brume_error *error)
{
    brume_dialect dialect = BRUME_DIALECT_DUCKDB;
    BRUME_TRY(brume_place_dialect(question, &dialect, error));
    const char *obstacle = obstacle_of(plan, dialect), *stays = staying(question);
    if (stays && asked == BRUME_WHERE_BRUME)
        return brume_fail(error, BRUME_EPOLICY, "leave '--where' out",
                          "the owner of '%s' says that its rows stay on their server", stays);
    bool wanted = stays || asked == BRUME_WHERE_ENGINE;
    if (wanted && obstacle)
        return refuse(stays, obstacle, error);
    if (!obstacle && !streams(plan)) {
        plan->in_engine = true;
        plan->where_reason = "every row is a unit of its own, and the server adds them up";
        return BRUME_OK;
    }
    bool large = asked == BRUME_WHERE_AUTO && !stays && !obstacle && are_too_many(question, plan);
    wanted = wanted || large;
    plan->in_engine = wanted;
    if (large)
        plan->where_reason = "so many rows as are declared may not fit into brume's memory";
    else if (stays)
        plan->where_reason = "the owner says that they stay";
    else if (asked != BRUME_WHERE_AUTO)
        plan->where_reason = "as typed";
    else if (brume_push_dialect_of(dialect))
        plan->where_reason = obstacle ? "the server cannot add them up by itself"
                                      : "streaming takes less processor time, and nobody says that "
                                        "they stay on the server";
    for (size_t i = 0; i < plan->measurement_count; i++)
        plan->measurements[i].collection.pushed = wanted;
    return BRUME_OK;
}
