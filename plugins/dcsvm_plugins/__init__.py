"""The built-in plugins of dcsvm: they come in through the same door as anyone else's."""
