/* One source, several instruction sets: the loader picks the best the processor has. Kernels are
 * plain loops of certified operations (kernel.h), so every version gives the same bits. */
#ifndef BRUME_SAMPLE_CLONES_H
#define BRUME_SAMPLE_CLONES_H

#ifdef BRUME_CLONES
/* tests: one instruction set, chosen by them */
#elif defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__linux__) &&     \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define BRUME_CLONES                                                                               \
    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"), noinline,         \
                   optimize("O3")))
#else
#define BRUME_CLONES __attribute__((noinline))
#endif

#endif
