"""The command line: one module per command, which only parses options and prints results.

Importing a module of COMMANDS adds its commands to `app`. Slow imports happen inside the commands.
"""

from importlib import import_module

from dcsvm.cli.app import app

__all__ = ["app", "main"]

#: In the order of `dcsvm --help`.
COMMANDS = ("run", "predict", "explain", "compare", "report", "recipes", "plugins")

for _name in COMMANDS:
    import_module(f"dcsvm.cli.{_name}")


def main() -> None:
    """Run the command line; the console script `dcsvm` starts here."""
    app(prog_name="dcsvm")
