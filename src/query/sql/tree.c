/* Any tree of the grammar, by reflection: see the header. Its depth was bounded when it was parsed
 * (parse.c). */
#include "query/sql/tree.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Whether this member of a union is the one that is set. */
static bool is_set(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    uint32_t which;
    if (!(field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF))
        return true;
    memcpy(&which, (const char *)message + field->quantifier_offset, sizeof which);
    return which == field->id;
}

static void visit_field(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field,
                        brume_tree_visitor visit, void *context)
{
    const char *at = (const char *)message + field->offset;
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        size_t count;
        ProtobufCMessage *const *list;
        memcpy(&count, (const char *)message + field->quantifier_offset, sizeof count);
        memcpy((void *)&list, at, sizeof list);
        for (size_t i = 0; i < count; i++)
            brume_tree_visit(list[i], visit, context);
    } else if (is_set(message, field)) {
        const ProtobufCMessage *one;
        memcpy((void *)&one, at, sizeof one);
        brume_tree_visit(one, visit, context);
    }
}

void brume_tree_visit(const ProtobufCMessage *message, brume_tree_visitor visit, void *context)
{
    if (!message || !visit(context, message))
        return;
    const ProtobufCMessageDescriptor *kind = message->descriptor;
    for (unsigned i = 0; i < kind->n_fields; i++)
        if (kind->fields[i].type == PROTOBUF_C_TYPE_MESSAGE)
            visit_field(message, &kind->fields[i], visit, context);
}
