/* The table of commands. */
#include "command/command.h"

#include <string.h>

#define BRUME_COMMAND(name) extern const brume_command brume_command_##name;
#include "command/commands.def"
#undef BRUME_COMMAND

static const brume_command *const commands[] = {
#define BRUME_COMMAND(name) &brume_command_##name,
#include "command/commands.def"
#undef BRUME_COMMAND
};

const brume_command *const *brume_commands(size_t *count)
{
    *count = sizeof commands / sizeof *commands;
    return commands;
}

const brume_command *brume_command_by_name(const char *name)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

bool brume_command_is_of(const brume_command *command, const char *family)
{
    size_t length = strlen(family);
    return strncmp(command->name, family, length) == 0 && command->name[length] == ' ';
}
