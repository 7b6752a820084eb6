"""Studies: many runs of a scenario by the values of its numbers, and what each came to, on disk as they come.

- `runs.StudyRuns`: from rows of values to measures; what is structure is grouped, the rest goes into lanes;
- `design.Design`: which runs there are: a grid, or drawn; `study.Study`: what a study asks;
- `request.StudyRequest`: that as its user says it, of which `study.study_of` makes a study; `Workers`: what carries it out;
- `sweep.sweep`: carries one out, block by block; `results.load_study`: reads it back; `sweep.simulate_row`: one of its runs.
"""
