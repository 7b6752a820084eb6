"""Numbers as people write them: formulas, with units, within bounds.

What others use:
    formula: `Formula`, a syntax tree; `constant_value`, the value of an option.
    functions: those of formulas.
    quantity: `Quantity`, a number as written; `Context`, the state of reading a file; `plain`, data without them.
    units: `converted`, from the unit behind a number to its key's; `units_of`, what a key's unit is at some joints.
    bounds: `BOUNDS`, of every number, by its unit.
"""
