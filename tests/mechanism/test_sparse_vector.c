/* Sparse vector: privacy by enumeration, the closed forms, the broken variants that must be caught,
 * and how the stream behaves. */
#include "mechanism/threshold/stream.c"

#include "check.h"

#include <stdlib.h>

#include <brume/mechanism/mechanism.h>
#include <brume/mechanism/sparse_vector.h>
#include <brume/noise/noise.h>

#include "chance.h"
#include "mechanism/threshold/threshold.h"
#include "random/tape.h"
#include "sample/inversion.h"
#include "stream_law.h"

static brume_error error;

/* All values of n queries in {-1, 0, 1} and all neighbours of sensitivity 1: the largest
 * hockey-stick at epsilon in both directions, and the largest loss. */
static void worst(const stream_noise *s, int n, bool monotone, double epsilon, double *delta,
                  double *loss)
{
    size_t patterns = (size_t)1 << n;
    int cases = 1, all = 1;
    for (int i = 0; i < n; i++)
        cases *= 3, all *= 5;
    double *laws = malloc((size_t)all * patterns * sizeof *laws); /* values in {-2 .. 2} */
    assert_non_null(laws);
    for (int a = 0; a < all; a++) {
        int values[STREAM_MOST];
        for (int i = 0, x = a; i < n; i++, x /= 5)
            values[i] = x % 5 - 2;
        stream_law(s, values, n, laws + (size_t)a * patterns);
    }
    *delta = *loss = 0;
    for (int a = 0; a < cases; a++)
        for (int d = 0; d < cases; d++) {
            size_t first = 0, second = 0, power = 1;
            bool down = false;
            for (int i = 0, x = a, y = d; i < n; i++, x /= 3, y /= 3, power *= 5) {
                first += (size_t)(x % 3 + 1) * power;
                second += (size_t)(x % 3 + y % 3) * power;
                down |= y % 3 == 0;
            }
            if (monotone && down) /* all up; the other direction is the reversed pair */
                continue;
            const double *p = laws + first * patterns, *q = laws + second * patterns;
            *delta = fmax(*delta, hockey_stick(p, q, patterns, epsilon));
            *delta = fmax(*delta, hockey_stick(q, p, patterns, epsilon));
            *loss = fmax(*loss, fmax(stream_loss(p, q, n), stream_loss(q, p, n)));
        }
    free(laws);
}

static stream_noise standard(double epsilon, int hits, bool monotone, bool even)
{
    brume_split split = {.hits = hits, .monotone = monotone, .even = even};
    stream_noise s = {.hits = hits};
    brume_split_scales(&split, epsilon, &s.threshold_scale, &s.query_scale);
    return s;
}

static void the_split_costs_epsilon_and_no_more(void **state)
{
    (void)state;
    for (int hits = 1; hits < 2000; hits = 1 + hits * 3)
        for (int monotone = 0; monotone < 2; monotone++)
            for (int even = 0; even < 2; even++)
                for (double epsilon = 1e-6; epsilon < 100; epsilon *= 7) {
                    stream_noise s = standard(epsilon, hits, monotone, even);
                    double weight = monotone ? hits : 2 * hits;
                    double cost = 1 / s.threshold_scale + weight / s.query_scale;
                    assert_close(cost, epsilon, 1e-14);
                    double ratio = weight / s.query_scale * s.threshold_scale;
                    assert_close(ratio, even ? 1 : cbrt(weight * weight), 1e-13);
                }
    stream_noise s = standard(1, 1, false, true); /* the textbook's 2/eps and 4/eps */
    assert_close(s.threshold_scale, 2, 1e-15);
    assert_close(s.query_scale, 4, 1e-15);
}

static void every_pair_of_neighbours_is_within_epsilon(void **state)
{
    (void)state;
    for (int hits = 1; hits <= 3; hits++)
        for (int monotone = 0; monotone < 2; monotone++)
            for (int even = 0; even < 2; even++)
                for (double epsilon = .5; epsilon <= 2; epsilon *= 2) {
                    stream_noise s = standard(epsilon, hits, monotone, even);
                    double delta, loss;
                    worst(&s, epsilon == 2 ? 4 : 3, monotone, epsilon, &delta, &loss);
                    assert_holds(delta <= 1e-13);
                    assert_holds(loss <= epsilon + 1e-9);
                }
}

