"""The questions that are put to an arm without a run: kinematics and dynamics of a state, and what a file amounts to.

A question about a state is a function of scalars in `dynamics`, `actuation` or `plant`. `Robot` traces it for arrays; the
command line calls it on floats, without numpy or a compiler.

What others use:
    robot: `load_robot`, `Robot`, the library's arm.
    forward: `forward`, accelerations of one state under torques or voltages.
    inverse: `motion_of`, `demand_table`, inverse dynamics along a trajectory.
    overload: `overloads`, `above_nominal`, limits and nominal currents of motors that a motion exceeds.
    motor_curve: `motors`, `motor_curve`, torque-speed curves.
    overview: `overview`, `kind_of`; robot_overview: `RobotOverview`. solids: `solids`. catalog: `catalog`, what is shipped.
    provenance: `origins`, `Origin`, where each number came from.
    arrays, integration: `number_array`, `check_dt`, `check_method`, `check_tolerance`, checks of arguments.
"""
