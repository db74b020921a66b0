/* A settled score as JSON: score.h says how to read it. */
#include <math.h>

#include "audit/query/score_parts.h"

static json_t *numbers(const double *values, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, isfinite(values[i]) ? json_real(values[i]) : json_null());
    return list;
}

/* The feature that has this place among those that are looked at together, and its name. */
static const brume_score_feature *feature_at(const brume_score *score, size_t at, const char **name)
{
    json_t *place;
    json_object_foreach (score->places, *name, place) {
        const brume_score_feature *f = &score->features[json_integer_value(place)];
        if (f->place == at + 1)
            return f;
    }
    return NULL;
}

static json_t *json_node(const brume_score *score, const brume_tree *tree, size_t node)
{
    const char *name = "";
    if (node >= BRUME_TREE_NODES)
        return json_real(tree->leaf[node - BRUME_TREE_NODES]);
    if (tree->upto[node] == BRUME_TREE_EVERYTHING)
        return json_node(score, tree, 2 * node + 1);
    const brume_score_feature *f = feature_at(score, tree->feature[node], &name);
    /* codes up to 0 are "absent", up to i the bins below edge i - 1 */
    size_t upto = tree->upto[node];
    json_t *below = upto == 0 || !f        ? json_string("absent")
                    : upto >= f->fine_bins ? json_null()
                                           : json_real(f->fine[upto - 1]);
    return json_pack("{s:s, s:o, s:o, s:o}", "feature", name, "below", below, "then",
                     json_node(score, tree, 2 * node + 1), "else",
                     json_node(score, tree, 2 * node + 2));
}

json_t *brume_score_to_json(const brume_score *score)
{
    json_t *list = json_array(), *trees = json_array(), *place;
    const char *name;
    json_object_foreach (score->places, name, place) {
        const brume_score_feature *f = &score->features[json_integer_value(place)];
        bool used = f->absent != 0;
        for (size_t i = 0; i < f->bins; i++)
            used = used || f->weight[i] != 0;
        if (used) /* the others add nothing */
            json_array_append_new(list,
                                  json_pack("{s:s, s:o, s:o, s:f}", "name", name, "edges",
                                            numbers(f->edges, f->bins - 1), "weights",
                                            numbers(f->weight, f->bins), "absent", f->absent));
    }
    for (size_t i = 0; i < score->trees.count; i++)
        json_array_append_new(trees, json_node(score, &score->trees.of[i], 0));
    return json_pack("{s:f, s:i, s:o, s:o}", "base", score->base, "steps", BRUME_SCORE_STEPS,
                     "features", list, "trees", trees);
}
