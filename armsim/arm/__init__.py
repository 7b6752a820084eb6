"""The questions that are put to an arm without a run: kinematics and dynamics of a state, and what a file amounts to. `robot`
evaluates on arrays, compiled; the other answers are plain data on floats, for the command line, and most need no numpy.

What others use:
    robot: `load_robot`, `Robot`, the library's arm.
    answers: `demand`, `motion`, `poses`, `outside`, `slipping`, one state each.
    inverse: `motion_of`, `demand_table`, inverse dynamics along a trajectory.
    overload: `overloads`, `overloads_along`, limits of motors that a motion exceeds.
    motor_curve: `motors`, `motor_curve`, torque-speed curves.
    overview: `overview`, `kind_of`. solids: `solids`. catalog: `catalog`, what is shipped.
    provenance: `origins`, `Origin`, where each number came from.
    arrays, integration: `number_array`, `check_dt`, `check_method`, `check_tolerance`, checks of arguments.
"""
