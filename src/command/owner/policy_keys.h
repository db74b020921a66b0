/* The keys of a policy file as words of a command line, and faults with their place. Shared by
 * policy_keys.c and policy_file.c. */
#ifndef BRUME_COMMAND_POLICY_KEYS_H
#define BRUME_COMMAND_POLICY_KEYS_H

#include "command/command.h"
#include "command/owner/yaml.h"

struct brume_policy_file;

/* A file while it is read. */
typedef struct brume_policy_reading {
    const brume_command *command;
    const char *path, *dataset;
    char *folder; /* of the file, resolved */
    struct brume_policy_file *file;
    brume_error *error;
} brume_policy_reading;

/* The error that `status` is, with the place of `node`; options are called keys here. */
brume_status brume_policy_at(const brume_policy_reading *from, const brume_yaml *node,
                             brume_status status);

/* A fault of a node. */
brume_status brume_policy_fault(const brume_policy_reading *from, const brume_yaml *node,
                                brume_status status, const char *hint, const char *message);

/* Is the node of that kind, and no empty text? */
BRUME_MUST_USE brume_status brume_policy_need(const brume_policy_reading *from,
                                              const brume_yaml *node, brume_yaml_kind kind,
                                              const char *hint);

/* The keys of a map that are options, as words; `table`: of a table, else of the dataset. `source`,
 * `link`, `identifier`, `domain` and `tables` are left to the caller. */
BRUME_MUST_USE brume_status brume_policy_words(const brume_policy_reading *from,
                                               const brume_yaml *map, bool table, char ***words,
                                               size_t *count);
void brume_policy_words_free(char **words, size_t count);

/* The words as a call of the command, on `name` and `source`. */
BRUME_MUST_USE brume_status brume_policy_call(const brume_policy_reading *from, const char *name,
                                              const char *source, char **words, size_t count,
                                              brume_call *call);

#endif
