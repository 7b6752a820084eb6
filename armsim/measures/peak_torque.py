"""Peak torques of the motors."""

from __future__ import annotations

from armsim.measures.aggregates import Peak
from armsim.measures.kind import Request
from armsim.measures.measure import Measure


def peak_torque(request: Request) -> Measure:
    """The largest magnitude of the motor torque, felt at the joint, of every joint asked for."""
    names = tuple(f"peak_torque_{joint.name}" for joint in request.joints)
    units = tuple(joint.kind.force for joint in request.joints)
    return Peak(names, units, lambda now: [now.torques[i].motor for i in request.indices])
