"""What an arm touches in the motion of a scenario."""

from __future__ import annotations

from typing import Any

from armsim.arm.approach import Approach
from armsim.arm.robot import Robot
from armsim.control import Controller
from armsim.errors import UsageError
from armsim.loading import Scenario
from armsim.records import record
from armsim.simulation.simulate import simulate


@record
class Collisions:
    """How near an arm comes to itself and to the world in a motion.

    Attributes:
        until: Up to when [s]: the end, or where a run diverged.
        approaches: Of each pair that is watched, those that touch first, by time, then the others by distance.
        left_out: Pairs that are not watched, as they touch in the robot's initial pose.
        unseen: Terrain and payloads, which have no distances.
    """

    until: float
    approaches: list[Approach]
    left_out: list[str]
    unseen: list[str]

    @property
    def touches(self) -> list[Approach]:
        """The pairs that touch."""
        return [one for one in self.approaches if one.touch is not None]


def collisions(scenario: Scenario, reference: bool = False) -> Collisions:
    """What an arm touches in the motion of a scenario, or along the reference of its controller; between rows, too.

    Raises:
        UsageError: There is nothing that could touch, no reference, or the scenario cannot be run.
    """
    robot, command = Robot(scenario.arm), scenario.command
    if not robot.pairs:
        expected = "links of `bodies` with sizes that are no neighbours, or a `world`"
        raise UsageError.of(scenario.name, expected, "nothing that could touch", "add bodies; their mass may be 0")
    rows: Any
    if not reference:
        run = simulate(scenario)
        rows = run.t, run.q, run.qd
    elif isinstance(command, Controller):
        clock = scenario.clock
        t = [clock.at(k) for k in range(0, clock.steps + 1, clock.log_every)]
        wanted = [command.reference.at(x) for x in t]
        rows = t, [x.q for x in wanted], [x.qd for x in wanted]
    else:
        raise UsageError.of(scenario.name, "`control` with a reference", "none", "check the motion itself")
    left_out = [name for name in scenario.arm.pairs if name not in robot.pairs]
    return Collisions(
        float(rows[0][-1]),
        robot.approaches(*rows),
        left_out,
        [*scenario.arm.terrain, *(it.name for it in scenario.arm.payloads)],
    )
