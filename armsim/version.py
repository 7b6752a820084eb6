"""The version of armsim."""

__version__ = "0.1.0"
