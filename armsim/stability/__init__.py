"""Linear stability of integration steps: the method to choose, advice before a run, the diagnosis of one that diverged.

A plant is linearised at a few operating points and the method's own step is applied to the linear system; a mode is the
step's fault where it is stable in continuous time and unstable under the step.

What others use:

- `method_choice.with_method`: the scenario with the method that `auto` picks;
- `step_advice.heeded`, `advice_on`: the advice on a scenario's step, a refusal raised or returned;
- `many.StepAdviser`: the advice on thousands of variants of a scenario, which differ in numbers;
- `advice.Advice`: that advice; `advice.listed`: names joined for a sentence;
- `step_modes.stable_steps`: the largest stable step of every fixed-step method at a state;
- `departure.causes`, `remedy.remedy`: how a run came to diverge, and which steps would have been stable there;
- `divergence.LAST_STEPS`: how many states before a divergence the runner finds again;
- `closed_loop.gains`, `with_feedback`: a linear system under linear feedback.
"""
