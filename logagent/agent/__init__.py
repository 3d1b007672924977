"""The loop of model and tools: `Agent(...).investigate(question, digest)` answers a typed Outcome."""

from logagent.agent._loop import Agent, AgentLimits, Outcome, StopReason

__all__ = ["Agent", "AgentLimits", "Outcome", "StopReason"]
