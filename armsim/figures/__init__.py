"""Everything that is drawn, by matplotlib, without a window unless one is asked for.

What others use:

- `plot.plot`: runs over time, `armsim.plot`; it takes what `drawn_run.drawn` takes: runs in memory, folders, tables;
- `animation.animate`: an arm in motion, `armsim.animate`; `animation.check_animation` refuses before the work;
- `robot_picture.draw`: a robot at a pose, `armsim.draw`;
- `motion`, `comparison`, `convergence`, `motor`, `bode`, `study`, `tuning`: figures for `--plot` of commands;
- `picture.check_picture`: refuses a picture that cannot be drawn, before any work is done; `picture.save` writes it;
- `notebook`: what a notebook shows, lent to runs and robots by `armsim.pictures`;
- `style`: how all of it looks.

A run's figure is made in three steps: `panels` says which columns are drawn together, `envelope` makes curves of them, `run` and
`overlay` draw them. An arm's: `drawn_arm` has its parts and frames, for pages too, `reduction` thins meshes, `mesh` makes
facets of them, `scene` paints these, `animation` and `robot_picture` show them.
"""
