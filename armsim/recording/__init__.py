"""Recordings of the full state and inputs, the forward model that replays them, and comparisons of time series.

A recording holds the state at every sample of the command and the input held from there on, so that the forward model, started
from its first state, repeats it to the bit. The log of a real arm is followed likewise, with its drift as the result.

What others use:

- `record.record`, `recording.Recording`: make a recording, a run with its full state among its columns; `armsim.record`;
- `load_run.load_run`: a run or a recording from its folder; `armsim.load_run`;
- `replay.replay`, `Replay`: a recording through the forward model, sample by sample; `armsim.replay`;
- `follow.follow`, `Followed`: a model on the inputs of a measured log; `armsim.follow`;
- `measured_log.read_log`: such a log; `column_map` has its columns by formulas, `column_hint` guesses them, `time_units` doubts;
- `command_history.CommandHistory`: what drives an arm over time; `logged_feedback.LoggedFeedback`: a controller that sees a log;
- `compare.compare`: two runs, recordings or CSV files; `armsim.compare`;
- `comparison.Comparison`, `Difference`: the differences of two time series;
- `forward_model.ForwardModel`: state and inputs in, next state out; `armsim.ForwardModel`.
"""
