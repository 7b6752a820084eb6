"""Convergence studies: a scenario run with finer and finer steps, or tolerances, until its answer has converged.

Errors are taken from a reference: Richardson extrapolation where all is smooth and the answers converge at a steady order; else
adaptive runs that locate events. From them follow the observed order, the cheapest setting for an accuracy, where no step will
do because rounding grows too fast, and where errors cannot be known.

What others use:

- `converge.converge`: the study of a scenario, by one or several methods; `armsim.converge`;
- `errors.Convergence`, `MethodConvergence`, `Setting`: what it finds, and each setting's error, order and cost.
"""
