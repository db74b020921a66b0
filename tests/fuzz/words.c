/* Fuzz: any words on the command line are parsed or refused with a filled error. */
#include <stdlib.h>
#include <string.h>

#include "command/frame/call.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WORDS = 32 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    char *words[WORDS] = {0};
    int count = 0;
    for (size_t at = 0; at < size && count < WORDS; count++) {
        words[count] = text + at;
        char *end = memchr(text + at, '\n', size - at);
        if (end)
            *end = 0;
        at = end ? (size_t)(end - text) + 1 : size;
    }
    const brume_command *command = NULL;
    int used = 0;
    brume_error error = {0};
    brume_status status = count > 0 ? brume_find_command(count, words, &command, &used, &error)
                                    : BRUME_OK;
    if (status == BRUME_OK && count > 0) {
        brume_call call = {0};
        bool help = false;
        status = brume_call_parse(command, count - used, words + used, &call, &help, &error);
        brume_call_close(&call);
    }
    if (status != BRUME_OK && (error.status != status || !error.message[0]))
        abort();
    free(text);
    return 0;
}
