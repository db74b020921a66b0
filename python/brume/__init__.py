"""brume: differential privacy with exact noise, certified accounting and a durable budget."""

from . import errors, opacus
from ._version import __version__
from .accounting import *  # noqa: F401,F403
from .connection import *  # noqa: F401,F403
from .errors import *  # noqa: F401,F403
from .noise import *  # noqa: F401,F403
from .result import *  # noqa: F401,F403
from .selection import *  # noqa: F401,F403
from .stability import *  # noqa: F401,F403

__all__ = [name for name in dir() if not name.startswith("_")] + ["__version__"]
