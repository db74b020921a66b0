/* Reading Thrift's compact protocol, in which Parquet writes its footer and the headers of its
 * pages.
 *
 * A reader of bytes in memory. After the first fault (a length beyond the end, a type that was not
 * expected, structures nested too deep) `failed` is set and stays: every further call reads
 * nothing, so that callers may check it once at the end. Nothing is read beyond `end`. */
#ifndef BRUME_READER_PARQUET_THRIFT_H
#define BRUME_READER_PARQUET_THRIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

typedef struct brume_thrift {
    const uint8_t *at, *end;
    bool failed;
} brume_thrift;

/* Start with {0}; brume_thrift_next counts on what it left there. */
typedef struct brume_thrift_field {
    int id;
    unsigned type;
} brume_thrift_field;

/* The next field of a structure; false at its end and after a fault. Each field must then be read
 * by one of the calls below or skipped. */
bool brume_thrift_next(brume_thrift *in, brume_thrift_field *field);

/* The value of the field. A value of another type is a fault; the result is then 0 or empty. */
int64_t brume_thrift_integer(brume_thrift *in, brume_thrift_field field);
int32_t brume_thrift_int32(brume_thrift *in, brume_thrift_field field); /* fault: out of range */
bool brume_thrift_boolean(brume_thrift *in, brume_thrift_field field);
brume_text brume_thrift_binary(brume_thrift *in, brume_thrift_field field);

/* The field is a structure (its fields come next), or a list of structures, of which the number is
 * given; it is at most the number of bytes left. */
void brume_thrift_struct(brume_thrift *in, brume_thrift_field field);
size_t brume_thrift_structs(brume_thrift *in, brume_thrift_field field);

void brume_thrift_skip(brume_thrift *in, brume_thrift_field field);

#endif
