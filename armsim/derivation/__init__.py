"""LagrangeEquations of motion in symbols: derived twice, compared, counted and printed. It takes SymPy, the extra `symbolic`.

What others use:

- `derive.derive`: the `Derivation` of a robot file; `armsim.derive`;
- `base.base_parameters`: the combinations of inertial parameters that the motion can tell apart;
- `extra.require_sympy`: refuses without SymPy, before any work is done.
"""
