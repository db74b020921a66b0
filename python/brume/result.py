"""What a query answers: rows, their error bars, and the price."""

from __future__ import annotations

import ctypes
import decimal
import html
import io
import math
import re
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

from .errors import ArgumentError

__all__ = ["Result", "Synthetic"]


def _readable(value: Any, bar: Optional[float] = None) -> str:
    """A value with the digits that its error bar leaves meaningful."""
    if value is None:
        return "NULL"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if bar is None or not math.isfinite(bar) or bar <= 0:
        return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"
    digits = max(0, 1 - math.floor(math.log10(bar)))
    return f"{value:,.{digits}f}"


def _readable_bar(bar: float) -> str:
    """An error bar with two digits, never below what it is."""
    if not math.isfinite(bar) or bar <= 0:
        return f"{bar:g}"
    step = decimal.Decimal(1).scaleb(min(0, math.floor(math.log10(bar)) - 1))
    return f"{decimal.Decimal(repr(float(bar))).quantize(step, decimal.ROUND_CEILING):,f}"


def _period(text: str, period: Optional[str]) -> str:
    """The first of a period as its name: 2024-01-01 00:00:00 is 2024-01 where months are."""
    ends = {"year": 4, "month": 7, "week": 10, "day": 10}
    if period == "quarter":
        return f"{text[:4]}-Q{(int(text[5:7]) + 2) // 3}"
    return text[:ends[period]] if period in ends else text


def _in_full(number: float) -> str:
    """All its digits: a price that is rounded would be another price."""
    text = repr(float(number))
    return text[:-2] if text.endswith(".0") else text


class Synthetic(Dict[str, Any]):
    """Synthetic rows, and the report of them: ``made["tables"]`` has the bars of the workload's tables."""

    @property
    def csv(self) -> str:
        """The rows as CSV, a header first."""
        if "csv" not in self:
            raise ArgumentError(f"the rows are in '{self.get('output')}'", "leave 'output' out")
        text: str = self["csv"]
        return text

    def df(self) -> Any:
        """A pandas DataFrame; a value that is missing or outside its domain is NA."""
        import pandas

        return pandas.read_csv(io.StringIO(self.csv))

    def __repr__(self) -> str:
        return f"<Synthetic: {self.get('rows')} rows of {len(self.get('columns', []))} columns>"


