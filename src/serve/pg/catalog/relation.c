/* The names of the catalog. Promises: relation.h. */
#include "serve/pg/catalog/relation.h"

#include <string.h>

const brume_pg_relation brume_pg_relations[] = {
#define PG_CATALOG(name, oid, ...)     {"pg_catalog", #name, oid, #__VA_ARGS__},
#define PG_INFORMATION(name, oid, ...) {"information_schema", #name, oid, #__VA_ARGS__},
#define PG_ROWS(name, ...)             {"rows", #name, 0, #__VA_ARGS__},
#include "serve/pg/catalog/relations.def"
#undef PG_CATALOG
#undef PG_INFORMATION
#undef PG_ROWS
};
const size_t brume_pg_relation_count = sizeof brume_pg_relations / sizeof *brume_pg_relations;

const brume_pg_type brume_pg_types[] = {
#define BRUME_PG_TYPE(...) {__VA_ARGS__},
#include "serve/pg/catalog/types.def"
#undef BRUME_PG_TYPE
};
const size_t brume_pg_type_count = sizeof brume_pg_types / sizeof *brume_pg_types;

const brume_pg_relation *brume_pg_relation_find(const char *schema, const char *name)
{
    for (size_t i = 0; i < brume_pg_relation_count; i++)
        if (strcmp(brume_pg_relations[i].name, name) == 0 &&
            strcmp(brume_pg_relations[i].schema, schema) == 0)
            return &brume_pg_relations[i];
    return NULL;
}

/* The next word, which ends at a space, a comma or the end. */
static void take_word(const char **at, char word[BRUME_PG_NAME_SIZE])
{
    size_t length = strcspn(*at, " ,");
    size_t kept = length < BRUME_PG_NAME_SIZE ? length : BRUME_PG_NAME_SIZE - 1;
    memcpy(word, *at, kept);
    word[kept] = 0;
    *at += length;
    *at += strspn(*at, " ,");
}

bool brume_pg_next_column(const char **at, char name[BRUME_PG_NAME_SIZE],
                          char type[BRUME_PG_NAME_SIZE])
{
    if (!**at)
        return false;
    take_word(at, name);
    take_word(at, type);
    return true;
}

const brume_pg_type *brume_pg_type_named(const char *name, bool *is_array)
{
    static const char *const others[][2] = {{"int", "int4"},
                                            {"decimal", "numeric"},
                                            {"float", "float8"},
                                            {"double", "float8"},
                                            {"string", "text"},
                                            {"sql_identifier", "name"},
                                            {"cardinal_number", "int4"},
                                            {"yes_or_no", "varchar"},
                                            {"character_data", "varchar"},
                                            {"time_stamp", "timestamptz"},
                                            {"regprocedure", "regproc"}};
    *is_array = *name == '_';
    name += *is_array;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i][0], name) == 0)
            name = others[i][1];
    for (size_t i = 0; i < brume_pg_type_count; i++)
        if (strcmp(brume_pg_types[i].name, name) == 0 ||
            strcmp(brume_pg_types[i].sql_name, name) == 0)
            return &brume_pg_types[i];
    return NULL;
}

const brume_pg_type *brume_pg_type_of_column(const char *column, bool *is_array)
{
    char name[BRUME_PG_NAME_SIZE], type[BRUME_PG_NAME_SIZE];
    for (size_t i = 0; i < brume_pg_relation_count; i++)
        for (const char *at = brume_pg_relations[i].columns; brume_pg_next_column(&at, name, type);)
            if (strcmp(name, column) == 0 && strcmp(name, "like") != 0)
                return brume_pg_type_named(type, is_array);
    return NULL;
}
