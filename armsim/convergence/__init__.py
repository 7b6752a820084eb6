"""Convergence studies: a scenario run with its step halved, or its tolerance cut to a tenth, until its answer has converged.

Errors are taken from a reference (Richardson extrapolation where the answers converge at a steady order), from which follow the
observed order, the cheapest setting for an accuracy, and where no step will do because rounding grows too fast.

What others use:

- `converge.converge`: the study of a scenario, by one or several methods; `armsim.converge`;
- `errors.Convergence`, `MethodConvergence`, `Setting`: what it finds, and each setting's error, order and cost.
"""
