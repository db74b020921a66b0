"""The version, from the file VERSION of the repository; a test compares them."""

__version__ = "0.2.0.dev0"
