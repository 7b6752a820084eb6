"""Motions planned ahead: inputs over time that lead an arm to a target at the least cost within all its limits.

Direct multiple shooting (Bock and Plitt 1984): the time is cut into intervals, the state at every knot is open, and an interval
is several steps of the method that simulates, with exact derivatives. A sequence of quadratic programs in the knots and inputs
is solved by PIQP; see docs/plan.md.

What others use:

- `plan.plan`: the plan of a scenario; `armsim.plan`;
- `result.Plan`: what was found, with its files.
"""
