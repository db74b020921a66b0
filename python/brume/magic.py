"""``%load_ext brume.magic``, then ``%%brume --epsilon 0.1`` above a cell of SQL."""

from __future__ import annotations

import argparse
import os
import shlex
from typing import Any, NoReturn

from .connection import Connection, connect

_connections: "dict[str, Connection]" = {}
_USAGE = "usage: %%brume --epsilon E [--delta D] [--ledger FILE|URL] [--explain] [--to NAME]"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:  # instead of an exit, which says nothing in a notebook
        raise ValueError(f"{message}; {_USAGE}")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="%%brume", add_help=False, allow_abbrev=False)
    parser.add_argument("--ledger", default=os.environ.get("BRUME_LEDGER", "brume.db"))  # or the URL of a server
    for name in ("--epsilon", "--delta", "--rho", "--within"):
        parser.add_argument(name)  # the text itself: it is charged as it was typed
    parser.add_argument("--explain", action="store_true", help="show the price and the bars, spend nothing")
    parser.add_argument("--to", metavar="NAME", help="also keep the result under this name")
    return parser


def brume_magic(line: str, cell: str, shell: Any = None) -> Any:
    """Ask the cell's SQL at the line's price."""
    options = vars(_parser().parse_args(shlex.split(line)))
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
