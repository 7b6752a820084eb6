"""An arm with its drives linearised about a state: state-space matrices, modes, sampling, margins, regulators.

The coefficients are exact derivatives of the plant's own equations (`armsim.plant.linearize`); the systems have the form that
scipy.signal and python-control take.

What others use:

- `linearize.linearize`: the linear model of a scenario at a time, or at the target of its feedback; `armsim.linearize`;
- `model.LinearModel`: that model, with `sampled`, `closed_loop`, `loops`, `at_rest` and `lqr`;
- `loop.JointLoop`: the loop of a joint, with its margins and its frequency response;
- `summary.summarize`, `arrays`: a model as plain data, and as arrays by name;
- `modes.seconds`: a time in the unit that reads best.
"""
