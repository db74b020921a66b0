/* The values of keys that read public tables alone. */
#include "query/release/public_keys.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/expression/build.h"
#include "query/plan/key_domain.h"
#include "query/print/statement.h"

enum {
    MOST_TABLES = 8,
    MOST_KEYS = 32,
    FIRST_NUMBER = 180 /* numbers of relations that no walk gives */
};

/* ---- which tables, on which conditions ---- */

typedef struct public_part {
    const brume_relation *from;                /* of the query */
    const brume_relation *tables[MOST_TABLES]; /* TABLE relations, all public */
    size_t count, own_count;                   /* own: the first ones, which the key itself reads */
    bool other;                                /* something else was read */
    bool changed;                              /* a table was added */
    brume_builder builder;
    brume_node where;
} public_part;

static bool has_table(const public_part *part, const brume_relation *table)
{
    for (size_t i = 0; i < part->count; i++)
        if (part->tables[i] == table)
            return true;
    return false;
}

/* The tables that an expression reads, into `part`. */
static void add_tables(public_part *part, const brume_expression *node)
{
    if (node->operation == BRUME_OPERATION_COLUMN) {
        const brume_relation *table = node->relation;
        if (table->kind != BRUME_RELATION_TABLE || table->privacy != BRUME_PRIVACY_PUBLIC)
            part->other = true;
        else if (!has_table(part, table) && part->count < MOST_TABLES)
            part->tables[part->count++] = table;
        else if (!has_table(part, table))
            part->other = true;
    }
    for (size_t i = 0; i < node->argument_count; i++)
        add_tables(part, node->arguments[i]);
}

/* May rows of the query lack a row of the table: is it on the nullable side of an outer join? */
static bool may_be_missing(const brume_relation *from, const brume_relation *table, bool missing)
{
    if (from == table)
        return missing;
    if (from->kind != BRUME_RELATION_JOIN)
        return false;
    bool left = from->join == BRUME_JOIN_RIGHT || from->join == BRUME_JOIN_FULL;
    bool right = from->join == BRUME_JOIN_LEFT || from->join == BRUME_JOIN_FULL;
    return may_be_missing(from->left, table, missing || left) ||
           (from->join != BRUME_JOIN_SEMI && from->join != BRUME_JOIN_ANTI &&
            from->join != BRUME_JOIN_MARK && may_be_missing(from->right, table, missing || right));
}

/* A condition on public columns that ties another table to those that are there. Rows of the query
 * may lack a table on the nullable side of an outer join and still satisfy the condition, such as
 * a = COALESCE(b, a): a join with that table would not have them. */
static bool grow_by(void *context, const brume_expression *condition)
{
    public_part *part = context, read = {0};
    add_tables(&read, condition);
    bool touches = false, missing = false;
    for (size_t i = 0; i < read.count; i++) {
        bool there = has_table(part, read.tables[i]);
        touches = touches || there;
        missing = missing || (!there && may_be_missing(part->from, read.tables[i], false));
    }
    if (read.other || !touches || missing)
        return true;
    for (size_t i = 0; i < read.count; i++)
        if (!has_table(part, read.tables[i]) && part->count < MOST_TABLES) {
            part->tables[part->count++] = read.tables[i];
            part->changed = true;
        }
    return true;
}

/* A condition on the tables that are there. */
static bool narrow_by(void *context, const brume_expression *condition)
{
    public_part *part = context, read = {0};
    add_tables(&read, condition);
    bool inside = !read.other && read.count > 0;
    for (size_t i = 0; i < read.count; i++)
        inside = inside && has_table(part, read.tables[i]);
    brume_node both[] = {part->where, condition};
    if (inside)
        part->where = part->where ? brume_build_logic(&part->builder, BRUME_OPERATION_AND, both, 2)
                                  : condition;
    return !inside || part->where;
}

/* The tables as one relation. NULL if memory is out. */
static const brume_relation *join_tables(const public_part *part)
{
    const brume_relation *all = part->tables[0];
    for (size_t i = 1; i < part->count; i++) {
        brume_relation *made = brume_arena_allocate(part->builder.arena, sizeof *made);
        if (!made)
            return NULL;
        *made = (brume_relation){.kind = BRUME_RELATION_JOIN,
                                 .number = FIRST_NUMBER + i,
                                 .privacy = BRUME_PRIVACY_PUBLIC,
                                 .join = BRUME_JOIN_INNER,
                                 .left = all,
                                 .right = part->tables[i]};
        all = made;
    }
    return all;
}

