"""Export: functions of robots and scenarios as source text of other languages, with the bits of machine code.

One printer serves all languages. `program` lowers traced functions and orders what they call, `body` makes statements of their
nodes, and a language (`c`, `fortran`, `python`, `javascript`, `casadi`) is a table of operations and how its statements look.

What others use:

- `export.export`: a robot or scenario as a folder of files, or a robot as other programs describe it; `armsim.export`;
- `urdf`, `mjcf`, `dh`: such descriptions, of the elements that `links` makes of an arm;
- `languages.LANGUAGES`: the languages by name; `LANGUAGES["c"](Style("none")).text(function, name)` prints any traced function;
- `language.Language`, `Style`: what a language is, and how it computes;
- `body.Body`: statements and expressions of a function, for texts of another layout.
"""
