"""Random scenarios with events, and their true motions."""
