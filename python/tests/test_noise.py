"""Noise on numpy arrays: types, shapes, no copies, refusals. Laws are tested in C."""

import copy
import os
import pickle
import threading
import time

import numpy as np
import pytest

import brume

INTEGER_NOISES = [brume.laplace, brume.discrete_laplace, brume.gaussian, brume.discrete_gaussian]


@pytest.mark.parametrize("noise", INTEGER_NOISES)
def test_tiny_noise_leaves_whole_numbers(noise):
    # P[|noise| >= 1/2] < 2 exp(-500) at spread 0.001 for each law
    values = np.arange(-5, 1000, dtype=np.int64).reshape(5, -1)
    result = noise(values, 0.001)
    assert result.dtype == np.int64 and result.shape == values.shape
    assert (result == values).all()


@pytest.mark.parametrize("noise", INTEGER_NOISES)
def test_wide_noise_moves_them(noise):
    # P[one draw is 0] < 1e-4 at spread 1e4; that 50 of 100 are: below C(100, 50) 1e-200
    assert np.count_nonzero(noise(np.zeros(100, dtype=np.int64), 1e4)) > 50


@pytest.mark.parametrize("noise", INTEGER_NOISES)
def test_out_is_written_in_place(noise):
    values = np.zeros(10, dtype=np.int64)
    assert noise(values, 1e6, out=values) is values
    assert values.any()


def test_reals_are_rounded_to_a_public_grid():
    result = brume.laplace(np.array([0.5, -3.25]), 1.0, exponent=-2)
    assert result.dtype == np.float64
    assert (result * 4 == np.round(result * 4)).all()


def test_scalars_give_scalars():
    assert brume.discrete_laplace(7, 0.001) == 7
    assert np.ndim(brume.laplace(7.0, 1.0)) == 0


def test_other_whole_numbers_are_converted():
    assert (brume.discrete_laplace(np.array([1, 2], dtype=np.int8), 0.001) == [1, 2]).all()
    assert (brume.discrete_laplace([True, False], 0.001) == [1, 0]).all()


@pytest.mark.parametrize("values", [np.array([1.5]), np.array(["a"]), np.array([1], dtype=np.uint64),
                                    np.array([object()])])
def test_wrong_types_say_what_to_do(values):
    with pytest.raises(TypeError, match="astype"):
        brume.discrete_laplace(values, 1.0)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_reals_must_be_finite(bad):
    with pytest.raises(brume.ArgumentError):
        brume.laplace(np.array([1.0, bad]), 1.0)


@pytest.mark.parametrize("scale", [0, -1, np.nan, np.inf])
def test_scales_must_be_positive(scale):
    with pytest.raises(brume.ArgumentError) as caught:
        brume.laplace(np.zeros(3, dtype=np.int64), scale)
    assert caught.value.code == "argument" and caught.value.exit_code == 2


@pytest.mark.parametrize("out", [np.zeros(4), np.zeros(3, dtype=np.int64),
                                 np.zeros(8, dtype=np.int64)[::2], [0, 0, 0, 0]])
def test_out_must_fit(out):
    with pytest.raises((TypeError, ValueError)):
        brume.laplace(np.zeros(4, dtype=np.int64), 1.0, out=out)


def test_empty_arrays():
    assert brume.laplace(np.zeros(0, dtype=np.int64), 1.0).size == 0


def test_randomized_response():
    truth = np.array([0, 1, 2, 3], dtype=np.uint8)
    assert (brume.randomized_response(truth, 60.0, 4) == truth).all()  # e^-60 each
    with pytest.raises(brume.ArgumentError):
        brume.randomized_response(np.array([4]), 1.0, 4)
    with pytest.raises(ValueError):
        brume.randomized_response(np.array([-1]), 1.0)
    share = brume.randomized_response_estimate(500, 1000, 1.0)
    assert share.lower < share.estimate == 0.5 < share.upper


def test_choices():
    assert brume.exponential([0, 1000, 3], 1.0) == 1  # e^-498 each
    assert brume.permute_and_flip([0, 1000, 3], 1.0) == 1
    assert brume.noisy_max([0, 1000, 3], 1.0) == 1
    for bad in ([], [[1.0]], ["a"]):
        with pytest.raises(ValueError):
            brume.exponential(bad, 1.0)
    with pytest.raises(brume.ArgumentError):
        brume.exponential([np.nan], 1.0)
    with pytest.raises(ValueError, match="add-remove"):
        brume.exponential([1.0], 1.0, adjacency="neighbour")