static void above_threshold_is_tight_as_the_stream_grows(void **state)
{
    (void)state;
    /* D = (0^(k-1), 1), D' = (1^(k-1), 0), pattern below^(k-1) above. On a fine grid (sensitivity
     * 64 units) the loss is the continuous one: .39582 (k = 2), .83366 (5), .99997 (20). */
    const int unit = 64;
    static const double printed[][2] = {{2, .39582}, {5, .83366}, {20, .99997}};
    for (size_t c = 0; c < 3; c++) {
        int k = (int)printed[c][0];
        double p = 0, q = 0, scale = 2. * unit, a = exp(-1 / scale);
        for (int r = -60 * unit; r <= 60 * unit; r++) {
            double weight = (1 - a) / (1 + a) * exp(-abs(r) / scale);
            p += weight * pow(1 - stream_above(2 * scale, r), k - 1) *
                 stream_above(2 * scale, r - unit);
            q += weight * pow(1 - stream_above(2 * scale, r - unit), k - 1) *
                 stream_above(2 * scale, r);
        }
        assert_holds(log(p / q) <= 1);
        assert_close(log(p / q), printed[c][1], 1e-3);
    }
}

/* --- the closed forms, for continuous noise --- */

static double laplace_above(double scale, double t)
{
    return t >= 0 ? exp(-t / scale) / 2 : 1 - exp(t / scale) / 2;
}

/* P[pattern] by Simpson's rule between the kinks at whole numbers. */
static double continuous(const double *values, const int *pattern, int n, double threshold_scale,
                         double query_scale)
{
    double sum = 0;
    const int panels = 64;
    for (int whole = -120; whole < 120; whole++)
        for (int i = 0; i <= panels; i++) {
            double r = whole + (double)i / panels;
            double f = exp(-fabs(r) / threshold_scale) / (2 * threshold_scale);
            for (int j = 0; j < n; j++) {
                double above = laplace_above(query_scale, r - values[j]);
                f *= pattern[j] ? above : 1 - above;
            }
            sum += f * (i == 0 || i == panels ? 1 : i % 2 ? 4 : 2) / (3. * panels);
        }
    return sum;
}

static void the_closed_forms_of_above_threshold_hold(void **state)
{
    (void)state;
    const int hit[] = {1};
    static const double single[][2] = {
        {0, .5}, {1, .41811207876216434}, {-1, .58188792123783566}, {10, .053600341249418286}};
    for (size_t i = 0; i < 4; i++) {
        double value = -single[i][0], t = fabs(single[i][0]), a = 4, b = 2;
        double form = (a * a * exp(-t / a) - b * b * exp(-t / b)) / (2 * (a * a - b * b));
        if (single[i][0] < 0)
            form = 1 - form;
        assert_close(form, single[i][1], 1e-15);
        assert_close(continuous(&value, hit, 1, 2, 4), single[i][1], 1e-10);
    }
    double value = -1;
    assert_close(continuous(&value, hit, 1, 1, 2), .34304053294651523, 1e-9);
    /* equal scales: e^(-t/a) (2 + t/a)/4 */
    assert_close(continuous(&value, hit, 1, 2, 2), exp(-.5) * 2.5 / 4, 1e-9);
    const int second[] = {0, 1}, third[] = {0, 0, 1}, none[] = {0, 0, 0, 0, 0};
    assert_close(continuous((double[]){0, 1}, second, 2, 2, 4), .25052213084292813, 1e-10);
    assert_close(continuous((double[]){1, 0}, second, 2, 2, 4), .16863420960509248, 1e-10);
    assert_close(continuous((double[]){0, 0, 1}, third, 3, 2, 4), .12798575328683276, 1e-10);
    assert_close(continuous((double[]){1, 1, 0}, third, 3, 2, 4), .07100651662674374, 1e-10);
    assert_close(continuous((double[]){-5, -5, -5, -5, -5}, none, 5, 2, 4), .44953105130164428,
                 1e-10);
}

