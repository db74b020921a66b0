/* The Arrow C data and stream interfaces: how rows leave a session without a copy of any Arrow
 * library. The layout is that of the specification (arrow.apache.org, "The Arrow C data
 * interface"), which pyarrow, polars, pandas, DuckDB and nanoarrow read.
 *
 * Who gets a structure calls its `release` once, from any thread, when it is done with it; a moved
 * or released one has `release` NULL. */
#ifndef BRUME_ARROW_H
#define BRUME_ARROW_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The guards are the specification's: other headers declare the same structures. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE           2
#define ARROW_FLAG_MAP_KEYS_SORTED    4

struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

#endif

#ifdef __cplusplus
}
#endif

#endif
