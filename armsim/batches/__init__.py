"""Many runs of one scenario: numbers left open, kernels that serve all their values, and thousands of runs in vector lanes.

- `variants.Variants`: a scenario with open numbers, and the kernels of its families; `prepare.prepare` runs one variant at a
  time, `simulate_many.simulate_many` all at once, in blocks of lanes (`block.Blocks`) on threads;
- `many.Many`: what comes of it, as arrays.
"""
