"""The version of this module and of the programs with it."""

__version__ = "0.1.0"
