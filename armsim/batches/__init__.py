"""Many runs of one scenario: numbers left open, kernels that serve all their values, and thousands of runs in vector lanes.

- `variants.OpenScenario`, `Variants`: a scenario with open numbers, and what one kernel serves; `prepare.prepare` runs one
  variant at a time, `simulate_many.simulate_many` all at once, in vector lanes on threads;
- `runs.Runs`: the table that they fill, an entry a run in every column.
"""
