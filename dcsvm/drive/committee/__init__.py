"""The members of a fitted strategy, queried together."""
