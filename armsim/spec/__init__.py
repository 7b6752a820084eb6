"""What users may write. Both file formats are declared as listings of keys, with unit, bounds, default and meaning; these give
checks, messages, defaults, the JSON Schema and docs/files.md. Parameters, overrides and times are read here.

What others use:
    robot, scenario: the listings; `read_robot_node`, `read_scenario_node`, from nodes to data; AUTO, ADAPTIVE, FORMAT.
    schema, kinds: `Record`, `Number`, `List` and the other kinds, of which listings are made.
    overrides: `apply_overrides`, values set by path; `split_overrides`, a scenario's and its robot's.
    paths: `parse_path`, `path_text`, `joint_index`, for paths such as `joints[R2].motor.Kp`.
    timing: `time_at`, `time_ratio`, `common_step`, times as whole numbers of steps.
    tolerance: `tolerance`, with the defaults of rtol and atol.
"""
