"""Export: functions of armsim as source text of other languages."""