def test_sparse_vector_halts():
    with brume.SparseVector(1000, 100.0, hits=2) as stream:
        assert stream.ask(-(10**6)) is False
        assert stream.ask(10**6) is True
        assert stream.hits_left == 1
        assert stream.ask(10**6) is True
        with pytest.raises(brume.HaltedError):
            stream.ask(0)
    with pytest.raises(ValueError, match="closed"):
        stream.ask(0)


def test_threads_have_their_own_bits():
    results = []

    def draw():
        results.append(tuple(brume.laplace(np.zeros(8, dtype=np.int64), 1e9)))

    threads = [threading.Thread(target=draw) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(results)) == 16


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_fork_draws_other_noise():
    brume.laplace(0, 1e9)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, np.array(brume.laplace(np.zeros(8, dtype=np.int64), 1e9)).tobytes())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reading, 64) != brume.laplace(np.zeros(8, dtype=np.int64), 1e9).tobytes()


def test_out_may_not_overlap_the_values():
    values = np.zeros(10, dtype=np.int64)
    with pytest.raises(ValueError, match="overlaps"):
        brume.laplace(values[:-1], 1.0, out=values[1:])
    brume.laplace(values[:5], 1.0, out=values[5:])


def test_arrays_that_c_cannot_take_as_they_are():
    odd = np.zeros(81, dtype=np.uint8)[1:].view(np.int64)  # not aligned
    assert not odd.flags.aligned and (brume.discrete_laplace(odd, 0.001) == 0).all()
    with pytest.raises(ValueError, match="aligned"):
        brume.discrete_laplace(np.zeros(10, dtype=np.int64), 0.001, out=odd)
    assert (brume.discrete_laplace(np.arange(10)[::2], 0.001) == [0, 2, 4, 6, 8]).all()
    assert (brume.discrete_laplace(np.arange(5).astype(">i8"), 0.001) == np.arange(5)).all()


def test_the_gil_is_released_while_noise_is_drawn():
    """Another thread runs in the middle of a draw of some hundred milliseconds."""
    values, times = np.zeros(10_000_000, dtype=np.int64), []
    drawn = threading.Thread(target=lambda: times.extend(
        (time.monotonic(), brume.laplace(values, 10.0, out=values)[0], time.monotonic())))
    drawn.start()
    seen = []
    while drawn.is_alive():
        seen.append(time.monotonic())
        time.sleep(0)
    begin, _, end = times
    fifth = (end - begin) / 5
    assert any(begin + fifth < moment < end - fifth for moment in seen)


@pytest.mark.parametrize("options, wanted", [
    ({"sensitivity": 1.9}, TypeError), ({"sensitivity": 2**64 + 1}, brume.ArgumentError),
    ({"hits": 2**64 + 1}, brume.ArgumentError), ({"hits": 0}, brume.ArgumentError), ({"hits": "3"}, TypeError),
])
def test_no_number_of_a_stream_is_cut_off(options, wanted):
    with pytest.raises(wanted):
        brume.SparseVector(100, 1.0, **options)
    with pytest.raises(brume.ArgumentError):
        brume.SparseVector(2**64, 1.0)


def test_a_stream_clamps_what_it_is_asked():
    """2**63 taken modulo 2**64 would be far below every threshold."""
    with brume.SparseVector(0, 1.0, hits=3) as stream:
        assert stream.ask(2**63) is True and stream.ask(2**64 + 2**62) is True and stream.ask(-(2**63) - 1) is False
        with pytest.raises(TypeError, match="whole number"):
            stream.ask(0.5)


def test_a_stream_cannot_be_copied():
    stream = brume.SparseVector(0, 1.0)
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="paid for once"):
            copied(stream)


def test_threads_that_share_a_stream_get_so_many_hits_and_no_more():
    for _ in range(20):
        stream, told = brume.SparseVector(0, 1.0, hits=10), []

        def ask():
            try:
                while True:
                    told.append(stream.ask(10**9))
            except (brume.HaltedError, ValueError):
                pass

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert told == [True] * 10
        stream.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_stream_does_not_survive_a_fork():
    """Two processes with the same noisy threshold would have paid for it once."""
    stream = brume.SparseVector(0, 1.0, hits=3)
    child = os.fork()
    if child == 0:
        try:
            stream.ask(1)
        except brume.ArgumentError as refused:
            stream.close()
            os._exit(0 if "fork" in str(refused) else 2)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert stream.ask(10**9) is True


def test_above_threshold_halts_at_its_first_hit():
    with brume.above_threshold(0, 1.0) as stream:
        assert stream.ask(-(10**9)) is False and stream.ask(10**9) is True and stream.hits_left == 0
