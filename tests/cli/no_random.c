/* Preloaded by tests: the kernel has no randomness to give. */
#include <errno.h>
#include <sys/random.h>

ssize_t getrandom(void *buffer, size_t length, unsigned flags)
{
    (void)buffer;
    (void)length;
    (void)flags;
    errno = ENOSYS;
    return -1;
}
