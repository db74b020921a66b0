/* What value.c and value_time.c share. */
#ifndef BRUME_READER_VALUE_PARTS_H
#define BRUME_READER_VALUE_PARTS_H

#include "base/text.h"

/* Without the spaces and tabs around. */
brume_text brume_value_trim(brume_text text);

#endif
