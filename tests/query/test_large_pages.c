/* Memory that is given back all at once: blocks of their own, and regions that wait are empty. */
#include "check.h"

#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#include "query/collect/large_pages.h"

enum { LINE = 64, MIB = 1 << 20, MOST_WAITING = 64, THREADS = 4, TIMES = 50 };

static bool has_only(const unsigned char *block, size_t size, unsigned char byte)
{
    return block[0] == byte && memcmp(block, block + 1, size - 1) == 0;
}

static size_t resident_mib(void)
{
    unsigned long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu %lu", &size, &resident), 2);
    fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE) / MIB;
}

/* ---- blocks ---- */

static void blocks_begin_at_a_line_and_do_not_overlap(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 63, 64, 65, 4096, 3 * MIB, 100, MIB};
    enum { COUNT = sizeof sizes / sizeof *sizes };
    unsigned char *blocks[COUNT];
    brume_pages pages;
    brume_pages_open(&pages);
    for (size_t i = 0; i < COUNT; i++) {
        blocks[i] = brume_pages_take(&pages, sizes[i]);
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % LINE, 0);
        memset(blocks[i], (int)i + 1, sizes[i]);
    }
    for (size_t i = 0; i < COUNT; i++)
        assert_holds(has_only(blocks[i], sizes[i], (unsigned char)(i + 1)));
    brume_pages_close(&pages);
}

static void a_block_that_was_given_back_is_the_next_of_its_size(void **state)
{
    (void)state;
    brume_pages pages;
    brume_pages_open(&pages);
    void *small = brume_pages_take(&pages, 256), *large = brume_pages_take(&pages, 512);
    brume_pages_give(&pages, small, 256);
    brume_pages_give(&pages, NULL, 512);
    assert_ptr_not_equal(brume_pages_take(&pages, 512), small);
    assert_ptr_equal(brume_pages_take(&pages, 256), small);
    assert_ptr_not_equal(brume_pages_take(&pages, 256), small);
    brume_pages_give(&pages, large, 512);
    assert_ptr_equal(brume_pages_take(&pages, 512), large);
    assert_null(brume_pages_take(&pages, SIZE_MAX));
    brume_pages_close(&pages);
}

/* ---- regions that wait ---- */

/* What one bounding had is not there for the next. */
static void memory_that_waited_is_empty(void **state)
{
    (void)state;
    brume_pages pages;
    unsigned char *first = NULL;
    for (int i = 0; i < 3; i++) {
        brume_pages_open(&pages);
        unsigned char *block = brume_pages_take(&pages, MIB);
        assert_non_null(block);
        assert_holds(!first || block == first); /* it is the same memory: else nothing is tested */
        assert_holds(has_only(block, MIB, 0));
        memset(block, 0xa5, MIB);
        first = block;
        brume_pages_close(&pages);
    }
}

static void little_memory_waits(void **state)
{
    (void)state;
    size_t before = resident_mib();
    brume_pages pages;
    for (int i = 0; i < 3; i++) {
        brume_pages_open(&pages);
        for (int j = 0; j < 300; j++) {
            unsigned char *block = brume_pages_take(&pages, MIB);
            assert_non_null(block);
            memset(block, 1, MIB);
        }
        assert_holds(resident_mib() >= before + 300 - MOST_WAITING);
        brume_pages_close(&pages);
        assert_holds(resident_mib() <= before + MOST_WAITING + 2);
    }
}

static void *use(void *context)
{
    unsigned char byte = *(unsigned char *)context;
    for (int i = 0; i < TIMES; i++) {
        brume_pages pages;
        unsigned char *blocks[3];
        brume_pages_open(&pages);
        for (size_t j = 0; j < 3; j++) {
            blocks[j] = brume_pages_take(&pages, MIB);
            if (!blocks[j] || !has_only(blocks[j], MIB, 0))
                return context;
            memset(blocks[j], byte, MIB);
        }
        for (size_t j = 0; j < 3; j++)
            if (!has_only(blocks[j], MIB, byte))
                return context;
        brume_pages_close(&pages);
    }
    return NULL;
}

static void boundings_at_once_share_no_memory(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    unsigned char bytes[THREADS] = {1, 2, 3, 4};
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use, &bytes[i]), 0);
    for (size_t i = 0; i < THREADS; i++) {
        void *broken = NULL;
        assert_int_equal(pthread_join(threads[i], &broken), 0);
        assert_null(broken);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_that_waited_is_empty),
        cmocka_unit_test(blocks_begin_at_a_line_and_do_not_overlap),
        cmocka_unit_test(a_block_that_was_given_back_is_the_next_of_its_size),
        cmocka_unit_test(little_memory_waits),
        cmocka_unit_test(boundings_at_once_share_no_memory),
    };
    return cmocka_run_group_tests_name("memory of the bounding", tests, NULL, NULL);
}
