"""Tuning: numbers of a scenario that are sought by what their runs come to, tested where they were not sought.

- `request.TuningRequest`: what is asked, as its user says it; `tuning.Tuning`: that checked, with bounds, objective, conditions,
  cases and stages; `task.Task`: that made ready;
- `objective.Objective`: from the measures of a trial's runs to one number that is to be small;
- `trials.Trials`: trials carried out in lanes and written as they come; `search`: which trial comes next;
- `tune.tune`: all of it; `validation`, `causes`, `margins`: where the result holds, why not elsewhere, and by how much.
"""
