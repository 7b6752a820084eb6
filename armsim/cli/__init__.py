"""The command line. Each command is a module with a click command `command`, which parses its arguments, makes one call into the
library, prints, and returns an exit code; what it prints is text from `armsim.reports`, or JSON. Nothing imports it but
`armsim.__main__`, the entry point.

What the commands share:
    main: `main`, the entry point, which turns errors into exit codes; `cli`.
    options: options and arguments; `grouped`, by which options that belong together arrive as one value; such values: `Display`,
        `JointState`, `Matching`; `joint_values`, `number_value`, `print_json`.
    pictures: the same of commands that write pictures or pages: `Pictures`, `OutputFile`, `OutputFiles`.
"""
