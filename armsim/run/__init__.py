"""Runs from start to finished folder, and an arm's questions answered on arrays."""
