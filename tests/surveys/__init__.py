"""Random scenarios with events, and their true motions: what surveys of accuracy are made over.

What others use:
    cases: `case(family, seed)`, `cases(count, first, families)` and `FAMILIES`; a `Case` is a scenario without its integrator,
        and `Case.written(folder, integrator, rows)` is what `armsim.loading.read_scenario` takes.
    reference: `truth(case, times)`, the motion to about 1e-12; `solve(case, rtol, method)`, what scipy's methods make of it with
        exact events; `growth(case)` and `predictable(case)`, what becomes of perturbations.
    adaptive: errors of adaptive methods, by family; `python -m tests.surveys.adaptive`.

The reference is written from the pages in docs/ and no text of armsim takes part: newton_euler (the arm), drive (what acts on a
joint), branches (piecewise laws with their pieces held fast), hybrid (modes and what ends them).

A family is a function in cases.py and its name in `FAMILIES`. It gets a `Draft` (draft.py), an arm whose joints' inertia is
known, and adds to it what is to happen, so sized that it does.
"""
