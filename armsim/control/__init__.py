"""Commands: laws of feedback with their references, and signals of time. A law is a file; what they share is in `law`."""

from armsim.actuation import Output
from armsim.control.computed_torque import ComputedTorque
from armsim.control.controller import Controller
from armsim.control.encoder import Encoder, step_of
from armsim.control.expressions import Expressions
from armsim.control.feedforward import Feedforward
from armsim.control.function import FunctionLaw, LawFunction, Told
from armsim.control.law import FeedbackLaw, Kept, Now, Seen
from armsim.control.memory import Memory, linear_slots
from armsim.control.operational_space import OperationalSpace, Posture
from armsim.control.pid import Pid
from armsim.control.predicted_arm import CostWeights, PredictedArm
from armsim.control.predictive import Misses, Predictive
from armsim.control.reference import Constant, Desired, Reference
from armsim.control.signals import OpenLoop
from armsim.control.state_feedback import StateFeedback

Command = Controller | OpenLoop

__all__ = [
    "Command",
    "ComputedTorque",
    "Constant",
    "Controller",
    "CostWeights",
    "Desired",
    "Encoder",
    "Expressions",
    "Feedforward",
    "FunctionLaw",
    "Kept",
    "Misses",
    "FeedbackLaw",
    "LawFunction",
    "Memory",
    "Now",
    "OpenLoop",
    "OperationalSpace",
    "Output",
    "Pid",
    "Posture",
    "PredictedArm",
    "Predictive",
    "Reference",
    "Seen",
    "StateFeedback",
    "Told",
    "linear_slots",
    "step_of",
]
