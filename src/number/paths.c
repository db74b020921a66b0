/* Which instruction sets there are. See the header. */
#include "number/paths.h"

static _Thread_local int limit = 2;

void brume_vector_limit(int most)
{
    limit = most;
}

int brume_vector_width(void)
{
    int width = 0;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
        width = 2;
    else if (__builtin_cpu_supports("avx2"))
        width = 1;
#endif
    return width < limit ? width : limit;
}
