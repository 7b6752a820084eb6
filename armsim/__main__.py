"""`python -m armsim`, and the entry point: so light that Ctrl-C finds it there while all else is imported."""

import sys


def main() -> None:
    """Run the command line; see `armsim.cli.main.main`."""
    sys.unraisablehook = _unraisable
    try:
        from armsim.cli.main import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)
    finally:
        from signal import SIG_IGN, SIGINT, signal

        signal(SIGINT, SIG_IGN)  # nothing is left to interrupt


def _unraisable(unraisable: object) -> None:
    """Be quiet about Ctrl-C where Python cannot raise it."""
    if not isinstance(getattr(unraisable, "exc_value", None), KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)  # type: ignore[arg-type]  # its type is named in stubs only


if __name__ == "__main__":
    main()
