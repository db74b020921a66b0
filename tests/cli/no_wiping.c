/* A system whose forks wipe no memory, as under an emulator: brume then takes its random words in
 * another order. tools/arm64 preloads it where it compares answers under an emulator with those of
 * this machine. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int madvise(void *address, size_t length, int advice)
{
    if (advice == MADV_WIPEONFORK) {
        errno = EINVAL;
        return -1;
    }
    return (int)syscall(SYS_madvise, address, length, advice);
}
