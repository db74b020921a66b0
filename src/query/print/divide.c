/* Which table of a query may be read in parts.
 *
 * Argument. Let R(T) be the rows of a relation as a multiset, as a function of the rows of one
 * table T that stands in it once. Where R(T1 + T2) = R(T1) + R(T2) for every division of T, the
 * relation divides by T. A table divides by itself; a SELECT does if what it selects from does,
 * because each of its rows is made of one row; a join does by a table of a side of which it keeps
 * or drops every row on that row's own account: either side of an inner join, the left side of a
 * left, semi or anti join, the right side of a right join. The sum of two relations (UNION ALL)
 * does not, because the side without T would be repeated, nor does grouping.
 *
 * The other side of a join is read again for each part. So only joins with public tables count
 * here, which are small as a rule; T is then the only protected table, and stands there once. */
#include "query/print/statement.h"

static bool is_public(const brume_relation *relation)
{
    if (!relation)
        return true;
    if (relation->kind == BRUME_RELATION_TABLE)
        return relation->privacy == BRUME_PRIVACY_PUBLIC;
    return is_public(relation->left) && is_public(relation->right);
}

static bool find(const brume_relation *relation, size_t *table)
{
    switch (relation->kind) {
    case BRUME_RELATION_TABLE:
        *table = relation->table;
        return relation->privacy != BRUME_PRIVACY_PUBLIC;
    case BRUME_RELATION_SELECT:
        return find(relation->left, table);
    case BRUME_RELATION_JOIN:
        break;
    default:
        return false;
    }
    bool left = relation->join != BRUME_JOIN_RIGHT && relation->join != BRUME_JOIN_FULL;
    bool right = relation->join == BRUME_JOIN_INNER || relation->join == BRUME_JOIN_RIGHT;
    return (left && is_public(relation->right) && find(relation->left, table)) ||
           (right && is_public(relation->left) && find(relation->right, table));
}

bool brume_query_divides(const brume_query *query, size_t *table)
{
    return find(query->from, table);
}