/* --- the broken variants: each is caught by the enumeration that the right one passes --- */

static void without_query_noise_the_loss_is_infinite(void **state)
{
    (void)state;
    stream_noise broken = standard(1, 1, false, true);
    broken.query_scale = 0;
    double delta, loss;
    worst(&broken, 2, false, 1, &delta, &loss);
    assert_true(isinf(loss) && delta > .1);
}

static void without_a_cutoff_the_loss_grows_without_bound(void **state)
{
    (void)state;
    /* f = 0^m 1^m against 1^m 0^m, pattern below^m above^m, nominal epsilon 1, fine grid */
    static const double printed[][2] = {{1, .396}, {2, .809}, {5, 2.098}, {10, 4.322}, {20, 8.874}};
    const int unit = 64;
    for (size_t c = 0; c < 5; c++) {
        double m = printed[c][0], p = 0, q = 0, scale = 2. * unit, a = exp(-1 / scale);
        for (int r = -60 * unit; r <= 60 * unit; r++) {
            double weight = (1 - a) / (1 + a) * exp(-abs(r) / scale);
            double low = stream_above(2 * scale, r), high = stream_above(2 * scale, r - unit);
            p += weight * pow(1 - low, m) * pow(high, m);
            q += weight * pow(1 - high, m) * pow(low, m);
        }
        assert_close(log(p / q), printed[c][1], 2e-3);
    }
    stream_noise broken = standard(1, 1, false, true);
    broken.hits = 5;
    double delta, loss;
    worst(&broken, 5, false, 1, &delta, &loss);
    assert_true(loss > 1.05 && delta > 1e-6);
}

static void query_noise_not_multiplied_by_the_hits_is_caught(void **state)
{
    (void)state;
    stream_noise broken = standard(1, 3, false, false);
    broken.query_scale /= 3;
    double delta, loss;
    worst(&broken, 4, false, 1, &delta, &loss);
    assert_true(loss > 1.05 && delta > 1e-6);
}

static void publishing_the_compared_value_is_caught(void **state)
{
    (void)state;
    /* One query, value f, the noisy value itself is published when above. Given the threshold
     * noise r the outcomes are "below" and "above with v" for v >= r. */
    double epsilon = 1, worst_loss = 0;
    stream_noise s = standard(epsilon, 1, false, true);
    double a = exp(-1 / s.threshold_scale), b = exp(-1 / s.query_scale);
    /* queries f = (0, 1) against (1, 0), pattern below, above with value v */
    for (int v = -40; v <= 40; v++) {
        double p = 0, q = 0;
        for (int r = -300; r <= v; r++) { /* above needs v >= r */
            double weight = (1 - a) / (1 + a) * exp(-abs(r) / s.threshold_scale);
            p += weight * (1 - stream_above(s.query_scale, r)) * (1 - b) / (1 + b) *
                 exp(-abs(v - 1) / s.query_scale);
            q += weight * (1 - stream_above(s.query_scale, r - 1)) * (1 - b) / (1 + b) *
                 exp(-abs(v) / s.query_scale);
        }
        worst_loss = fmax(worst_loss, fabs(log(p / q)));
    }
    /* with one query it is within epsilon; over many below-answers the published value reveals a
     * bound on the threshold: take k of them */
    for (int k = 1; k <= 40; k += 3)
        for (int v = -120; v <= 0; v++) {
            double p = 0, q = 0;
            for (int r = -600; r <= v; r++) {
                double weight = exp(-abs(r) / s.threshold_scale);
                p += weight * pow(1 - stream_above(s.query_scale, r), k);
                q += weight * pow(1 - stream_above(s.query_scale, r - 1), k);
            }
            worst_loss = fmax(worst_loss, fabs(log(p / q)) + 1 / s.query_scale);
        }
    assert_true(worst_loss > epsilon * 1.02);
}

