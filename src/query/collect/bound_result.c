/* The result of the bounding: exact sums of what was kept, group by group. */
#include "query/collect/bound_pairs.h"

#include <stdlib.h>

#include "base/error.h"

static void read_keys(const brume_bounder *bounder, uint32_t group, brume_key_value *keys)
{
    size_t length = 0;
    const unsigned char *from = brume_dictionary_bytes(&bounder->groups, group, &length);
    for (size_t i = 0; i < bounder->plan.key_count; i++) {
        brume_key_value *cell = &keys[i];
        *cell = (brume_key_value){.wire = bounder->key_wires[i], .null = !*from++};
        if (cell->null)
            continue;
        uint64_t text = 0;
        void *to = cell->wire == BRUME_WIRE_INTEGER ? (void *)&cell->integer
                   : cell->wire == BRUME_WIRE_REAL  ? (void *)&cell->real
                                                    : (void *)&text;
        memcpy(to, from, 8);
        from += 8;
        if (cell->wire == BRUME_WIRE_TEXT) {
            cell->text = (brume_text){(const char *)from, (size_t)text};
            from += text;
        }
    }
}

static void add_row(const brume_bounder *bounder, brume_bounded_value *values, const uint64_t *row)
{
    for (size_t i = 0; i < bounder->plan.value_count; i++) {
        if (!measured_has(row, i))
            continue;
        brume_i128 x = (brume_i128)measured_value(bounder, row, i) - bounder->values[i].centre;
        values[i].count++;
        values[i].sum += x;
        if (bounder->values[i].squares)
            values[i].squares += x * x;
    }
}

typedef void (*pair_visitor)(brume_bounder *bounder, const unit_slot *slot, size_t index);

static void visit_pairs(brume_bounder *bounder, pair_visitor visit)
{
    enum { AHEAD = 16 };
    for (size_t i = 0; i < SHARDS; i++) {
        const shard *own = &bounder->shards[i];
        for (size_t at = 0; at < own->slot_room; at++) {
            const unit_slot *slot = &own->slots[at], *later = &own->slots[at + AHEAD];
            if (at + AHEAD < own->slot_room && later->block) {
                __builtin_prefetch(later->block);
                __builtin_prefetch(later->block + 64);
            }
            for (size_t j = 0; slot->block && j < slot->count; j++)
                visit(bounder, slot, j);
        }
    }
}

static void visit_sum(brume_bounder *bounder, const unit_slot *slot, size_t index)
{
    uint32_t group = pairs_of(bounder, slot)[index].group;
    size_t count = bounder->plan.value_count;
    bounder->result[group].units++;
    bounder->result[group].rows++;
    if (count > 0)
        add_row(bounder, &bounder->result_values[group * count],
                (const uint64_t *)(const void *)data_of(bounder, slot, index));
}

/* The lists are filled from the front; `count` is counted up again. */
static void visit_list(brume_bounder *bounder, const unit_slot *slot, size_t index)
{
    uint32_t group = pairs_of(bounder, slot)[index].group;
    const uint64_t *row = (const uint64_t *)(const void *)data_of(bounder, slot, index);
    const uint64_t words[] = {brume_bound_row_rank(bounder, ranks_of(bounder, slot)[index], row),
                              0};
    uint32_t breaker = (uint32_t)brume_siphash_words(&bounder->choice_key, words, 2);
    for (size_t i = 0; i < bounder->plan.value_count; i++) {
        size_t at = (size_t)group * bounder->plan.value_count + i;
        if (!bounder->values[i].keep || !measured_has(row, i))
            continue;
        uint64_t place = bounder->result_values[at].count++;
        bounder->kept[at][place] = measured_value(bounder, row, i);
        bounder->breakers[at][place] = breaker;
    }
}

static brume_status list_values(brume_bounder *bounder, brume_error *error)
{
    bool any = false;
    for (size_t i = 0; i < bounder->plan.value_count; i++)
        any = any || bounder->values[i].keep;
    if (!any)
        return BRUME_OK;
    size_t lists = (size_t)bounder->result_groups * bounder->plan.value_count;
    bounder->kept = calloc(lists + 1, sizeof *bounder->kept);
    bounder->breakers = calloc(lists + 1, sizeof *bounder->breakers);
    if (!bounder->kept || !bounder->breakers)
        return brume_no_memory(error, "the units and groups");
    for (size_t at = 0; at < lists; at++) {
        brume_bounded_value *value = &bounder->result_values[at];
        if (!bounder->values[at % bounder->plan.value_count].keep)
            continue;
        bounder->kept[at] = malloc((size_t)(value->count + 1) * sizeof **bounder->kept);
        bounder->breakers[at] = malloc((size_t)(value->count + 1) * sizeof **bounder->breakers);
        if (!bounder->kept[at] || !bounder->breakers[at])
            return brume_no_memory(error, "the units and groups");
        value->kept = bounder->kept[at];
        value->breaker = bounder->breakers[at];
        value->count = 0;
    }
    visit_pairs(bounder, visit_list);
    return BRUME_OK;
}

static int compare_groups(const void *left, const void *right, void *key_count)
{
    const brume_bounded_group *a = left, *b = right;
    return brume_keys_compare(a->keys, b->keys, *(const size_t *)key_count);
}

void brume_groups_sort(brume_bounded_group *groups, size_t count, size_t key_count)
{
    if (count)
        qsort_r(groups, count, sizeof *groups, compare_groups, &key_count);
}

/* An open domain has the groups that some unit kept; a closed one all that were declared. */
static size_t drop_absent(brume_bounder *bounder)
{
    size_t left = 0;
    for (uint32_t i = 0; i < bounder->result_groups; i++)
        if (bounder->plan.closed || bounder->result[i].units > 0)
            bounder->result[left++] = bounder->result[i];
    return left;
}

brume_status brume_bounder_finish(brume_bounder *bounder, const brume_bounded_group **groups,
                                  size_t *count, brume_error *error)
{
    BRUME_TRY(brume_bounder_flush(bounder, error));
    uint32_t n = bounder->groups.count;
    size_t values = bounder->plan.value_count, keys = bounder->plan.key_count;
    bounder->result_groups = n;
    bounder->result = calloc((size_t)n + 1, sizeof *bounder->result);
    bounder->result_keys = calloc((size_t)n * keys + 1, sizeof *bounder->result_keys);
    bounder->result_values = calloc((size_t)n * values + 1, sizeof *bounder->result_values);
    if (!bounder->result || !bounder->result_keys || !bounder->result_values)
        return brume_no_memory(error, "the units and groups");
    for (uint32_t i = 0; i < n; i++) {
        read_keys(bounder, i, &bounder->result_keys[i * keys]);
        bounder->result[i].keys = &bounder->result_keys[i * keys];
        bounder->result[i].values = &bounder->result_values[i * values];
        bounder->result[i].number = i;
    }
    if (bounder->plan.totals) {
        BRUME_TRY(brume_totals_sum(bounder, error));
    } else {
        visit_pairs(bounder, visit_sum);
        BRUME_TRY(list_values(bounder, error));
    }
    *count = drop_absent(bounder);
    brume_groups_sort(bounder->result, *count, keys);
    *groups = bounder->result;
    return BRUME_OK;
}
