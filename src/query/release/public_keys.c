/* The values of keys that read public tables alone. */
#include "query/release/public_keys.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/expression/build.h"
#include "query/plan/key_domain.h"
#include "query/print/statement.h"

enum { MOST_TABLES = 8, FIRST_NUMBER = 180 }; /* numbers of relations that no walk gives */

/* ---- which tables, on which conditions ---- */

typedef struct public_part {
    const brume_relation *tables[MOST_TABLES]; /* TABLE relations, all public */
    size_t count;
    bool other;   /* something else was read */
    bool changed; /* a table was added */
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

/* A condition on public columns that ties another table to those that are there. */
static bool grow_by(void *context, const brume_expression *condition)
{
    public_part *part = context, read = {0};
    add_tables(&read, condition);
    bool touches = false;
    for (size_t i = 0; i < read.count; i++)
        touches = touches || has_table(part, read.tables[i]);
    if (read.other || !touches)
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
            may_be_missing(from->right, table, missing || right));
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

typedef struct key_values {
    brume_arena *arena;
    brume_type type;
    const char **texts;
    size_t count, room;
    bool known; /* few enough, and each can be written down */
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

static brume_status take_chunk(key_values *to, const brume_chunk *chunk, brume_error *error)
{
    const brume_chunk_column *column = &chunk->columns[0];
    for (size_t i = 0; to->known && i < chunk->row_count; i++) {
        char number[BRUME_KEY_TEXT], *text = NULL;
        if (brume_chunk_is_null(column, i)) {
            BRUME_TRY(add_value(to, NULL, error));
            continue;
        }
        if (column->texts) {
            brume_text from = column->texts[i];
            text = brume_arena_allocate(to->arena, from.length + 1);
            if (text)
                memcpy(text, from.data, from.length);
            to->known = !memchr(from.data, 0, from.length);
        } else {
            brume_integer_text(to->type, column->integers[i], number, sizeof number);
            text = brume_arena_text(to->arena, number);
        }
        if (!text)
            return brume_no_memory(error, "the keys");
        BRUME_TRY(add_value(to, text, error));
        to->known = to->known && to->count <= BRUME_KEY_VALUES;
    }
    return BRUME_OK;
}

static brume_status read_values(brume_engine *engine, const char *sql, key_values *to,
                                brume_error *error)
{
    brume_wire wires[] = {brume_type_wire(to->type), BRUME_WIRE_INTEGER};
    brume_rows *rows = NULL;
    const brume_chunk *chunk = NULL;
    BRUME_TRY(brume_engine_select(engine, sql, wires, 2, &rows, error));
    brume_status status = brume_rows_next(rows, &chunk, error);
    while (status == BRUME_OK && chunk && to->known) {
        status = take_chunk(to, chunk, error);
        if (status == BRUME_OK)
            status = brume_rows_next(rows, &chunk, error);
    }
    brume_rows_close(rows);
    return status;
}

static brume_status read_part(brume_ledger *ledger, const brume_question *question,
                              public_part *part, const brume_key *key, key_values *to,
                              brume_error *error)
{
    brume_query asked = {.from = join_tables(part),
                         .where = part->where,
                         .keys = key,
                         .key_count = 1,
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

static brume_status read_key(brume_ledger *ledger, const brume_question *question, brume_key *key,
                             brume_error *error)
{
    const brume_query *query = question->query;
    public_part part = {.builder = {.arena = query->arena, .error = error}};
    add_tables(&part, key->plain);
    if (part.other || part.count == 0 || !is_listable(key->plain->type))
        return BRUME_OK;
    bool missing = false;
    for (size_t i = 0; i < part.count; i++)
        missing = missing || may_be_missing(query->from, part.tables[i], false);
    do {
        part.changed = false;
        brume_query_conditions(query, grow_by, &part);
    } while (part.changed);
    if (!brume_query_conditions(query, narrow_by, &part))
        return part.builder.status != BRUME_OK ? part.builder.status
                                               : brume_no_memory(error, "the keys");
    key_values values = {.arena = query->arena, .type = key->plain->type, .known = true};
    BRUME_TRY(read_part(ledger, question, &part, key, &values, error));
    bool null = false;
    for (size_t i = 0; i < values.count; i++)
        null = null || !values.texts[i];
    if (missing && !null)
        BRUME_TRY(add_value(&values, NULL, error));
    key->values_known = values.known && values.count > 0;
    key->values = values.texts;
    key->value_count = values.count;
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
            BRUME_TRY(read_key(ledger, question, &keys[i], error));
    }
    query->keys = keys;
    return BRUME_OK;
}
