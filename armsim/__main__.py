"""`python -m armsim`, and the entry point: so light that Ctrl-C finds it there while all else is imported."""

import gc
import sys

OFTEN = 1_000_000  # objects made since cycles of them were last looked for; Python's 700 takes a twentieth of a start


def main() -> None:
    """Run the command line; see `armsim.cli.main.main`."""
    sys.unraisablehook = _unraisable
    gc.set_threshold(OFTEN)
    try:
        from armsim.files.interrupts import hear_endings

        hear_endings()
        from armsim.cli.main import main as run

        run()
    except KeyboardInterrupt as error:
        sys.stderr.write("interrupted\n")
        sys.exit(128 + (error.args[0] if error.args else 2))  # as shells have it of the signal, that of Ctrl-C
    finally:
        import signal

        for name in {"SIGINT", "SIGTERM", "SIGHUP"} & {*vars(signal)}:
            signal.signal(getattr(signal, name), signal.SIG_IGN)  # nothing is left to interrupt
        gc.freeze()  # Python's end looks at every object for cycles, which takes as long


def _unraisable(unraisable: object) -> None:
    """Be quiet about Ctrl-C where Python cannot raise it."""
    if not isinstance(getattr(unraisable, "exc_value", None), KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)  # type: ignore[arg-type]  # its type is named in stubs only


if __name__ == "__main__":
    main()
