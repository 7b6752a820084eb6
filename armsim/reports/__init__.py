"""What commands print about their results, as text for 80 columns; the results as JSON are the library's own.

What others use:
    table: `table`, `number`, `shown`, `joint_unit`, `wrapped`.
    simulation, state, info, reference, comparison, convergence, linear, export, derivation: one kind of result each.
    run_page: a run on a page in HTML; `armsim.report`.
"""
