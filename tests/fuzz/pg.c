/* Fuzz: any bytes at a PostgreSQL connection end in an orderly way, and cost something only where a
 * query was executed. The first byte says whether they start it, or come after its start. */
#include <stdlib.h>
#include <string.h>

#include "fake_backend.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fake_peer peer = {0};
    if (size == 0)
        return 0;
    if (data[0] % 4 == 0)
        fake_start(&peer, data + 1, size - 1);
    else
        fake_serve(&peer, data + 1, size - 1);
    /* Without Query, Execute or FETCH in it nothing can be asked. */
    if (peer.queries > 0 && !memchr(data, 'Q', size) && !memchr(data, 'E', size))
        abort();
    fake_clear(&peer);
    return 0;
}
