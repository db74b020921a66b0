/* Sums that differ by constants: SUM(x), SUM(x + 1), SUM(x - 2) ... are all SUM(x) + c * COUNT(x).
 *
 * Where three or more of them are asked for, two numbers are measured instead of three or more,
 * each with a larger share of the price. That is the same number: every row that has an x has an x
 * + c, because the sum cannot overflow within the bounds of x. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "query/sql/walk_outer.h"

enum { LEAST = 3 };

/* The x of x + c, c + x and x - c, with c; NULL where the aggregate is no such sum. A plain SUM(x)
 * has the constant 0. */
static brume_node base_of(const brume_aggregate *aggregate, double *constant)
{
    brume_node sum = aggregate->argument;
    *constant = 0;
    if (aggregate->kind != BRUME_AGGREGATE_SUM)
        return NULL;
    bool added = sum->operation == BRUME_OPERATION_ADD;
    if ((!added && sum->operation != BRUME_OPERATION_SUBTRACT) ||
        sum->type.kind == BRUME_TYPE_DOUBLE)
        return sum;
    bool first = added && sum->arguments[0]->operation == BRUME_OPERATION_LITERAL;
    brume_node literal = sum->arguments[first ? 0 : 1], base = sum->arguments[first ? 1 : 0];
    if (literal->operation != BRUME_OPERATION_LITERAL || !literal->text ||
        base->nullable != sum->nullable || !base->bounded)
        return sum;
    *constant = strtod(literal->text, NULL);
    if (!added)
        *constant = -*constant;
    return fabs(*constant) < 0x1p53 ? base : sum;
}

/* The place of an aggregate among those that stay, added if it is new. */
static size_t place_of(brume_aggregate *kept, size_t *count, const brume_aggregate *aggregate)
{
    for (size_t i = 0; i < *count; i++)
        if (brume_aggregate_equal(&kept[i], aggregate))
            return i;
    kept[*count] = *aggregate;
    return (*count)++;
}

static brume_formula *leaf(brume_walk_outer *o, size_t index)
{
    brume_formula *node = brume_walk_outer_make(o, BRUME_FORMULA_AGGREGATE, NULL, 0);
    if (node)
        node->index = index;
    return node;
}

/* SUM(x) + constant * COUNT(x), in the place of `node`. */
static bool rewrite(brume_walk_outer *o, brume_formula *node, size_t sum, size_t count,
                    double constant)
{
    brume_formula *literal = brume_walk_outer_make(o, BRUME_FORMULA_LITERAL, NULL, 0);
    if (!literal)
        return false;
    literal->value = (brume_value){.kind = BRUME_VALUE_NUMBER, .number = constant};
    brume_formula_node product[] = {literal, leaf(o, count)};
    brume_formula_node both[] = {leaf(o, sum),
                                 brume_walk_outer_make(o, BRUME_FORMULA_MULTIPLY, product, 2)};
    const brume_formula *made = brume_walk_outer_make(o, BRUME_FORMULA_ADD, both, 2);
    if (made)
        *node = *made;
    return made != NULL;
}

/* Which aggregates are of a family of at least LEAST sums. */
static bool find_families(const brume_walk_outer *o, bool *shifted)
{
    bool any = false;
    double constant;
    for (size_t i = 0; i < o->aggregate_count; i++) {
        brume_node base = base_of(&o->aggregates[i], &constant);
        size_t alike = 0;
        for (size_t j = 0; base && j < o->aggregate_count; j++) {
            brume_node other = base_of(&o->aggregates[j], &constant);
            alike += other && brume_expression_equal(base, other);
        }
        shifted[i] = alike >= LEAST;
        any = any || shifted[i];
    }
    return any;
}

bool brume_walk_shifted_sums(brume_walk_outer *o)
{
    brume_arena *arena = o->walk->builder.arena;
    if (o->aggregate_count < LEAST || o->node_count > BRUME_WALK_NODES)
        return true;
    size_t old_count = o->aggregate_count, count = 0;
    bool *shifted = brume_arena_allocate(arena, old_count * sizeof *shifted);
    brume_aggregate *kept = brume_arena_allocate(arena, 2 * old_count * sizeof *kept);
    if (!shifted || !kept) {
        brume_walk_outer_fail(o, BRUME_EMEMORY, NULL, "out of memory");
        return false;
    }
    if (!find_families(o, shifted))
        return true;
    for (size_t i = 0; i < o->node_count; i++) {
        brume_formula *node = o->nodes[i];
        const brume_aggregate *aggregate = &o->aggregates[node->index];
        double constant = 0;
        brume_aggregate sum = *aggregate;
        if (shifted[node->index])
            sum.argument = base_of(aggregate, &constant);
        node->index = place_of(kept, &count, &sum);
        brume_aggregate values = {.kind = BRUME_AGGREGATE_COUNT, .argument = sum.argument};
        if (constant != 0 &&
            !rewrite(o, node, node->index, place_of(kept, &count, &values), constant))
            return false;
    }
    if (count > old_count) /* cannot be: three sums become a sum and a count at most */
        return brume_walk_outer_fail(o, BRUME_EINTERNAL, NULL, "aggregates were counted wrongly");
    memcpy(o->aggregates, kept, count * sizeof *kept);
    o->aggregate_count = count;
    return true;
}
