"""The command line: one module per command, which parses and prints and leaves the work to others.

A module of COMMANDS hangs its commands on `app` when it is imported, and imports whatever is slow
to import inside them.
"""

from __future__ import annotations

from importlib import import_module

from dcsvm.cli.app import app

__all__ = ["app", "main"]

#: The order in which `dcsvm --help` lists them.
COMMANDS = (
    "run",
    "predict",
    "recipes",
    "plugins",
    "inspect",
    "compare",
    "report",
    "schema",
    "init",
)

for _name in COMMANDS:
    import_module(f"dcsvm.cli.{_name}")


def main() -> None:
    """Run the command line; the console script `dcsvm` starts here."""
    app(prog_name="dcsvm")
