"""Qwen on DashScope: thinking mode refuses a forced tool and anything that does not stream."""

from logagent.llm._profile import Profile

PROFILE = Profile(
    hosts=("dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com", "api-inference.modelscope.cn"),
    assumed_window=131_072,
)
