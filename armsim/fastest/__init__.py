"""The fastest motion along a path within all limits of an arm and its motors.

Limits are rows in path speed and path acceleration (`path_limits`); what they admit at a point is found in pieces
(`admissible`); speeds that can be reached, and left again, are swept from point to point (`phase_plane`); grids are refined until
limits hold between their points, too (`timing`). `jerk_limits` goes on from there, by linear programs. See docs/references.md.

What others use:

- `timing.fastest_timing`: when the motion is where on its path; `timing.PathRows`, the rows of all limits along it;
- `jerk_limits.within_jerk`: the same with bounded jerk.
"""