/* ---- reading ---- */

/* The table at `place` of the engine must still be public. */
static brume_status check_public(brume_ledger *ledger, const brume_dataset *dataset,
                                 brume_engine *engine, size_t place, brume_error *error)
{
    brume_marks marks = {0};
    BRUME_TRY(brume_engine_marks(engine, place, false, &marks, error));
    brume_ledger_charge source = {.dataset = dataset->name,
                                  .marks = (const char *const *)marks.texts,
                                  .mark_count = marks.count,
                                  .read_mark_count = marks.read_count};
    brume_status status = brume_ledger_look_public(ledger, &source, error);
    brume_marks_clear(&marks);
    return status;
}

/* Only the public tables of the part are opened; `places` gets what follows FROM. */
static brume_status open_tables(brume_ledger *ledger, const brume_question *question,
                                const public_part *part, brume_engine **engine, const char **places,
                                brume_error *error)
{
    brume_source sources[MOST_TABLES];
    brume_column *columns[MOST_TABLES] = {NULL};
    size_t opened[MOST_TABLES], count = 0;
    brume_status status = BRUME_OK;
    for (size_t i = 0; status == BRUME_OK && i < part->count; i++) {
        size_t table = part->tables[i]->table;
        bool again = false; /* a table may stand twice in FROM */
        for (size_t j = 0; j < count; j++)
            again = again || opened[j] == table;
        if (again)
            continue;
        status =
            brume_policy_source(question->policies[table], &sources[count], &columns[count], error);
        sources[count].password = question->datasets[table]->password;
        opened[count++] = table;
    }
    if (status == BRUME_OK)
        status = brume_engine_open(sources, count, engine, error);
    for (size_t i = 0; status == BRUME_OK && i < count; i++) {
        places[opened[i]] = brume_engine_table(*engine, i);
        status = check_public(ledger, question->datasets[opened[i]], *engine, i, error);
    }
    for (size_t i = 0; i < count; i++)
        free(columns[i]);
    return status;
}

/* What keys have in a public part, row by row. */
typedef struct key_values {
    brume_arena *arena;
    size_t key_count;
    brume_type types[MOST_KEYS];
    const char **texts;
    size_t count, room; /* of texts */
    bool known;         /* few enough, and each can be written down */
} key_values;

static brume_status add_value(key_values *to, const char *text, brume_error *error)
{
    if (to->count == to->room) {
        size_t room = to->room ? 2 * to->room : 64;
        const char **grown = brume_arena_allocate(to->arena, room * sizeof *grown);
        if (!grown)
            return brume_no_memory(error, "the keys");
        if (to->count)
            memcpy(grown, to->texts, to->count * sizeof *grown);
        to->texts = grown;
        to->room = room;
    }
    to->texts[to->count++] = text;
    return BRUME_OK;
}

static brume_status take_value(key_values *to, const brume_chunk_column *column, brume_type type,
                               size_t row, brume_error *error)
{
    char number[BRUME_KEY_TEXT], *text = NULL;
    if (brume_chunk_is_null(column, row))
        return add_value(to, NULL, error);
    if (column->texts) {
        brume_text from = column->texts[row];
        text = brume_arena_allocate(to->arena, from.length + 1);
        if (text)
            memcpy(text, from.data, from.length);
        to->known = to->known && !memchr(from.data, 0, from.length);
    } else {
        brume_integer_text(type, column->integers[row], number, sizeof number);
        text = brume_arena_text(to->arena, number);
    }
    return text ? add_value(to, text, error) : brume_no_memory(error, "the keys");
}

static brume_status take_chunk(key_values *to, const brume_chunk *chunk, brume_error *error)
{
    for (size_t i = 0; to->known && i < chunk->row_count; i++) {
        for (size_t k = 0; k < to->key_count; k++)
            BRUME_TRY(take_value(to, &chunk->columns[k], to->types[k], i, error));
        to->known = to->known && to->count <= BRUME_KEY_VALUES * to->key_count;
    }
    return BRUME_OK;
}

