/* Columns as a text declares them: see the header. */
#include "columns.h"

#include "check.h"

void columns_read(const char *text, declared_columns *out)
{
    memset(out, 0, sizeof *out);
    while (text && *text) {
        char type[32];
        int used = 0;
        brume_column *column = &out->list[out->count];
        assert_true(out->count < COLUMNS_MOST);
        if (sscanf(text, " %31s %31[a-z0-9(,)]%n", out->names[out->count], type, &used) != 2)
            fail_msg("no columns: %s", text);
        size_t length = strlen(type);
        if (type[length - 1] == ',')
            type[length - 1] = 0;
        if (!brume_type_parse(type, &column->type))
            fail_msg("no type: %s", type);
        column->name = out->names[out->count++];
        text += used;
    }
}

brume_source columns_source(const char *location, const declared_columns *declared)
{
    return (brume_source){
        .location = location, .declared = declared->list, .declared_count = declared->count};
}
