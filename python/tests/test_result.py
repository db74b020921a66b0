"""Results: rows, bars, tables of other libraries, what notebooks show."""

import copy
import pickle

import pytest

from brume.result import Result, _readable_bar

ANSWER = {
    "columns": [
        {"name": "town", "role": "key"},
        {"name": "n", "role": "value", "mechanism": "discrete_laplace", "error_95": 13.8,
         "limit": 1.0, "cut_allowance": 2.0},
        {"name": "a", "role": "value", "mechanism": "discrete_laplace", "error_95": 0.68},
    ],
    "rows": [["<Aix>", 1006, 48.163050004461958], [None, 1000, None]],
    "row_error_95": [[None, 13.8, 0.67], [None, 13.8, 0.68]],
    "cost": {"epsilon": 1.0, "delta": 8e-8, "rho": None},
    "remaining": {"epsilon": 9.0, "delta": 9e-7},
    "cached": False,
}


@pytest.fixture
def result():
    return Result(ANSWER)


def test_rows_and_bars(result):
    assert len(result) == 2 and list(result) == result.rows
    assert result[0] == ("<Aix>", 1006, 48.163050004461958)
    assert result.columns == ["town", "n", "a"]
    assert result.error_95 == {"n": 13.8, "a": 0.68}
    assert result.row_error_95[1] == (None, 13.8, 0.68)
    assert result.cut_allowance == {"n": 2.0}
    assert result.cost["epsilon"] == 1 and result.remaining["epsilon"] == 9
    assert not result.cached


def test_bars_by_column_where_rows_have_none():
    answer = {key: value for key, value in ANSWER.items() if key != "row_error_95"}
    assert Result(answer).row_error_95 == [(None, 13.8, 0.68)] * 2


def test_what_a_person_sees(result):
    text = repr(result)
    assert "1,006 ± 16" in text and "48.16 ± 0.67" in text and "left: epsilon 9" in text
    page = result._repr_html_()
    assert "&lt;Aix&gt;" in page and "<Aix>" not in page and "± 16" in page


def test_no_bar_where_what_was_cut_is_not_known():
    answer = dict(ANSWER, columns=[ANSWER["columns"][0], dict(ANSWER["columns"][1], cut_known=False),
                                   ANSWER["columns"][2]])
    assert Result(answer).bars[0] == (None, None, 0.67)
    assert Result(ANSWER).bars[0] == (None, 15.8, 0.67)


def test_what_the_bar_does_not_cover_is_said(result):
    assert result.hidden == []
    answer = dict(ANSWER, columns=[ANSWER["columns"][0], dict(ANSWER["columns"][1], cut_hidden=52.0),
                                   ANSWER["columns"][2]])
    hides = Result(answer)
    assert hides.hidden == ["n"]


def test_notes_are_those_of_the_answer(result):
    assert result.notes == [] and result.biased == []
    answer = dict(ANSWER, notes=["Each <patient> counts with at most 96 visits."], warnings=["'y' is not in the domain"],
                  columns=[ANSWER["columns"][0], dict(ANSWER["columns"][1], biased=True), ANSWER["columns"][2]])
    moved = Result(answer)
    assert moved.biased == ["n"] and moved.notes == answer["notes"]
    assert answer["notes"][0] in repr(moved) and "warning: 'y' is not in the domain" in repr(moved)
    assert "Each &lt;patient&gt; counts" in moved._repr_html_()


@pytest.mark.parametrize("bar, wanted", [(29.1, "30"), (13.8, "14"), (0.67, "0.67"), (0.6701, "0.68"), (999.2, "1,000"),
                                         (99.95, "100"), (1.0, "1.0"), (4321, "4,321"), (1e-9, "0.0000000010")])
def test_a_bar_is_never_shown_smaller_than_it_is(bar, wanted):
    assert _readable_bar(bar) == wanted


def test_prices_are_shown_in_full():
    assert "epsilon 0.10000001;" in repr(Result(dict(ANSWER, cost={"epsilon": 0.10000001})))


def test_scalar(result):
    with pytest.raises(ValueError, match="2 rows and 3 columns"):
        result.scalar()
    one = Result({"columns": [{"name": "n", "role": "value", "error_95": 3.0}], "rows": [[7]]})
    assert one.scalar() == 7


