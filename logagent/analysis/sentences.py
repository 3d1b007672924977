"""Prose -> sentences, Western and Chinese."""

from collections.abc import Iterator

from logagent.expressions import expression

ID_GROUP = expression(r"[\[(（【]\s*(?:E\d{1,6}\s*[,;、，\s]*)+[\])）】]")
"""Ids of evidence behind what they stand for."""
QUOTE = expression(
    r"\"([^\"]{2,600})\"|“([^”]{2,600})”|‘([^’]{2,600})’|`([^`]{2,600})`|「([^」]{2,600})」|『([^』]{2,600})』"
    r"|(?<![\w'])'([^']{2,600})'(?!\w)"
)
"""Text in quotes, in any of the usual pairs; an apostrophe inside a word opens none."""
_CJK = r"[\u3400-\u9fff]"
_SENTENCE_END = expression(
    r"(?<=[。！？])(?![”’」』）)\]】。！？])\s*"  # Chinese prose has no blank behind a full stop
    r"|(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\b[Nn]r\.)(?<!\bvs\.)(?<!\bcf\.)(?<!\bapprox\.)(?<=[.!?])"
    rf"(?:\s+(?=[^\W\d_a-z]|[\[(（【「『“\"'`*•-])|(?<=[\])）】][.!?])\s+(?=\S)|(?<=[\])）】!?][.!?])(?={_CJK}))"
    r"|\n+"
)
"""A dot inside a name (`smtp.mail.example`, `3.8.1`, `node.js`) and behind a short word ends nothing."""


def sentences(text: str) -> list[str]:
    """Sentences of Western and Chinese prose; ids behind a full stop belong to the sentence before.

    >>> sentences("Pool empty [E5]. Orders fail. [E6]")
    ['Pool empty [E5].', 'Orders fail. [E6]']
    """
    found: list[str] = []
    for part in _split(text.strip()):
        if found and part and not ID_GROUP.sub("", part).strip(" .。"):
            found[-1] = f"{found[-1]} {part}"
        elif part.strip():
            found.append(part.strip())
    return found


def _split(text: str) -> Iterator[str]:
    """Parts between the ends of sentences; one inside a quote is part of what is quoted."""
    plain = QUOTE.sub(lambda hit: "_" * len(hit[0]), text)
    start = 0
    for end in _SENTENCE_END.finditer(plain):
        yield text[start : end.start()]
        start = end.end()
    yield text[start:]
