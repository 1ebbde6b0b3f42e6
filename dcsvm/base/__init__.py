"""The interfaces of components, and the data that they exchange."""