static void without_threshold_noise_the_loss_grows_with_the_stream(void **state)
{
    (void)state;
    stream_noise broken = standard(1, 1, false, true);
    broken.threshold_scale = 0;
    double delta, loss;
    worst(&broken, 5, false, 1, &delta, &loss);
    assert_true(loss > 1.05 && delta > 1e-6);
}

static void equal_scales_cost_half_as_much_again_unless_monotone(void **state)
{
    (void)state;
    /* Lap(2), Lap(2): 1.5 epsilon in general, epsilon for monotone queries */
    stream_noise s = {.threshold_scale = 2, .query_scale = 2, .hits = 1};
    double delta, loss;
    worst(&s, 5, false, 1, &delta, &loss);
    assert_true(loss > 1.1 && loss <= 1.5);
    worst(&s, 5, true, 1, &delta, &loss);
    assert_true(delta <= 1e-13 && loss <= 1 + 1e-9);
}

/* --- the stream itself --- */

static brume_sparse_vector_options options_of(double epsilon, uint64_t hits, uint64_t sensitivity)
{
    return (brume_sparse_vector_options){.adjacency = BRUME_ADD_REMOVE,
                                         .sensitivity = sensitivity,
                                         .epsilon = epsilon,
                                         .hits = hits};
}

static void it_halts_by_itself_and_stays_halted(void **state)
{
    (void)state;
    brume_bits *bits = brume_tape_open_seeded(7);
    brume_sparse_vector_options options = options_of(1, 3, 1);
    brume_sparse_vector *stream = NULL;
    assert_ok(brume_sparse_vector_open(&options, bits, &stream, &error));
    bool above = false;
    for (int i = 0; i < 1000; i++)
        assert_ok(brume_sparse_vector_ask(stream, bits, -1000000, &above, NULL, &error));
    assert_false(above);
    assert_int_equal(brume_sparse_vector_left(stream), 3);
    for (int i = 0; i < 3; i++) {
        assert_ok(brume_sparse_vector_ask(stream, bits, 1000000, &above, NULL, &error));
        assert_true(above);
    }
    assert_int_equal(brume_sparse_vector_left(stream), 0);
    above = false;
    size_t read = brume_tape_main_read(bits);
    for (int i = 0; i < 3; i++) {
        assert_fails(brume_sparse_vector_ask(stream, bits, 1000000, &above, NULL, &error),
                     BRUME_EHALTED);
        assert_false(above);
    }
    assert_int_equal(brume_tape_main_read(bits), read);
    brume_sparse_vector_close(stream);
    brume_sparse_vector_close(NULL);
    brume_bits_close(bits);
}

static void numbers_come_with_fresh_noise_and_only_when_paid_for(void **state)
{
    (void)state;
    brume_bits *bits = brume_tape_open_seeded(8);
    brume_sparse_vector_options options = options_of(1, 20000, 1);
    options.epsilon = 1e6; /* the comparison is nearly noiseless: every query is a hit */
    options.epsilon_answers = 20000. / 3; /* the numbers have scale 3 */
    brume_sparse_vector *stream = NULL;
    assert_ok(brume_sparse_vector_open(&options, bits, &stream, &error));
    double a = exp(-1. / 3), zero = 0, square = 0;
    for (int i = 0; i < 20000; i++) {
        bool above;
        int64_t answer = 0;
        assert_ok(brume_sparse_vector_ask(stream, bits, 5000, &above, &answer, &error));
        assert_true(above);
        zero += answer == 5000;
        square += (double)((answer - 5000) * (answer - 5000));
    }
    double alarm = false_alarm_share(false_alarm_sparse_vector_answers);
    assert_true(
        binomial_plausible(20000, (uint64_t)zero, (1 - a) / (1 + a), (1 - a) / (1 + a), alarm));
    /* the compared value itself (mutant) would be 5000 nearly always */
    assert_false(binomial_plausible(20000, 20000, (1 - a) / (1 + a), (1 - a) / (1 + a), alarm));
    assert_close(square / 20000, 2 * a / (1 - a) / (1 - a), .5);
    brume_event event = brume_sparse_vector_event(stream);
    brume_cost cost;
    assert_ok(brume_event_cost(&event, &cost, &error));
    assert_close(cost.epsilon, 1e6 + 20000. / 3, 1e-15);
    brume_sparse_vector_close(stream);

    options.epsilon_answers = 0;
    assert_ok(brume_sparse_vector_open(&options, bits, &stream, &error));
    bool above = false;
    int64_t answer = 42;
    assert_ok(brume_sparse_vector_ask(stream, bits, 5000, &above, &answer, &error));
    assert_true(above && answer == 42);
    brume_sparse_vector_close(stream);
    brume_bits_close(bits);
}

