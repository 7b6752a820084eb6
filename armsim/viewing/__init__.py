"""An arm, a run or a scenario as one HTML page that works without a network: it shows the arm in three dimensions, and runs it.

What others use:

- `view.view`: writes or serves the page of a robot, a scenario or one or two runs; `armsim.view`;
- `view.page_data` and `page.page_text`: the same as data, and as HTML with further sections, for reports.

Python gathers what a page shows, as plain data: `arm_data` the arm with its parts, `run_data` the rows of runs, `live` and
`programs` the JavaScript of a scenario or robot and of its kinematics, which `armsim.exporting` prints. `arrays` packs numbers,
`page` puts it all into one file, `server` serves it to this machine.
`page/` has the page's own script, style and elements; `vendor/` has three.js 0.170.0 as published, which draws, with its licence.
"""