static brume_status read_values(brume_engine *engine, const char *sql, key_values *to,
                                brume_error *error)
{
    brume_wire wires[MOST_KEYS + 1];
    brume_rows *rows = NULL;
    const brume_chunk *chunk = NULL;
    for (size_t k = 0; k < to->key_count; k++)
        wires[k] = brume_type_wire(to->types[k]);
    wires[to->key_count] = BRUME_WIRE_INTEGER;
    BRUME_TRY(brume_engine_select(engine, sql, wires, to->key_count + 1, &rows, error));
    brume_status status = brume_rows_next(rows, &chunk, error);
    while (status == BRUME_OK && chunk && to->known) {
        status = take_chunk(to, chunk, error);
        if (status == BRUME_OK)
            status = brume_rows_next(rows, &chunk, error);
    }
    brume_rows_close(rows);
    return status;
}

/* The combinations of values that the keys have in the part: each once. */
static brume_status read_part(brume_ledger *ledger, const brume_question *question,
                              public_part *part, const size_t *keys, key_values *to,
                              brume_error *error)
{
    brume_key plain[MOST_KEYS] = {{0}}; /* of the sets that have them */
    for (size_t k = 0; k < to->key_count; k++) {
        plain[k].plain = plain[k].expression = question->query->keys[keys[k]].plain;
        to->types[k] = plain[k].plain->type;
    }
    brume_query asked = {.from = join_tables(part),
                         .where = part->where,
                         .keys = plain,
                         .key_count = to->key_count,
                         .arena = part->builder.arena};
    const char **places = calloc(question->table_count + 1, sizeof *places);
    brume_engine *engine = NULL;
    char *sql = NULL;
    brume_status status = places && asked.from ? BRUME_OK : brume_no_memory(error, "the keys");
    if (status == BRUME_OK)
        status = open_tables(ledger, question, part, &engine, places, error);
    if (status == BRUME_OK)
        status = brume_query_print_groups(&asked, brume_engine_dialect(engine), places, NULL, 0,
                                          &sql, error);
    if (status == BRUME_OK)
        status = read_values(engine, sql, to, error);
    free(sql);
    free(places);
    brume_engine_close(engine);
    return status;
}

/* ---- keys ---- */

static bool is_listable(brume_type type)
{
    return type.kind == BRUME_TYPE_TEXT || type.kind == BRUME_TYPE_INTEGER ||
           type.kind == BRUME_TYPE_BIGINT || type.kind == BRUME_TYPE_DATE ||
           (type.kind == BRUME_TYPE_DECIMAL && type.scale == 0 && type.precision <= 18);
}

/* The public tables that a key reads, with all that conditions tie to them. `*found`: it reads
 * nothing else; `*missing`: rows of the query may lack them. */
static brume_status find_part(const brume_question *question, const brume_key *key,
                              public_part *part, bool *found, bool *missing, brume_error *error)
{
    const brume_query *query = question->query;
    *part = (public_part){.from = query->from, .builder = {.arena = query->arena, .error = error}};
    *missing = false;
    add_tables(part, key->plain);
    part->own_count = part->count;
    *found = !part->other && part->count > 0 && is_listable(key->plain->type);
    if (!*found)
        return BRUME_OK;
    for (size_t i = 0; i < part->count; i++)
        *missing = *missing || may_be_missing(query->from, part->tables[i], false);
    do {
        part->changed = false;
        brume_query_conditions(query, grow_by, part);
    } while (part->changed);
    if (!brume_query_conditions(query, narrow_by, part))
        return part->builder.status != BRUME_OK ? part->builder.status
                                                : brume_no_memory(error, "the keys");
    return BRUME_OK;
}