static void the_event_names_the_right_card(void **state)
{
    (void)state;
    brume_bits *bits = brume_tape_open_seeded(9);
    brume_sparse_vector_options options = options_of(.5, 1, 3);
    options.even_split = true;
    brume_sparse_vector *stream = NULL;
    brume_cost cost;
    assert_ok(brume_sparse_vector_open(&options, bits, &stream, &error));
    brume_event event = brume_sparse_vector_event(stream);
    assert_int_equal(event.mechanism, 9);
    assert_ok(brume_event_cost(&event, &cost, &error));
    assert_true(cost.epsilon == .5 && event.sensitivity == 3);
    double alpha, card;
    event.parameter[2] = 100;
    assert_ok(brume_event_alpha(&event, .05, &card, &error));
    assert_ok(brume_sparse_vector_alpha(stream, 100, .05, &alpha, &error));
    assert_true(alpha == ceil(card) + 1); /* what the test below finds to hold for integer noise */
    assert_ok(brume_sparse_vector_alpha(stream, 1, .05, &alpha, &error));
    assert_fails(brume_sparse_vector_alpha(stream, 0, .05, &alpha, &error), BRUME_EARGUMENT);
    assert_fails(brume_sparse_vector_alpha(stream, 1, 1, &alpha, &error), BRUME_EARGUMENT);
    brume_sparse_vector_close(stream);
    options.hits = 2;
    options.monotone = true;
    assert_ok(brume_sparse_vector_open(&options, bits, &stream, &error));
    event = brume_sparse_vector_event(stream);
    assert_int_equal(event.mechanism, 10);
    assert_true(event.parameter[1] == 2 && event.parameter[2] == 1);
    assert_ok(brume_event_check(&event, &error));
    brume_sparse_vector_close(stream);
    brume_bits_close(bits);
}

static void accuracy_holds_for_the_stream(void **state)
{
    (void)state;
    /* P[some answer of k is wrong by more than alpha] <= beta, by the exact law of one query far on
     * each side; the union over queries is what the statement takes. */
    for (int k = 1; k <= 8; k *= 2)
        for (double beta = .4; beta > .001; beta /= 5) {
            brume_split split = {.hits = 1, .even = true};
            double real;
            assert_ok(brume_split_alpha_upper(&split, 1, 1, k, beta, &real, &error));
            int alpha = (int)ceil(real) + 1, values[STREAM_MOST];
            stream_noise s = standard(1, 1, false, true);
            for (int i = 0; i < k; i++)
                values[i] = -alpha - 1;
            static double law[STREAM_PATTERNS];
            stream_law(&s, values, k, law);
            assert_holds(1 - law[0] <= beta); /* no false hit */
            for (int i = 0; i < k; i++)
                values[i] = alpha + 1;
            stream_law(&s, values, k, law);
            assert_holds(1 - law[1] <= beta); /* the first is a hit */
        }
}

