"""Runs armsim's commands in processes that end at a chosen moment: a program for `test_kills.py`.

It reads lines of JSON, and forks for each, so that a trial takes no longer than its command. A moment is a time; or a call into C
from armsim's text about files, by number from the first folder that is made; or such a call that changes names, or follows one.
"""

import json
import os
import signal
import sys
import threading
import time

WATCHED = ("/files/", "/simulation/run.py", "/simulation/run_files.py", "/recording/recording.py")
CHANGING = (
    "mkdir",
    "rename",
    "remove",
    "rmdir",
    "fsync",
    "append",
)  # `append` notes a rename of which Python does not know


def ended_at(asked: dict):
    """A profiler that ends the process at such a call, and counts them."""
    package = os.path.dirname(os.path.dirname(sys.modules["armsim.cli.main"].__file__))
    files = {}
    lock = threading.Lock()

    def look(frame, event, arg) -> None:
        if event not in ("c_call", "c_return"):
            return
        name = frame.f_code.co_filename
        if name not in files:
            files[name] = name.startswith(package) and any(part in name for part in WATCHED)
        if files[name] and (look.calls or arg.__name__ == "mkdir" or "anywhere" in asked):  # nothing is written before
            with lock:
                look.calls += 1
                now = look.calls == asked.get("call")
                if event == "c_call" and arg.__name__ in CHANGING:
                    look.changes += 1
                    now = now or look.changes == asked.get("change")
            if now:
                os.kill(os.getpid(), asked["signal"])

    look.calls = look.changes = 0
    return look


def child(asked) -> None:
    from armsim.cli.main import main

    look = ended_at(asked)
    if "seconds" not in asked:
        threading.setprofile(look)
        sys.setprofile(look)
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        main(asked["args"])
    except SystemExit as end:
        sys.setprofile(None)
        sys.stderr.flush()
        if "count" in asked:
            with open(asked["count"], "w") as file:
                file.write(json.dumps([look.calls, look.changes]))
        os._exit(end.code or 0)
    except KeyboardInterrupt:  # before or after what armsim can answer for
        os._exit(130)
    os._exit(99)


def serve(settings) -> None:
    from armsim.cli.main import main
    from armsim.files import exchange, known_data
    from armsim.simulation import row_log

    known_data.KnownData.data = lambda self: None  # a known run is written with fewer calls

    if settings["one after the other"]:
        exchange._renamer = lambda: None
    if settings["streamed"]:
        row_log.IN_MEMORY, row_log.BLOCK = 1, 5_000
    for warm in settings["warm"]:
        try:
            main(warm)
        except SystemExit:
            pass
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # until it is armsim's
    print("ready", flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        number = os.fork()
        if number == 0:
            child(asked)
        if "seconds" in asked:
            time.sleep(asked["seconds"])
            os.kill(number, asked["signal"])
        print(json.dumps(os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])), flush=True)


if __name__ == "__main__":
    serve(json.loads(sys.argv[1]))
