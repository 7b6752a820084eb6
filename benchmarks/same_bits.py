"""Whether an older armsim gives the same bits: every shipped scenario by every method, and an arm's answers.

    python benchmarks/same_bits.py OLD_PYTHON

OLD_PYTHON is the interpreter of a virtual environment in which the older version is installed. Prints what differs, and how
long a step takes in either; exits with 1 if anything does. Runs that one of the two refuses or cannot finish count as
differing unless the other says the same.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys

DURATION = 0.2  # s of every scenario
METHODS = (
    "explicit_euler",
    "semi_implicit_euler",
    "velocity_implicit",
    "velocity_verlet",
    "implicit_midpoint",
    "rk4",
    "rk54",
    "rodas",
)


def digest(*arrays) -> str:
    """A hash of the bits of arrays; of zeros their sign does not count."""
    import numpy as np

    whole = hashlib.sha256()
    for array in arrays:
        whole.update((np.asarray(array, dtype=float) + 0.0).tobytes())
    return whole.hexdigest()[:16]


def scenarios() -> dict[str, dict[str, str]]:
    """A digest of every column of every shipped scenario by every method."""
    import armsim
    from armsim.files.shipped import shipped_names

    found = {}
    for name in shipped_names("configs"):
        for method in (*METHODS, "auto"):
            changes: dict[str, object] = {"integrator.method": method, "duration": DURATION}
            if method in ("rk54", "rodas", "auto"):
                changes = {"integrator": {"method": method}, "duration": DURATION, "log.every": 0.01}
            try:
                run = armsim.simulate(name, changes, force_step=True)
                columns = {heading: digest(run[heading]) for heading in run.columns}
                found[f"{name} {method}"] = {"status": run.status, "state": digest(run.state), **columns}
            except armsim.ArmsimError as error:
                found[f"{name} {method}"] = {"status": str(error).splitlines()[0]}
    return found


def answers() -> dict[str, dict[str, str]]:
    """A digest of what every shipped arm answers, of its forward model, and of recordings."""
    import numpy as np

    import armsim
    from armsim.files.shipped import shipped_names

    found = {}
    for name in shipped_names("robots"):
        arm = armsim.load_robot(name)
        n = len(arm.joints)
        q, qd, x = np.random.default_rng(1).uniform(-1, 1, (3, 7, n))
        asked = {
            "inverse": arm.inverse_dynamics(q, qd, x),
            "forward": arm.forward_dynamics(q, qd, x),
            "mass": arm.mass_matrix(q),
            "bias": arm.bias(q, qd),
            "energy": [arm.kinetic_energy(q, qd), arm.potential_energy(q)],
            "poses": arm.link_poses(q).position,
            "jacobian": arm.jacobian(q),
            "advance": np.concatenate(arm.advance(q, qd, x, 0.01)),
        }
        found[name] = {question: digest(answer) for question, answer in asked.items()}
        for method in METHODS:
            model = armsim.ForwardModel(name, dt=1e-4, method=method, output="torque")
            state = model.state(q[0], qd[0])
            for k in range(7):
                state = model.step(state, x[k])
            found[name][f"model by {method}"] = digest(state, model.step(np.tile(state, (7, 1)), x))
    for name in ("arm5_hold_pi",):
        recording = armsim.record(name, {"duration": DURATION})
        again = armsim.replay(recording, method="rk4", tolerance={"q": 1.0})
        found[f"{name} recorded"] = {
            "states": digest(recording.states, recording.inputs),
            "replay": digest(again.states),
        }
    for name in ("arm5_hold", "arm5_hold_pi", "puma560_hold", "rr_config1"):
        model = armsim.linearize(name)
        found[f"{name} linear"] = {letter: digest(getattr(model, letter)) for letter in "ABCD"}
    return found


def timings() -> dict[str, float]:
    """ns a step of some scenarios, the least of several runs."""
    import armsim

    found = {}
    for name in ("arm5_hold", "puma560_hold", "two_link_hold"):
        for method in ("explicit_euler", "semi_implicit_euler", "velocity_implicit", "rk4", "implicit_midpoint"):
            changes = {"integrator.method": method, "duration": 1.0, "log.every": 0.1}
            runs = [armsim.simulate(name, changes, force_step=True) for _ in range(7)]
            found[f"{name} {method}"] = min(run.seconds["loop_s"] / run.steps * 1e9 for run in runs)
    return found


def main() -> int:
    os.environ.setdefault("ARMSIM_OPTIMISATION", "1")  # as long runs have it: short ones do without
    if sys.argv[1] == "--digest":
        json.dump({"bits": scenarios() | answers(), "ns": timings()}, sys.stdout)
        return 0
    old, new = (
        json.loads(subprocess.run([python, __file__, "--digest"], check=True, stdout=subprocess.PIPE).stdout)
        for python in (sys.argv[1], sys.executable)
    )
    different = 0
    for key, before in old["bits"].items():
        after = new["bits"].get(key, {})
        changed = [name for name, bits in before.items() if bits != after.get(name)]
        different += bool(changed)
        if changed:
            print(f"{key}: {', '.join(changed)}")
    print(f"{len(old['bits']) - different} of {len(old['bits'])} are the same bits, of all that the older one gives")
    for key, before in old["ns"].items():
        print(f"{key}: {before:.0f} ns a step before, {new['ns'][key]:.0f} now")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
