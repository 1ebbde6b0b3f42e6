"""`python -m dcsvm` is the command line."""

from dcsvm.cli import main

main()
