"""Equations of motion in symbols: derived twice, compared, counted and printed. It takes SymPy, the extra `symbolic`.

`lagrange` and `recursion` derive them, `agreement` compares; `closed` and `recursion` make programs of them: definitions that
are polynomials (`factoring` finds what they share, `program` orders and counts them), in `module` with one set of constants.
`document` prints equations, `code` programs, by the languages of `armsim.exporting`.

What others use:

- `derive.derive`: the `Derivation` of a robot file; `armsim.derive`;
- `base.base_parameters`: the combinations of inertial parameters that the motion can tell apart;
- `extra.require_sympy`: refuses without SymPy, before any work is done.
"""
