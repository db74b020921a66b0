/* Is it text? */
#ifndef BRUME_READER_UTF8_H
#define BRUME_READER_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Are these bytes valid UTF-8 (no surrogates, nothing overlong, nothing above U+10FFFF) without a
 * NUL? */
bool brume_utf8_is_text(const char *bytes, size_t length);

#endif