static void bad_options_are_refused_and_failure_tells_nothing(void **state)
{
    (void)state;
    brume_bits *bits = brume_tape_open_seeded(10);
    brume_sparse_vector *stream = (brume_sparse_vector *)&error;
    brume_sparse_vector_options good = options_of(1, 1, 1), bad;
    const double numbers[] = {NAN, INFINITY, 0, -1};
    for (int i = 0; i < 4; i++) {
        bad = good;
        bad.epsilon = numbers[i];
        assert_fails(brume_sparse_vector_open(&bad, bits, &stream, &error), BRUME_EARGUMENT);
        bad = good;
        bad.epsilon_answers = numbers[i];
        if (numbers[i] != 0)
            assert_fails(brume_sparse_vector_open(&bad, bits, &stream, &error), BRUME_EARGUMENT);
    }
    bad = good;
    bad.hits = 0;
    assert_fails(brume_sparse_vector_open(&bad, bits, &stream, &error), BRUME_EARGUMENT);
    bad = good;
    bad.sensitivity = 0;
    assert_fails(brume_sparse_vector_open(&bad, bits, &stream, &error), BRUME_EARGUMENT);
    bad = good;
    bad.threshold = INT64_MAX;
    assert_fails(brume_sparse_vector_open(&bad, bits, &stream, &error), BRUME_EARGUMENT);
    bad = good;
    bad.adjacency = (brume_adjacency)0;
    assert_fails(brume_sparse_vector_open(&bad, bits, &stream, &error), BRUME_EARGUMENT);
    bad = good;
    bad.epsilon = 1e-13;
    assert_fails(brume_sparse_vector_open(&bad, bits, &stream, &error), BRUME_EOVERFLOW);
    brume_bits *empty = brume_tape_open(NULL, 0, NULL, 0);
    assert_fails(brume_sparse_vector_open(&good, empty, &stream, &error), BRUME_ERANDOM);
    assert_ptr_equal(stream, &error);

    assert_ok(brume_sparse_vector_open(&good, bits, &stream, &error));
    bool above = true;
    int64_t answer = 42;
    assert_fails(brume_sparse_vector_ask(stream, empty, INT64_MAX, &above, &answer, &error),
                 BRUME_ERANDOM);
    assert_true(above && answer == 42 && brume_sparse_vector_left(stream) == 1);
    assert_ok(brume_sparse_vector_ask(stream, bits, INT64_MIN, &above, &answer, &error));
    assert_false(above);
    assert_ok(brume_sparse_vector_ask(stream, bits, INT64_MAX, &above, &answer, &error));
    assert_true(above);
    brume_sparse_vector_close(stream);
    brume_bits_close(bits);
    brume_bits_close(empty);
}

static double scale_of(const brume_noise *noise)
{
    const brume_inversion *law = (const brume_inversion *)noise;
    return law->low_bits ? law->whole.nearest : law->scale.nearest;
}

/* The noise of a stream drawn once more from the same bits: that of the threshold once, and for
 * each query, hit or not, a fresh one, and another for its number. Rejects: noise that is kept from
 * query to query, until a hit or for ever; noise that is left out, or used for both. */
static void every_query_is_compared_with_noise_of_its_own(void **state)
{
    (void)state;
    for (int answers = 0; answers <= 1; answers++) {
        brume_sparse_vector_options options = options_of(1, 40, 1);
        options.epsilon_answers = answers;
        options.threshold = 7;
        brume_bits *bits = brume_tape_open_seeded(21), *same = brume_tape_open_seeded(21);
        brume_sparse_vector *stream = NULL;
        assert_ok(brume_sparse_vector_open(&options, bits, &stream, &error));
        brume_stream_scales scales = brume_sparse_vector_scales(&options);
        brume_noise *threshold_law = NULL, *query_law = NULL, *answer_law = NULL;
        assert_ok(brume_noise_open_discrete_laplace(scales.threshold, &threshold_law, &error));
        assert_ok(brume_noise_open_discrete_laplace(scales.query, &query_law, &error));
        if (answers)
            assert_ok(brume_noise_open_discrete_laplace(scales.answer, &answer_law, &error));
        int64_t threshold = 0, least = INT64_MAX, most = INT64_MIN;
        assert_ok(brume_noise_draw(threshold_law, same, &threshold, &error));
        int hits = 0, misses = 0;
        for (int64_t i = 0; hits < 40; i++) {
            int64_t value = threshold + 7 - 60 + i % 3, noise = 0, fresh = 0, answer = 0;
            bool above = false;
            assert_ok(brume_noise_draw(query_law, same, &noise, &error));
            if (answers)
                assert_ok(brume_noise_draw(answer_law, same, &fresh, &error));
            assert_ok(brume_sparse_vector_ask(stream, bits, value, &above, &answer, &error));
            assert_true(above == (value + noise >= 7 + threshold));
            assert_true(!above || !answers || answer == value + fresh);
            hits += above;
            misses += !above;
            least = noise < least ? noise : least;
            most = noise > most ? noise : most;
        }
        assert_true(misses > 20 && least < 0 && most > 60);
        brume_noise_close(threshold_law);
        brume_noise_close(query_law);
        brume_noise_close(answer_law);
        brume_sparse_vector_close(stream);
        brume_bits_close(bits);
        brume_bits_close(same);
    }
}

