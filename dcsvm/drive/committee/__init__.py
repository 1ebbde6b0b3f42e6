"""The members of a fitted strategy, asked together."""