static brume_status read_key(brume_ledger *ledger, const brume_question *question, size_t index,
                             brume_key *key, brume_error *error)
{
    public_part part;
    bool found, missing, null = false;
    BRUME_TRY(find_part(question, key, &part, &found, &missing, error));
    /* Where the tables are missing a column of them is NULL, and another expression may be
     * anything: COALESCE(name, 'none') is none of the values that the tables have. */
    if (!found || (missing && key->plain->operation != BRUME_OPERATION_COLUMN))
        return BRUME_OK;
    key_values values = {.arena = question->query->arena, .key_count = 1, .known = true};
    BRUME_TRY(read_part(ledger, question, &part, &index, &values, error));
    if (values.known && values.count == 0 && part.own_count == 1) {
        /* No row of the table satisfies the conditions. A key without values would be a private
         * one, and whether that is accepted would depend on a constant in a condition: of a query
         * in stages, on what is not known before the first is paid. So all that the table has. */
        part.count = 1;
        part.where = NULL;
        BRUME_TRY(read_part(ledger, question, &part, &index, &values, error));
    }
    for (size_t i = 0; i < values.count; i++)
        null = null || !values.texts[i];
    if (missing && !null)
        BRUME_TRY(add_value(&values, NULL, error));
    key->values_known = values.known && values.count > 0;
    key->values = values.texts;
    key->value_count = values.count;
    return BRUME_OK;
}

/* ---- which values of several keys occur together ---- */

static bool has_same_tables(const public_part *a, const public_part *b)
{
    for (size_t i = 0; i < a->count; i++)
        if (!has_table(b, a->tables[i]))
            return false;
    return a->count == b->count;
}

/* The keys from `first` on that read the same public tables, which every row of the query has. */
static brume_status find_together(const brume_question *question, size_t first, const bool *is_tied,
                                  public_part *part, size_t *keys, size_t *count,
                                  brume_error *error)
{
    const brume_query *query = question->query;
    *count = 0;
    for (size_t i = first; i < query->key_count && *count < MOST_KEYS; i++) {
        public_part other;
        bool found, missing;
        if (is_tied[i] || !query->keys[i].values_known)
            continue;
        BRUME_TRY(find_part(question, &query->keys[i], &other, &found, &missing, error));
        if (!found || missing || (*count > 0 && !has_same_tables(part, &other)))
            continue;
        if (*count == 0 && i > first)
            return BRUME_OK;
        if (*count == 0)
            *part = other;
        keys[(*count)++] = i;
    }
    return BRUME_OK;
}

static brume_status read_tie(brume_ledger *ledger, brume_question *question, public_part *part,
                             const size_t *keys, size_t count, brume_key_tie *ties,
                             brume_error *error)
{
    brume_query *query = question->query;
    key_values values = {.arena = query->arena, .key_count = count, .known = true};
    BRUME_TRY(read_part(ledger, question, part, keys, &values, error));
    const size_t *own = brume_arena_copy(query->arena, keys, count * sizeof *keys);
    if (!own)
        return brume_no_memory(error, "the keys");
    if (values.known && values.count > 0)
        ties[query->tie_count++] = (brume_key_tie){count, own, values.count / count, values.texts};
    return BRUME_OK;
}

static brume_status read_ties(brume_ledger *ledger, brume_question *question, brume_error *error)
{
    brume_query *query = question->query;
    brume_key_tie *ties = brume_arena_allocate(query->arena, (query->key_count + 1) * sizeof *ties);
    bool *is_tied = brume_arena_allocate(query->arena, query->key_count + 1);
    if (!ties || !is_tied)
        return brume_no_memory(error, "the keys");
    memset(is_tied, 0, query->key_count + 1);
    query->tie_count = 0;
    query->ties = ties;
    for (size_t i = 0; i < query->key_count; i++) {
        public_part part = {0};
        size_t keys[MOST_KEYS], count;
        BRUME_TRY(find_together(question, i, is_tied, &part, keys, &count, error));
        for (size_t k = 0; k < count; k++)
            is_tied[keys[k]] = true;
        if (count > 1)
            BRUME_TRY(read_tie(ledger, question, &part, keys, count, ties, error));
    }
    return BRUME_OK;
}

brume_status brume_read_public_keys(brume_ledger *ledger, brume_question *question,
                                    brume_error *error)
{
    brume_query *query = question->query;
    brume_key *keys =
        brume_arena_copy(query->arena, query->keys, (query->key_count + 1) * sizeof *keys);
    if (!keys)
        return brume_no_memory(error, "the keys");
    for (size_t i = 0; i < query->key_count; i++) {
        bool declared = keys[i].is_column &&
                        question->policies[keys[i].table]->columns[keys[i].column].domain_count > 0;
        if (!declared)
            BRUME_TRY(read_key(ledger, question, i, &keys[i], error));
    }
    query->keys = keys;
    return read_ties(ledger, question, error);
}
