"""Linear equations about a state: matrices, modes, regulators."""