def test_a_result_can_be_kept(result):
    for kept in (pickle.loads(pickle.dumps(result)), copy.copy(result), copy.deepcopy(result)):
        assert kept.json == result.json and kept.rows == result.rows


def test_frames(result):
    pandas = pytest.importorskip("pandas")
    frame = result.df(errors=True)
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == ["town", "n", "n_error_95", "a", "a_error_95"]
    assert list(frame["n"]) == [1006, 1000]
    assert list(frame["n_error_95"]) == [15.8, 15.8], "the allowance is part of the bar"


def test_intervals_of_quantiles():
    half = Result({"columns": [{"name": "m", "role": "value", "error_95": None, "rank_error_95": 40.0},
                               {"name": "d", "role": "value", "error_95": None, "rank_error_95": 40.0}],
                   "rows": [[28, None], [31, "2024-01-05"]],
                   "rows_interval_95": [[[26, 31], None], [[30, 1000], ["2024-01-01", "2024-02-01"]]]})
    assert half.intervals == [((26, 31), None), ((30, 1000), ("2024-01-01", "2024-02-01"))]
    assert "28 (26 to 31)" in repr(half) and "31 (30 to 1,000)" in repr(half)
    assert "2024-01-05 (2024-01-01 to 2024-02-01)" in repr(half) and "(30 to 1,000)</span>" in half._repr_html_()
    table = half._table(True)
    assert list(table) == ["m", "m_low_95", "m_high_95", "d", "d_low_95", "d_high_95"]
    assert table["m_high_95"] == [31, 1000] and table["d_low_95"] == [None, "2024-01-01"]
    assert half._whisker(0, 0, False) == (2, 3)


def test_arrow(result):
    pytest.importorskip("pyarrow")
    assert result.arrow().column("n").to_pylist() == [1006, 1000]


def test_polars(result):
    pytest.importorskip("polars")
    assert result.polars()["n"].to_list() == [1006, 1000]


def test_plot(result):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = result.plot()
    assert len(axes) == 2 and axes[0].get_ylabel() == "n"


def test_months_totals_and_cells_of_too_few_are_named():
    key = {"name": "month", "role": "key", "period": "month"}
    ward = {"name": "ward", "role": "key"}
    value = {"name": "m", "role": "value", "mechanism": None, "error_95": 1.0}
    answer = dict(ANSWER, columns=[key, ward, value], row_error_95=[[None, None, 1.0], [None, None, None]],
                  rows=[["2024-03-01 00:00:00", None, 12345.5], ["2024-04-01 00:00:00", "a", None]],
                  rows_total=[[False, True, False], [False, False, False]],
                  rows_too_few=[[False, False, False], [False, False, True]],
                  rows_bar_95=[[None, None, 2.0], [None, None, None]])
    lines = repr(Result(answer)).splitlines()
    assert lines[1].split() == ["2024-03", "total", "12,345.5", "±", "2.0"]
    assert lines[2].split() == ["2024-04", "a", "too", "few"]


def test_a_plot_of_counts_goes_not_below_nothing_and_its_labels_do_not_overlap():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    count = {"name": "n", "role": "value", "mechanism": None, "error_95": 50.0, "true_if_cut": "higher"}
    key = {"name": "month", "role": "key", "period": "month"}
    months = [f"{year}-{month:02}-01 00:00:00" for year in (2023, 2024, 2025) for month in range(1, 13)]
    bars = Result(dict(ANSWER, columns=[dict(key, period=None), count], rows=[["a", 20], ["b", 70]],
                       row_error_95=[[None, 50.0]] * 2))
    whiskers = [each for each in bars.plot().containers if hasattr(each, "has_yerr")]
    lowest = min(segment[:, 1].min() for lines in whiskers[0].lines[2] for segment in lines.get_segments())
    assert lowest == 0
    lines = Result(dict(ANSWER, columns=[key, count], rows=[[month, 20] for month in months],
                        row_error_95=[[None, 50.0]] * 36))
    axis = lines.plot()
    axis.figure.canvas.draw()
    boxes = [label.get_window_extent() for label in axis.get_xticklabels()]
    assert len(axis.lines) == 1 and len(boxes) <= 24 and axis.get_xticklabels()[0].get_text() == "2023-01"
