/* UNION ALL in a subquery: the rows of both sides, each still whose it was.
 *
 * The two sides must be of one dataset: its neighbours differ in all rows of one unit, in all its
 * tables at once, so that a unit's rows of the union come and go together (proofs/links.md). */
#include "query/sql/walk_from.h"

typedef struct union_side {
    const brume_relation *from;
    brume_relation *made; /* its columns, in the types and the order of the union */
    brume_relation_column *columns;
} union_side;

static bool out_of_memory(brume_walk *walk)
{
    brume_build_fail(&walk->builder, BRUME_EMEMORY, NULL, "out of memory");
    return false;
}

/* Every protected table that a relation reads must be of the dataset of *first (NULL: none yet). */
static bool of_one_dataset(const brume_walk *walk, const brume_relation *relation,
                           const brume_catalog_table **first)
{
    if (!relation)
        return true;
    if (relation->kind == BRUME_RELATION_TABLE && relation->privacy != BRUME_PRIVACY_PUBLIC) {
        const brume_catalog_table *table = &walk->catalog->tables[relation->table];
        if (*first && table != *first && !brume_catalog_same_dataset(*first, table))
            return false;
        *first = table;
    }
    return of_one_dataset(walk, relation->left, first) &&
           of_one_dataset(walk, relation->right, first);
}

static bool check_sides(brume_walk *walk, const brume_relation *left, const brume_relation *right)
{
    const brume_catalog_table *first = NULL;
    const char *what = NULL, *hint = NULL;
    if (left->privacy == BRUME_PRIVACY_ROW || right->privacy == BRUME_PRIVACY_ROW) {
        what = "a dataset whose unit is the row cannot be part of UNION ALL";
        hint = "register it with a column as its unit";
    } else if (left->privacy != right->privacy) {
        what = "UNION ALL of a public table and a protected one is not supported";
        hint = "ask for them separately: the public one is free";
    } else if (!of_one_dataset(walk, left, &first) || !of_one_dataset(walk, right, &first)) {
        what = "UNION ALL of different datasets is not supported: nobody says that their units are "
               "the same";
        hint = "register them as the tables of one dataset, with --policy";
    }
    if (what)
        brume_build_fail(&walk->builder, BRUME_EUNSUPPORTED, hint, "%s", what);
    return !what;
}

/* The columns that a side can be asked for by name, in order; returns how many. */
static size_t named(const brume_relation *relation, size_t *places, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < relation->column_count; i++)
        if (relation->columns[i].name) {
            if (count < most)
                places[count] = i;
            count++;
        }
    return count;
}

static bool open_side(brume_walk *walk, union_side *side, const brume_relation *from)
{
    side->from = from;
    side->made = brume_walk_relation(walk, BRUME_RELATION_SELECT);
    side->columns = brume_arena_allocate(walk->builder.arena,
                                         (2 * from->column_count + 1) * sizeof *side->columns);
    if (!side->made)
        return false;
    if (!side->columns)
        return out_of_memory(walk);
    side->made->left = from;
    side->made->columns = side->columns;
    side->made->privacy = from->privacy;
    return true;
}

static bool add_to_side(brume_walk *walk, union_side *side, const char *name, brume_node value)
{
    size_t at = side->made->column_count;
    brume_node reference = value ? brume_walk_reference(walk, side->made, at, value) : NULL;
    if (!reference)
        return false;
    side->columns[at] = (brume_relation_column){
        .name = name, .reference = reference, .expression = value, .inside = reference};
    side->made->column_count++;
    return true;
}

/* What is known of a column of the union: what is known of it on both sides. */
static brume_node hull(brume_walk *walk, const brume_relation *made, size_t at, brume_node a,
                       brume_node b)
{
    brume_expression like = *a;
    like.nullable = a->nullable || b->nullable;
    like.bounded = a->bounded && b->bounded;
    like.inexact_key = a->inexact_key || b->inexact_key;
    like.max_length = a->max_length > b->max_length ? a->max_length : b->max_length;
    if (b->bounds.low < a->bounds.low)
        like.bounds.low = b->bounds.low;
    if (b->bounds.high > a->bounds.high)
        like.bounds.high = b->bounds.high;
    if (b->bounds.real_low < a->bounds.real_low)
        like.bounds.real_low = b->bounds.real_low;
    if (b->bounds.real_high > a->bounds.real_high)
        like.bounds.real_high = b->bounds.real_high;
    return brume_walk_reference(walk, made, at, &like);
}

