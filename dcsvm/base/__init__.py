"""The contract: the three abstract pieces, and the words they are written in."""