class Result(Sequence[Tuple[Any, ...]]):
    """The answer of a query. In a notebook it shows as a table with error bars.

    It is a sequence of its rows. ``error_95`` has, for each column, the largest error bar: with a
    probability of 95 % the noiseless value on the bounded data is within it. ``row_error_95`` has one
    for each value. ``cut_allowance`` is an estimate of what was cut by limits, not a bound.
    """

    def __init__(self, answer: Mapping[str, Any], stream: Any = None) -> None:
        self.json: Dict[str, Any] = dict(answer)
        self._stream = stream
        self._arrow: Any = None

    def __reduce__(self) -> Any:
        return Result, (self.json,)  # the rows of C stay with the original

    @property
    def columns(self) -> List[str]:
        """The names of the columns."""
        return [column["name"] for column in self.json["columns"]]

    @property
    def rows(self) -> List[Tuple[Any, ...]]:
        """The rows as tuples."""
        return [tuple(row) for row in self.json["rows"]]

    @property
    def error_95(self) -> Dict[str, Optional[float]]:
        """The largest error bar of each column of values."""
        return {column["name"]: column.get("error_95") for column in self.json["columns"]
                if column.get("role") == "value"}

    @property
    def row_error_95(self) -> List[Tuple[Optional[float], ...]]:
        """An error bar for each value; None for keys."""
        if "row_error_95" in self.json:
            return [tuple(row) for row in self.json["row_error_95"]]
        bars = tuple(column.get("error_95") for column in self.json["columns"])
        return [bars for _ in self.json["rows"]]

    @property
    def cut_allowance(self) -> Dict[str, float]:
        """What limits may have cut, by column: an estimate. Columns without one are not in it."""
        return {column["name"]: column["cut_allowance"] for column in self.json["columns"]
                if column.get("cut_allowance")}

    @property
    def bars(self) -> List[Tuple[Optional[float], ...]]:
        """What tables and plots show for each value: its error bar and, where limits cut, the
        allowance, added. None where what was cut is not known: then no bar can be claimed."""
        columns = self.json["columns"]
        if "rows_bar_95" in self.json:
            return [tuple(row) for row in self.json["rows_bar_95"]]
        return [tuple(None if bar is None or column.get("cut_known") is False
                      else bar + (column.get("cut_allowance") or 0)
                      for bar, column in zip(row, columns))
                for row in self.row_error_95]

    @property
    def intervals(self) -> List[Tuple[Optional[Tuple[Any, Any]], ...]]:
        """For each value that is a quantile the interval that holds it with a chance of 95 %: (low, high), in
        the units of its column. None for all others."""
        if "rows_interval_95" in self.json:
            return [tuple(None if ends is None else (ends[0], ends[1]) for ends in row)
                    for row in self.json["rows_interval_95"]]
        return [tuple(None for _ in self.json["columns"]) for _ in self.json["rows"]]

    @property
    def biased(self) -> List[str]:
        """The columns that limits and bounds may have moved: a bar is about the bounded data."""
        return [column["name"] for column in self.json["columns"] if column.get("biased")]

    @property
    def hidden(self) -> List[str]:
        """The columns whose bar is not of the whole: at this price so many units may have far more than the
        limit, unseen, that what they lose is not in the bar. ``cut_hidden`` in the JSON says how many."""
        return [column["name"] for column in self.json["columns"] if column.get("cut_hidden")]

    @property
    def notes(self) -> List[str]:
        """What is to be kept in mind, as sentences: what limits and bounds leave out, whether ± includes
        it, which groups are not shown. The same at every door of brume."""
        return [str(note) for note in self.json.get("notes") or []]

    @property
    def cost(self) -> Dict[str, Any]:
        """What the answer cost."""
        return dict(self.json.get("cost") or {})

    @property
    def remaining(self) -> Dict[str, Any]:
        """What may still be spent: what the dataset's budget has left and, for an analyst with an allotment
        on a server, no more than that has left. Where several datasets are read, that of the one with the least; where windows
        are read, that of the window with the least."""
        return dict(self.json.get("remaining") or {})

    @property
    def as_of(self) -> Optional[str]:
        """When its data were read: ``"2026-03-04T09:12:31Z"``; None where none were."""
        return (self.json.get("as_of") or {}).get("read")

    @property
    def cached(self) -> bool:
        """Was it read again for free?"""
        return bool(self.json.get("cached"))

    def __len__(self) -> int:
        return len(self.json["rows"])

    def __getitem__(self, index: Any) -> Any:
        return self.rows[index]

    def __iter__(self) -> Iterator[Tuple[Any, ...]]:
        return iter(self.rows)

    def scalar(self) -> Any:
        """The only value of an answer of one row and one column."""
        if len(self) != 1 or len(self.columns) != 1:
            raise ValueError(f"the answer has {len(self)} rows and {len(self.columns)} columns, not one of each")
        return self.rows[0][0]

    def _table(self, errors: bool) -> Dict[str, List[Any]]:
        table: Dict[str, List[Any]] = {}
        for at, column in enumerate(self.json["columns"]):
            table[column["name"]] = [row[at] for row in self.json["rows"]]
            if errors and column.get("rank_error_95") is not None:
                for end, name in enumerate(("low", "high")):
                    table[f"{column['name']}_{name}_95"] = [row[at] and row[at][end] for row in self.intervals]
            elif errors and column.get("role") == "value":
                table[f"{column['name']}_error_95"] = [row[at] for row in self.bars]
        return table

    def df(self, errors: bool = False) -> Any:
        """A pandas DataFrame; with ``errors`` each column of values is followed by its bars, a quantile by
        the ends of its interval."""
        import pandas

        return pandas.DataFrame(self._table(errors), columns=list(self._table(errors)))

    def arrow(self, errors: bool = False) -> Any:
        """A pyarrow Table. Without ``errors`` its columns are those that C made, not copied."""
        import pyarrow

        if errors or (self._stream is None and self._arrow is None):
            return pyarrow.table(self._table(errors))
        if self._arrow is None:
            reader = pyarrow.RecordBatchReader._import_from_c(ctypes.addressof(self._stream))
            self._arrow, self._stream = reader.read_all(), None
        return self._arrow

    def polars(self, errors: bool = False) -> Any:
        """A polars DataFrame."""
        import polars

        return polars.DataFrame(self._table(errors))

    def _price(self) -> str:
        cost, left = self.cost, self.remaining
        words = [f"cost epsilon {_in_full(cost['epsilon'])}"] if cost.get("epsilon") else []
        if cost.get("delta"):
            words.append(f"delta {_in_full(cost['delta'])}")
        text = ", ".join(words) or "free"
        if self.cached and words:
            text += ", read again for free"
        windows = self.json.get("windows")  # of a table that grows: each one read paid too
        if left.get("epsilon") is not None:
            text += f"; left{' there' if windows else ''}: epsilon {_in_full(left['epsilon'])}"
        if windows and windows["price"].get("epsilon") is not None:
            text += f"; each of {windows['count']} windows paid epsilon {_in_full(windows['price']['epsilon'])}"
        return text

    def _notes(self) -> List[str]:
        notes = list(self.notes)
        notes += [f"warning: {warning}" for warning in self.json.get("warnings") or []]
        return notes + [self._price()]

    def _flag(self, name: str, row: int, column: int) -> bool:
        return bool(name in self.json and self.json[name][row][column])

    def _text(self, row: int, column: int) -> str:
        """A cell for a reader, without its bar."""
        value, about = self.json["rows"][row][column], self.json["columns"][column]
        if self._flag("rows_total", row, column):
            return "total"
        if self._flag("rows_too_few", row, column):
            return "too few"
        if about.get("role") == "key":
            return _period(value, about.get("period")) if isinstance(value, str) else "NULL" if value is None else str(value)
        return _readable(value, self.bars[row][column])

    def _bar_text(self, row: int, column: int) -> str:
        """What follows a cell: its bar, or the interval of a quantile."""
        bar, ends = self.bars[row][column], self.intervals[row][column]
        if ends is not None:
            return "({} to {})".format(*(_readable(end, None) for end in ends))
        return f"± {_readable_bar(bar)}" if bar is not None else ""

    def __repr__(self) -> str:
        cells = [[f"{self._text(row, at)} {self._bar_text(row, at)}".rstrip()
                  for at in range(len(self.columns))]
                 for row in range(len(self))]
        widths = [max([len(name)] + [len(row[at]) for row in cells])
                  for at, name in enumerate(self.columns)]
        lines = ["  ".join(name.ljust(width) for name, width in zip(self.columns, widths)).rstrip()]
        lines += ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
                  for row in cells]
        return "\n".join(lines + ["", *self._notes()])

    def _repr_html_(self) -> str:
        widest = [max((abs(row[at]) + (bars[at] or 0)
                       for row, bars in zip(self.rows, self.bars)
                       if isinstance(row[at], (int, float))), default=0.0)
                  for at in range(len(self.columns))]
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.columns)
        body = []
        for number, (row, bars) in enumerate(zip(self.rows, self.bars)):
            cells = []
            for at, (value, bar) in enumerate(zip(row, bars)):
                text = html.escape(self._text(number, at))
                beside = html.escape(self._bar_text(number, at))
                if not beside:
                    cells.append(f"<td>{text}</td>")
                    continue
                drawn = widest[at] and isinstance(value, (int, float))
                share = abs(value) / widest[at] * 100 if drawn else 0
                cells.append(
                    "<td style='text-align:right;background:linear-gradient(to right,"
                    f"rgba(70,130,180,.25) {share:.1f}%,transparent {share:.1f}%)'>{text}"
                    f" <span style='opacity:.6'>{beside}</span></td>")
            body.append("<tr>" + "".join(cells) + "</tr>")
        return (f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"
                f"<p style='opacity:.7'>{'<br>'.join(map(html.escape, self._notes()))}</p>")

    def _whisker(self, row: int, column: int, counts: bool) -> Tuple[float, float]:
        """How far a value's whisker reaches below it and above it."""
        value, bar, ends = self.rows[row][column], self.bars[row][column], self.intervals[row][column]
        if ends is not None and isinstance(value, (int, float)):
            return value - ends[0], ends[1] - value
        if bar is None or value is None:
            return math.nan, math.nan
        return min(bar, max(value, 0)) if counts else bar, bar

    def plot(self, ax: Any = None) -> Any:
        """Bars with whiskers, or lines with bands over dates, one panel for each column of values. Needs
        matplotlib."""
        import matplotlib.pyplot as pyplot

        columns = self.json["columns"]
        values = [at for at, column in enumerate(columns) if column.get("role") == "value"]
        if not values:
            raise ValueError("the answer has no column of values")
        keys = [at for at in range(len(columns)) if at not in values]
        labels = [", ".join(self._text(row, at) for at in keys) or "all" for row in range(len(self))]
        over_time = len(labels) > 1 and all(re.fullmatch(r"\d{4}-(Q\d|\d\d(-\d\d)?)", label) for label in labels)
        order = sorted(range(len(labels)), key=labels.__getitem__) if over_time else list(range(len(labels)))
        every = -(-len(order) // 24)  # so that labels do not overlap
        slanted = sum(len(label) + 2 for label in labels) > 60
        size = (max(6.4, 0.4 * min(len(order), 24)), 1.0 + 3.0 * len(values))
        axes = [ax] if ax is not None else list(
            pyplot.subplots(len(values), 1, squeeze=False, figsize=size, layout="constrained")[1][:, 0])
        for at, axis in zip(values, axes):
            heights = [math.nan if self.rows[row][at] is None else self.rows[row][at] for row in order]
            counts = columns[at].get("true_if_cut") == "higher"  # what is never below 0
            below, above = zip(*(self._whisker(row, at, counts) for row in order)) if order else ((), ())
            places = range(len(order))
            if over_time:
                axis.plot(places, heights)
                axis.fill_between(places, [h - b for h, b in zip(heights, below)],
                                  [h + b for h, b in zip(heights, above)], alpha=0.2)
                axis.set_ylim(bottom=0 if counts else None)
            else:
                axis.bar(places, heights, yerr=[below, above], capsize=3)
            axis.set_xticks(places[::every])
            axis.set_xticklabels([labels[row] for row in order][::every], rotation=45 if slanted else 0,
                                 ha="right" if slanted else "center")
            axis.set_ylabel(self.columns[at])
        return axes[0] if len(axes) == 1 else axes
