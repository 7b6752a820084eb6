"""Straight-line programs of polynomials: made short, counted, and printed in Python, C and Fortran. They know nothing of robots.

What others use:

- `factoring.factored`: polynomials in few operations, with names for what they share;
- `program.assembled`: a `Program` of definitions; `graph_definitions`: of a traced function;
- `module.PrintedModule`, `Routine`: programs that share constants;
- `code.code`: such a module in a language.
"""
