"""What users may write: the keys of both files, their kinds and units, formulas, times, and the faults found in them."""
