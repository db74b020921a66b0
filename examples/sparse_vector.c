/* Sparse vector: watch a stream of counts and report the days above a threshold. Only the hits are
 * paid for, however many days pass; the stream halts by itself. */
#include <inttypes.h>

#include <brume/mechanism/sparse_vector.h>

#include "must.h"

enum { DAYS = 30 };

int main(void)
{
    brume_error error;
    brume_bits *bits = NULL;
    brume_sparse_vector *stream = NULL;
    const brume_sparse_vector_options options = {
        .adjacency = BRUME_ADD_REMOVE,
        .sensitivity = 1, /* one patient is one case on one day */
        .threshold = 500,
        .epsilon = 1,
        .hits = 2,
        .epsilon_answers = 0.5, /* also say how many, on the days that are reported */
        .monotone = true,       /* one patient more moves no count down */
    };
    double alpha;
    must(brume_bits_open(&bits, &error), &error);
    must(brume_sparse_vector_open(&options, bits, &stream, &error), &error);
    must(brume_sparse_vector_alpha(stream, DAYS, 0.05, &alpha, &error), &error);
    printf("counts further than %.0f from 500 are told apart with 95 %%\n", alpha);
    for (int day = 1; day <= DAYS && brume_sparse_vector_left(stream) > 0; day++) {
        bool above;
        int64_t answer = 0, cases = day % 9 == 0 ? 900 : 40 + day;
        must(brume_sparse_vector_ask(stream, bits, cases, &above, &answer, &error), &error);
        if (above)
            printf("day %2d: above, about %" PRId64 "\n", day, answer);
    }
    if (brume_sparse_vector_left(stream) == 0) {
        bool above;
        brume_status status = brume_sparse_vector_ask(stream, bits, 0, &above, NULL, &error);
        printf("halted: %s\n", brume_status_text(status));
    }
    brume_sparse_vector_close(stream);
    brume_bits_close(bits);
    return 0;
}
