"""Commands: feedback laws and signals of time."""

from armsim.control.feedback import Feedback
from armsim.control.signals import OpenLoop

__all__ = ["Feedback", "OpenLoop"]
