/* Words of operations, and equality of trees. */
#include "query/expression/expression.h"

#include <string.h>

const char *brume_operation_word(brume_operation operation)
{
    static const char *const words[] = {
#define BRUME_OPERATION(name, word) word,
#include "query/expression/operation.def"
#undef BRUME_OPERATION
    };
    return words[operation];
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

bool brume_expression_equal(const brume_expression *a, const brume_expression *b)
{
    if (a == b)
        return true;
    if (a->operation != b->operation || !brume_type_equal(a->type, b->type) ||
        a->argument_count != b->argument_count || a->relation != b->relation ||
        a->column != b->column || a->size != b->size || !same_text(a->text, b->text) ||
        memcmp(a->number, b->number, sizeof a->number) != 0)
        return false;
    for (size_t i = 0; i < a->argument_count; i++)
        if (!brume_expression_equal(a->arguments[i], b->arguments[i]))
            return false;
    return true;
}
