"""The command line. Each command is a module with a click command `command`, which parses its arguments, makes one call into the
library, prints, and returns an exit code; what it prints is text from `armsim.reports`, or JSON. Nothing imports it but
`armsim.__main__`, the entry point.

What the commands share:
    main: `main`, the entry point, which turns errors into exit codes; `cli`.
    options: options and arguments, `settings_of`, `joint_values`, `number_value`, `tolerance_values`, `print_json`.
"""
