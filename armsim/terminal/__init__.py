"""The terminal that a command is called from.

What others use:
    streams: `echo` and `bold`, printing; `open_streams`, `flush`, standard streams that can be written.
    progress: `progress_bar`, `progress_bars`, what takes long.
    page: `page`, Markdown as text. completion: what shells complete; `completed`, a command's options; `script`.
    divergence: `divergence`, the message of a run that diverged.
    failure: `told`, what ended a command as a message and an exit code; INTERRUPTED.
"""
