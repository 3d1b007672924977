"""GLM by Zhipu (z.ai, bigmodel.cn): reasoning goes back unmodified, which replay does anyway."""

from logagent.llm._profile import Profile

PROFILE = Profile(
    hosts=("open.bigmodel.cn", "api.z.ai"),
    assumed_window=131_072,
)
