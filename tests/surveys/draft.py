"""A scenario in the making: a random arm, and what may act on it, sized by the joints' own inertia."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

from .newton_euler import Chain

Table = tuple[Sequence[float], Mapping[str, Sequence[float]]]


def short(x: float) -> float:
    """A number as one would write it."""
    return float(f"{x:.4g}")


class Draft:
    """A case in the making: an arm of one to three joints under gravity, its numbers sized by the joints' own inertia.

    Sizes of torques are accelerations [1/s² or m/s²], those of stiffness 1/s², of damping 1/s.
    """

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.n = rng.choice([1, 1, 2, 2, 3])
        joints = [self.joint(i) for i in range(self.n)]
        tilt, turn, pull = rng.uniform(0, math.pi), rng.uniform(-math.pi, math.pi), rng.uniform(0, 6)
        down = (math.sin(tilt) * math.cos(turn), math.sin(tilt) * math.sin(turn), math.cos(tilt))
        gravity = [short(pull * x) for x in down]
        self.robot = {"format": "armsim/robot/1", "name": "random", "gravity": gravity, "joints": joints}
        self.q = [short(rng.uniform(-0.8, 0.8)) for _ in joints]
        self.scenario: dict[str, Any] = {
            "format": "armsim/scenario/1",
            "name": "random",
            "robot": self.robot,
            "duration": 1.2,
            "initial": {"q": self.q, "qd": [self.within(-1.5, 1.5) for _ in joints]},
        }
        self.tables: dict[str, Table] = {}
        self.corners: list[float] = []
        M, _ = Chain(self.robot).equations(self.q, [0.0] * self.n)
        self.inertia = [M[i][i] for i in range(self.n)]
        for i, joint in enumerate(joints):
            joint |= {"initial": self.q[i], "friction": {"viscous": self.sized(i, 0.3, 1.5)}}

    def within(self, a: float, b: float) -> float:
        return short(self.rng.uniform(a, b))

    def sized(self, i: int, a: float, b: float) -> float:
        """A joint's number, times its inertia."""
        return short(self.inertia[i] * self.rng.uniform(a, b))

    def sign(self) -> int:
        return self.rng.choice([-1, 1])

    def joint(self, i: int) -> dict[str, Any]:
        """A joint with a solid link."""
        rng = self.rng
        mass, edges = rng.uniform(0.5, 2.0), [rng.uniform(0.2, 0.5) ** 2 for _ in range(3)]
        moments = {f"{c}{c}": short(mass / 12 * (sum(edges) - e)) for c, e in zip("xyz", edges)}
        body = {"mass": short(mass), "center": [self.within(-0.3, 0.3) for _ in range(3)], "about": "com", **moments}
        alpha = rng.choice([0.0, short(math.pi / 2), self.within(-3, 3)])
        row = {"a": self.within(0.1, 0.4) if i else 0.0, "alpha": alpha, "d": self.within(-0.2, 0.2)}
        kind = rng.choice(["revolute", "revolute", "prismatic"])
        return {"name": f"J{i + 1}", "type": kind, "mdh": row, "bodies": [{"inertia": body}]}

    # ---- what drives ----

    def wave(self, amplitude: float) -> str:
        return f"{short(amplitude)}*sin({self.within(3, 9)}*t + {self.within(-3, 3)})"

    def torques(self, least: float = 5, most: float = 12) -> None:
        """Sinusoidal joint torques."""
        self.scenario["inputs"] = {"torque": [self.wave(self.sized(i, least, most)) for i in range(self.n)]}

    def voltages(self, share: float = 1.0) -> None:
        """Sinusoidal voltages, sized by the motors'."""
        self.scenario["inputs"] = {"voltage": [self.wave(share * self.full[i]) for i in range(self.n)]}

    def pd(self, output: str = "torque", stiffness: tuple[float, float] = (20, 60), **more: Any) -> None:
        """Controller towards another pose."""
        target = [short(q + self.sign() * self.rng.uniform(0.5, 1.2)) for q in self.q]
        units = (
            self.inertia if output == "torque" else [self.inertia[i] / self.torque_per_volt[i] for i in range(self.n)]
        )
        kp = [short(unit * self.rng.uniform(*stiffness)) for unit in units]
        kd = [short(abs(unit) * self.rng.uniform(1, 4)) * (1 if unit > 0 else -1) for unit in units]
        self.scenario["control"] = {"law": "pd", "output": output, "kp": kp, "kd": kd, "target": target, **more}

    def motors(self, **more: Any) -> None:
        """Motors of 10 V or so that accelerate a joint by some 20 1/s², and whose back-EMF damps it with some 1/s."""
        self.full, self.torque_per_volt = [], []
        for i, joint in enumerate(self.robot["joints"]):
            volts, gear = self.rng.uniform(6, 24), self.sign() * self.rng.uniform(3, 60)
            stall, damping = self.inertia[i] * self.rng.uniform(15, 30), self.inertia[i] * self.rng.uniform(1, 5)
            Kp = volts * damping / (abs(gear) * stall)
            Ra = abs(gear) * Kp * volts / stall
            rotor = self.sized(i, 0.05, 0.3) / gear**2
            joint["motor"] = {"Kp": short(Kp), "Ra": short(Ra), "gear": short(gear), "rotor_inertia": short(rotor)}
            joint["motor"] |= {key: x(i, joint["motor"], volts, stall) for key, x in more.items()}
            self.full.append(short(volts))
            self.torque_per_volt.append(gear * Kp / Ra)

    def bare_motors(self, **more: Any) -> None:
        """Motors of which only the torque is known."""
        for i, joint in enumerate(self.robot["joints"]):
            gear = short(self.sign() * self.rng.uniform(3, 60))
            joint["motor"] = {"gear": gear, "rotor_inertia": short(self.sized(i, 0.05, 0.3) / gear**2)}
            joint["motor"] |= {key: x(i, joint["motor"]) for key, x in more.items()}

    # ---- what acts on joints ----

    def friction(self, least: float = 1.0, most: float = 5.0) -> None:
        """Dry friction of the joints, by direction of some."""
        for i, joint in enumerate(self.robot["joints"]):
            dry: Any = self.sized(i, least, most)
            if self.rng.random() < 0.3:
                dry = {"positive": dry, "negative": self.sized(i, least, most)}
            joint["friction"]["coulomb"] = dry

    def stops(self, stiffness: tuple[float, float], ratio: tuple[float, float] | None = None) -> None:
        """Stops about the start, of a stiffness and, as a share of the critical one, a damping."""
        for i, joint in enumerate(self.robot["joints"]):
            k = self.rng.uniform(*stiffness)
            limits = {"lower": short(self.q[i] - self.rng.uniform(0.02, 0.3))}
            limits |= {"upper": short(self.q[i] + self.rng.uniform(0.02, 0.3)), "stiffness": short(self.inertia[i] * k)}
            if ratio:
                limits["damping"] = short(self.inertia[i] * 2 * math.sqrt(k) * self.rng.uniform(*ratio))
            joint["limits"] = limits

    def pushes(self) -> None:
        """Forces on links, for a time."""
        found = []
        for joint in self.robot["joints"]:
            begin = self.rng.randint(5, 60)
            push: dict[str, Any] = {"link": joint["name"], "from": begin / 100}
            push |= {"to": (begin + self.rng.randint(5, 50)) / 100, "axes": self.rng.choice(["world", "local"])}
            push |= {"point": [self.within(-0.2, 0.2) for _ in range(3)]}
            push |= {"force": [self.within(-15, 15) for _ in range(3)]}
            found.append(push | {"moment": [self.within(-3, 3) for _ in range(3)]})
        self.scenario["external"] = found

    def recorded(self, hold: str) -> None:
        """Joint torques from a table whose rows fall between multiples of any step."""
        times = sorted(
            {0.0, 1.3, *(round(self.rng.uniform(0.02, 1.19), 4) + 0.00003 for _ in range(self.rng.randint(4, 12)))}
        )
        times = [round(t, 5) for t in times]
        columns = {}
        for i in range(self.n):
            columns[f"J{i + 1}"] = [self.sized(i, -14, 14) for _ in times]
        self.tables["torque.csv"] = times, columns
        named = [{"csv": "torque.csv", "column": column, "hold": hold} for column in columns]
        self.scenario["inputs"] = {"torque": named}

    def kinked(self) -> None:
        """Joint torques by formulas with corners."""
        found = []
        for i in range(self.n):
            A, w, p = self.sized(i, 8, 14), self.within(3, 9), self.within(-3, 3)
            share = self.within(-0.7, 0.7)
            kind = self.rng.choice(["abs", "max", "min"])
            arc = 0.0 if kind == "abs" else math.asin(share)
            for k in range(-3, 8):
                corners = [(k * math.pi - p) / w] if kind == "abs" else []
                if kind != "abs":
                    corners = [(arc + 2 * k * math.pi - p) / w, (math.pi - arc + 2 * k * math.pi - p) / w]
                self.corners += [t for t in corners if 0 < t < self.scenario["duration"]]
            wave = f"sin({w}*t + {p})"
            found.append(f"{A}*({f'abs({wave}) - 0.5' if kind == 'abs' else f'{kind}({wave}, {share})'})")
        self.scenario["inputs"] = {"torque": found}
