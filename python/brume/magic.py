"""``%load_ext brume.magic``, then ``%%brume --epsilon 0.1`` above a cell of SQL."""

from __future__ import annotations

import argparse
import shlex
from typing import Any

from .connection import Connection, connect

_connections: "dict[str, Connection]" = {}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="%%brume", add_help=False)
    parser.add_argument("--ledger", default="brume.db")
    for name in ("--epsilon", "--delta", "--rho", "--within"):
        parser.add_argument(name)  # the text itself: it is charged as it was typed
    parser.add_argument("--explain", action="store_true", help="show the price and the bars, spend nothing")
    parser.add_argument("--to", metavar="NAME", help="also keep the result under this name")
    return parser


def brume_magic(line: str, cell: str, shell: Any = None) -> Any:
    """Ask the cell's SQL at the line's price."""
    try:
        options = vars(_parser().parse_args(shlex.split(line)))
    except SystemExit:
        raise ValueError("usage: %%brume --epsilon E [--delta D] [--ledger FILE] [--explain] [--to NAME]") from None
    ledger, explain, name = options.pop("ledger"), options.pop("explain"), options.pop("to")
    connection = _connections.get(ledger)
    if connection is None:
        connection = _connections[ledger] = connect(ledger)
    result = connection.explain(cell, **options) if explain else connection.query(cell, **options)
    if name and shell is not None:
        shell.user_ns[name] = result
    return result


def load_ipython_extension(shell: Any) -> None:
    """Called by ``%load_ext brume.magic``."""
    shell.register_magic_function(
        lambda line, cell: brume_magic(line, cell, shell), magic_kind="cell", magic_name="brume")
