/* Memory that is freed all at once: everything of one query lives in one arena. */
#ifndef BRUME_QUERY_ARENA_H
#define BRUME_QUERY_ARENA_H

#include <stddef.h>

#include <brume/status.h>

typedef struct brume_arena brume_arena;

/* NULL: out of memory. */
brume_arena *brume_arena_open(void);
void brume_arena_close(brume_arena *arena);

/* Zeroed and aligned for anything; NULL: out of memory, or more than the arena's limit (64 MiB). */
void *brume_arena_allocate(brume_arena *arena, size_t size);
void *brume_arena_copy(brume_arena *arena, const void *data, size_t size);
char *brume_arena_text(brume_arena *arena, const char *text);
char *brume_arena_format(brume_arena *arena, const char *format, ...) BRUME_PRINTF(2, 3);

#endif