/* One more column of both sides and of the union: `a` beside `b` in a type that both widen to. */
static bool add_column(brume_walk *walk, union_side sides[2], brume_relation *made,
                       brume_relation_column *columns, const char *name, brume_node a, brume_node b)
{
    brume_builder *builder = &walk->builder;
    brume_node both[2] = {a, b};
    brume_type type;
    if (!brume_build_common(builder, both, 2, &type))
        return false;
    for (int i = 0; i < 2; i++)
        if (!add_to_side(walk, &sides[i], name, brume_build_convert(builder, both[i], type)))
            return false;
    size_t at = made->column_count;
    brume_node reference =
        hull(walk, made, at, sides[0].columns[at].reference, sides[1].columns[at].reference);
    if (!reference)
        return false;
    columns[at] =
        (brume_relation_column){.name = name, .reference = reference, .inside = reference};
    made->column_count++;
    return true;
}

/* Named columns by their places, each with what stands for it inside an aggregate; then the unit.
 */
static bool add_columns(brume_walk *walk, union_side sides[2], brume_relation *made,
                        brume_relation_column *columns)
{
    enum { MOST = 400 };
    size_t left[MOST], right[MOST];
    const brume_relation *a = sides[0].from, *b = sides[1].from;
    size_t count = named(a, left, MOST);
    if (count != named(b, right, MOST) || count > MOST) {
        brume_build_fail(&walk->builder, BRUME_EARGUMENT, "name the columns instead of *",
                         "the sides of UNION ALL have different numbers of columns");
        return false;
    }
    made->unit = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        const brume_relation_column *x = &a->columns[left[i]], *y = &b->columns[right[i]];
        size_t at = made->column_count;
        if (!add_column(walk, sides, made, columns, x->name, x->reference, y->reference))
            return false;
        if (left[i] == a->unit && right[i] == b->unit)
            made->unit = at;
        if (x->inside == x->reference && y->inside == y->reference)
            continue;
        if (!add_column(walk, sides, made, columns, NULL, x->inside, y->inside))
            return false;
        columns[at].inside = columns[at + 1].reference;
    }
    if (a->privacy != BRUME_PRIVACY_UNIT)
        return true;
    if (!brume_walk_units_match(walk, a, b) || made->unit != SIZE_MAX)
        return walk->builder.status == BRUME_OK;
    made->unit = made->column_count;
    return add_column(walk, sides, made, columns, NULL, a->columns[a->unit].reference,
                      b->columns[b->unit].reference);
}

const brume_relation *brume_walk_union(brume_walk *walk, const PgQuery__SelectStmt *select,
                                       const brume_walk_common *common)
{
    if (select->op != PG_QUERY__SET_OPERATION__SETOP_UNION || !select->all) {
        brume_build_fail(&walk->builder, BRUME_EUNSUPPORTED,
                         "use UNION ALL, which keeps whose each row is",
                         "UNION without ALL, INTERSECT and EXCEPT are not supported");
        return NULL;
    }
    const brume_relation *left = brume_walk_select(walk, select->larg, common);
    const brume_relation *right = left ? brume_walk_select(walk, select->rarg, common) : NULL;
    if (!right || !check_sides(walk, left, right))
        return NULL;
    union_side sides[2];
    brume_relation *made = brume_walk_relation(walk, BRUME_RELATION_UNION);
    brume_relation_column *columns =
        brume_arena_allocate(walk->builder.arena, (2 * left->column_count + 1) * sizeof *columns);
    if (!made || !open_side(walk, &sides[0], left) || !open_side(walk, &sides[1], right))
        return NULL;
    if (!columns) {
        out_of_memory(walk);
        return NULL;
    }
    if (!add_columns(walk, sides, made, columns))
        return NULL;
    made->privacy = left->privacy;
    made->left = sides[0].made;
    made->right = sides[1].made;
    made->columns = columns;
    for (int i = 0; i < 2; i++)
        sides[i].made->unit = made->unit;
    return made;
}
