"""What helps to write files.

What others use:
    json_schema: `json_schema`, of either format, for editors.
    starter: `write_starter`, an arm to begin with. table_arm: `read_table`, one from a DH table.
"""
