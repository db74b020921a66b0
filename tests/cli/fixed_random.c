/* Preloaded by tests: what the kernel gives to brume as randomness is a function of its arguments
 * and of how often it was asked, so that a test of the command line does the same in every run and
 * cannot fail by chance. Other programs get the kernel's own.
 *
 * A case that is about randomness itself runs without it: LD_PRELOAD= brume ... */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_uint_fast64_t asked;

/* A hash (FNV-1a) of the arguments behind the program's name; *brume: is the name brume's? */
static uint64_t hash_of_arguments(int *brume)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    char text[4096], name[16] = "";
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC), first = 1;
    size_t length = 0;
    for (ssize_t got; file >= 0 && (got = read(file, text, sizeof text)) > 0;)
        for (ssize_t i = 0; i < got; i++) {
            if (!first) {
                hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
            } else if (text[i] == '/') {
                length = 0;
            } else {
                first = text[i] != 0;
                if (length < sizeof name)
                    name[length++] = text[i];
            }
        }
    if (file >= 0)
        close(file);
    *brume = strncmp(name, "brume", sizeof name) == 0;
    return hash;
}

ssize_t getrandom(void *buffer, size_t length, unsigned flags)
{
    int brume = 0, before = errno;
    uint64_t state = hash_of_arguments(&brume);
    if (!brume)
        return syscall(SYS_getrandom, buffer, length, flags);
    errno = before;
    state += UINT64_C(0xd1342543de82ef95) * (1 + atomic_fetch_add(&asked, 1));
    unsigned char *bytes = buffer;
    for (size_t i = 0; i < length; i++) { /* SplitMix64, a byte a step */
        uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        bytes[i] = (unsigned char)((z ^ (z >> 31)) >> 56);
    }
    return (ssize_t)length;
}
