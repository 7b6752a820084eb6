"""Everything that is drawn, by matplotlib, without a window.

What others use:

- `comparison.check_plot`: refuses a picture that cannot be drawn, before any work is done;
- `comparison.plot_comparison`: two time series of each quantity, and their difference;
- `convergence.plot_convergence`: error over step and over wall time, by method;
- `motor.plot_motor`: torque, current and power of a joint's motor over its speed.
"""
