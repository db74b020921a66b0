/* Workloads as text, one statement a line:
 *
 *     # everything after a number sign is a comment
 *     total                              the number of records
 *     histogram                          every cell of the universe: the marginal of all columns
 *     marginal age, sex                  every cell of the table of these columns
 *     marginals 2                        every marginal of two columns
 *     prefixes age                       for each value but the last: up to it
 *     ranges age                         every range of neighbouring values
 *     count sex = f and age >= 40        the records for which a condition holds
 *     sum 0.5 where sex = f, 0.25 where city in (lyon, lille)
 *
 * 1. `sum` adds up the numbers whose conditions hold (a number without a condition counts for every
 *    record); it must stay in [0, 1] for every record, or the line is refused.
 * 2. A condition is written as after WHERE in SQL: comparisons joined by `not`, which binds first,
 *    `and`, and `or`, with brackets; `true` is always satisfied. Comparisons are
 *        NAME = V    NAME <> V or != V    NAME < V    NAME <= V    NAME > V    NAME >= V
 *        NAME in (V, V, ...)    NAME between V and V    NAME in V .. V    NAME not in ...
 *        NAME is other    NAME is not other
 *    Labels compare in the order of their domain; `between` and V .. W have both ends. For a column
 *    with bins the numbers must be edges of bins: < V ends and >= V begins at that edge, V .. W
 * lies between the two; other comparisons would cut a bin and are refused. `other` is in no range,
 * but different from every label (there is no NULL here: what is missing is `other`). Keywords may
 *    be written in capitals.
 * 3. Names and values of letters, digits, _, - , +, a single point and bytes above 127 are written
 *    as they are; anything else, and the words above, in single or double quotes, doubled inside.
 * 4. Conditions that are no box (with `or`, `not` before a comparison, or brackets) and sums take 4
 *    bytes a cell; everything else takes next to nothing. */
#ifndef BRUME_WORKLOAD_TEXT_H
#define BRUME_WORKLOAD_TEXT_H

#include <brume/synthetic/schema.h>
#include <brume/synthetic/tree.h>
#include <brume/synthetic/workload.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A workload holds at most so many queries, so many of them not in marginals, and so many marginals
 * by one `marginals`; all sums and conditions with `or` together take at most 2^30 cells. */
enum {
    BRUME_WORKLOAD_TEXT_QUERIES = 1 << 26,
    BRUME_WORKLOAD_TEXT_BOXES = 1 << 16,
    BRUME_WORKLOAD_TEXT_MARGINALS = 1 << 16,
};

/* Read a workload over the universe of the schema; close it with brume_workload_close.
 * Errors name line and column: BRUME_ESYNTAX; BRUME_EUNKNOWN for a column, with the nearest name;
 * BRUME_EARGUMENT for a value outside its domain, a number that is no edge, a sum outside [0, 1], a
 * text without queries; BRUME_EOVERFLOW; BRUME_EMEMORY. *out is untouched then. */
BRUME_API BRUME_MUST_USE brume_status brume_workload_parse(const brume_schema *schema,
                                                           const char *text, brume_workload **out,
                                                           brume_error *error);

/* The tables of a workload, for the method tree: `marginal` and `marginals` only, each with `weight
 * W` behind it if it is to count for more or less than 1. Columns ascend; a table that is there
 * twice has the sum of its weights. Free *out with free. Errors: as above; BRUME_EUNSUPPORTED for
 * other statements and more than BRUME_TREE_WIDEST columns. */
BRUME_API BRUME_MUST_USE brume_status brume_workload_parse_tables(const brume_schema *schema,
                                                                  const char *text,
                                                                  brume_tree_table **out,
                                                                  size_t *count,
                                                                  brume_error *error);

#ifdef __cplusplus
}
#endif

#endif
