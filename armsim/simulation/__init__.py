"""Running a scenario: from its file to its result, its energy balance and summary, and the folder that a run writes.

A plan says what the loop over steps computes, a job adds times and start, an engine carries out steps, in machine code or on
Python floats, and the runner loops over them, of one run or of many in vector lanes.

What others use:

- `simulate.simulate`: a run of a scenario; `armsim.simulate`; `simulate_into`: with its folder, written meanwhile; `advise`: the
  advice on its step alone; `execution.Execution`: how it is run; `simulate_unadvised`: a run whatever its step;
- `row_log.LARGEST_LOG`: the memory that rows of many runs at once may take;
- `run.Run`: the result, with `save` and `summary`; `armsim.Run`; `saved_run.saved_run`: one from its folder;
- `summary.RunSummary`: that summary by attributes, with `joint_summary`, `merit`, `problems`, `ending` and `divergence`;
- `summary.StepCounts`: the numbers of steps of a run;
- `engine.NativeEngine`, `make_engine`, `ENGINES`: engines by name; `bounds`, `BOUNDS`: where a run counts as diverged;
- `loop_plan.LoopPlan`, `runner.Job`, `Runner`: what is computed, for which runs, and the loop over steps;
- `energy_balance.audit`: the work done on an arm against the change of its energy;
- `step_error.StepError`: the estimated error of a run's motion, by a repetition (`step_doubling`) with half the step.
"""
