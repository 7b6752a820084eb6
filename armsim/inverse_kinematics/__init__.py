"""Inverse kinematics: joint positions at which a frame of an arm is where it is wanted, over floats or expressions."""

from armsim.inverse_kinematics.near import PoseSolution, solve_near
from armsim.inverse_kinematics.task import Pointing, PoseGoal

__all__ = ["Pointing", "PoseGoal", "PoseSolution", "solve_near"]
