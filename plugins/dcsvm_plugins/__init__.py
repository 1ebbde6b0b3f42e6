"""The built-in plugins of dcsvm, loaded through the same entry points as any other plugin."""