/* Of the laws that the stream draws from, exactly: hits sensitivity/answers is at most their part
 * of epsilon, and the other two cost together no more than theirs. */
static void the_noise_of_a_stream_is_paid_without_a_rounding(void **state)
{
    (void)state;
    brume_bits *bits = brume_tape_open_seeded(5);
    for (uint64_t i = 0; i < 500; i++) {
        brume_sparse_vector_options options = {.adjacency = BRUME_ADD_REMOVE,
                                               .sensitivity = 1 + i % 7,
                                               .epsilon = 0.07 + 0.0113 * (double)i,
                                               .hits = 1 + i % 23,
                                               .epsilon_answers = 0.9 - 0.0017 * (double)i,
                                               .monotone = i % 2};
        brume_sparse_vector *stream = NULL;
        assert_ok(brume_sparse_vector_open(&options, bits, &stream, &error));
        double moved = (double)(options.hits * options.sensitivity);
        double spare = fma(scale_of(stream->answer_noise), options.epsilon_answers, -moved);
        assert_holds(spare >= 0 && spare <= 1e-14 * moved);
        long double weight = options.monotone ? 1 : 2;
        long double cost = (long double)options.sensitivity / scale_of(stream->threshold_law) +
                           weight * (long double)moved / scale_of(stream->query_noise);
        assert_holds((double)(cost / (long double)options.epsilon - 1) <= 1e-18);
        assert_holds((double)(cost / (long double)options.epsilon - 1) >= -1e-14);
        brume_sparse_vector_close(stream);
    }
    brume_bits_close(bits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_split_costs_epsilon_and_no_more),
        cmocka_unit_test(the_noise_of_a_stream_is_paid_without_a_rounding),
        cmocka_unit_test(every_pair_of_neighbours_is_within_epsilon),
        cmocka_unit_test(above_threshold_is_tight_as_the_stream_grows),
        cmocka_unit_test(the_closed_forms_of_above_threshold_hold),
        cmocka_unit_test(without_query_noise_the_loss_is_infinite),
        cmocka_unit_test(without_a_cutoff_the_loss_grows_without_bound),
        cmocka_unit_test(query_noise_not_multiplied_by_the_hits_is_caught),
        cmocka_unit_test(publishing_the_compared_value_is_caught),
        cmocka_unit_test(without_threshold_noise_the_loss_grows_with_the_stream),
        cmocka_unit_test(equal_scales_cost_half_as_much_again_unless_monotone),
        cmocka_unit_test(it_halts_by_itself_and_stays_halted),
        cmocka_unit_test(every_query_is_compared_with_noise_of_its_own),
        cmocka_unit_test(numbers_come_with_fresh_noise_and_only_when_paid_for),
        cmocka_unit_test(the_event_names_the_right_card),
        cmocka_unit_test(accuracy_holds_for_the_stream),
        cmocka_unit_test(bad_options_are_refused_and_failure_tells_nothing),
    };
    return cmocka_run_group_tests_name("sparse_vector", tests, NULL, NULL);
}
