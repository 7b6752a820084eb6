"""Halving the step until the answer settles."""
