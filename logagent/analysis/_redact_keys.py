# ruff: noqa: SIM905 - lists of words read best as words
r"""Secrets named by a key: `password=...`, `"api_key": "..."`, `--db-password x`, `<password>x</password>`.

A key is found by a word in it, judged as a whole (`max_tokens` and `secretName` are innocent), then the value behind
it is read the way the format writes it: quoted, escaped, next list item, XML text, up to a delimiter.
"""

import re
from collections.abc import Iterator

from logagent.analysis._redact_values import PROSE, SHORT, is_innocent, is_path, looks_random
from logagent.analysis._redact_view import Hit, View
from logagent.expressions import expression

_WORD = expression(
    r"passw(?:or)?t?d?|pwd|passphrase|passcode|passwort|secret|token|api[ _-]?key|access[ _-]?key|private[ _-]?key"
    r"|(?:account|encryption|signing|master|app|application|subscription|storage|license|auth|shared)[ _-]?key"
    r"|authorization|cookie|credential|requirepass|masterauth|(?<![a-z])auth(?![a-z])|jsessionid|phpsessid|connect\.sid"
    r"|connection[ _-]?string|(?<![a-z])(?:pw|pat|pass)(?![a-z])|sessionid|aspxauth|mot de passe|senha|contrase[nñ]a"
    r"|haslo|hasło|heslo|wachtwoord|kennwort|parola|şifre|salasana|lösenord|пароль|비밀번호|パスワード|暗証番号"
    r"|密码|密碼|口令|密钥|密鑰|令牌|秘钥",
    re.IGNORECASE,
)
CLUES = (
    "pass", "pwd", "secret", "token", "key", "authorization", "cookie", "credential", "auth", "sessid", "sessionid",
    "connect.sid", "connection", "pw", "pat", "senha", "contrase", "haslo", "hasło", "heslo", "wachtwoord", "kennwort",
    "parola", "şifre", "salasana", "lösenord", "пароль", "비밀번호", "パスワード", "暗証", "密", "口令", "令牌", "秘钥",
)  # fmt: skip
_LONGEST_KEY = 60
_ODD = expression(r"[^A-Za-z0-9_.\-]")
_REACH = 32
"""Characters that a key word reaches beyond its clue, at most."""
_CLUE = expression("|".join(map(re.escape, CLUES)))
_KEY_CHAR = expression(r"[A-Za-z0-9_.\-]")
_SPLIT = expression(r"[^A-Za-z]+|(?<=[a-z])(?=[A-Z])")
_STRONG = frozenset(
    "password passwd passwort pwd passphrase passcode pw requirepass masterauth passe senha contrasena contraseña "
    "haslo hasło heslo wachtwoord kennwort parola şifre salasana lösenord пароль 비밀번호 パスワード 暗証番号 密码 "
    "密碼 口令".split()
)
_HEADERS = frozenset({"authorization", "cookie"})
_INNOCENT_LAST = frozenset(
    "policy policies length len expired expires expire expiry expiration age reset changed change required "
    "attempts attempt count field fields hint strength enabled disabled type types file path dir name names url "
    "uri endpoint id ids encoder validator at min max history rotation manager provider service source form page "
    "error errors failure failures retries ref refs store version arn namespace mount class usage limit budget "
    "bucket buckets ttl refresh lifetime algorithm alg algo format regex pattern mode status state cache rate issuer "
    "header prefix size seconds ms time date created updated valid invalid missing exception filter handler "
    "generator factory util utils helper checker resolver parser interceptor controller review requests request "
    "response total used remaining".split()
)
_INNOCENT_FIRST = frozenset(
    "next page continuation cancellation fencing resume sync unexpected max min total prompt completion num input "
    "output cached reasoning primary foreign partition routing cache sort public idempotency no nil parse parser "
    "eof ownership shuffle watermark scroll cursor checkpoint".split()
)
_KEY_QUALIFIERS = frozenset(
    "api access private secret account encryption signing master app application subscription storage license "
    "auth shared apikey accesskey".split()
)
_TWO_WORDS = 2
_MEASURES = frozenset({"tokens", "tokenizer", "tokenized", "tokenization", "secretary", "passwordless", "keys"})


def find(view: View) -> Iterator[Hit]:
    """Values of keys that name a secret, in the order of the text. Linear: no character is a value twice."""
    text, done = view.text, 0
    for match in _words(view):
        if match.start() < done:
            continue
        start, end = _whole_key(text, match.start(), match.end(), done)
        strength = _judge(text[start:end], match[0].lower())
        if strength:
            for hit in _values(text, start, end, strength):
                done = max(done, hit.end)
                if hit.start < hit.end:
                    yield hit


def _words(view: View) -> Iterator[re.Match[str]]:
    """All matches of `_WORD`, looked for only where one of the clues stands, which costs a tenth."""
    text, lower, at = view.text, view.lower, 0
    if len(lower) != len(text):
        yield from _WORD.finditer(text)
        return
    for clue in _CLUE.finditer(lower):
        if clue.start() >= at and (
            match := _WORD.search(text, max(at, clue.start() - _REACH), min(len(text), clue.end() + _REACH))
        ):
            yield match
            at = match.end()


def may_be_key(word: str) -> bool:
    """Whether a word, or one that ends with it behind a blank (`api key`), may be a key that names a secret."""
    lower = word.lower()
    if lower.startswith(("key", "string", "passe")) or len(word) > _LONGEST_KEY:
        return True
    found = [match[0].lower() for match in _WORD.finditer(word)]
    return bool(found) and (_ODD.search(word) is not None or any(_judge(word, one) for one in found))


def names_secret(key: str, value: str) -> str:
    """Kind of secret that `value` is because of its key alone, or ""."""
    word = _WORD.search(key)
    strength = _judge(key, word[0].lower()) if word else ""
    if strength in _HEADERS:
        return "" if is_innocent(value) else "token"
    return next((hit.kind for hit in _accepted(value, 0, len(value), strength)), "") if strength else ""


def _whole_key(text: str, start: int, end: int, floor: int) -> tuple[int, int]:
    lowest = max(floor, start - 64)
    while start > lowest and _KEY_CHAR.match(text[start - 1]):
        start -= 1
    highest = min(len(text), end + 64)
    while end < highest and _KEY_CHAR.match(text[end]):
        end += 1
    while end > start and text[end - 1] in ".-":
        end -= 1
    return start, end


def _judge(key: str, word: str) -> str:
    """`strong` (any value), `weak` (a value that looks like a credential), a header name, or "" for an innocent key."""
    if not key.isascii():
        return "strong" if word in _STRONG else "weak"
    parts = [part.lower() for part in _SPLIT.split(key) if part]
    if not parts or any(part in _MEASURES for part in parts) or parts[0] in _INNOCENT_FIRST:
        return ""
    if parts[-1] in _INNOCENT_LAST and parts[-1] != word:
        return ""
    compact = "".join(parts)
    for header in _HEADERS:
        if compact.endswith(header):
            return header
    if any(part in _STRONG for part in parts) or compact.endswith(("password", "passwd", "pwd", "passphrase")):
        return "strong"
    return _weak(parts, compact)


def _weak(parts: list[str], compact: str) -> str:
    if parts[-1] == "key" or compact.endswith("key"):
        named = set(parts) & _KEY_QUALIFIERS or any(compact.endswith(f"{word}key") for word in _KEY_QUALIFIERS)
        return "weak" if named else ""
    last = ("secret", "token", "credential", "credentials", "auth", "sid", "sessid", "pat", "pass")
    if parts == ["pass"]:  # also a count of what went well: `_redact_patterns` looks at the value
        return ""
    if parts[-1] in last or compact.endswith(("secret", "token", "connectionstring", "phpsessid", "aspxauth")):
        return "weak"
    if compact.endswith("sessionid") and len(parts) != _TWO_WORDS:  # `session_id` is a number to search for
        return "weak"
    return "weak" if "secret" in parts or "token" in parts[1:-1] else ""


# -- what stands behind the key ------------------------------------------------------------------------------------

_ASSIGN = expression(
    r"""(?P<close>\\?["'`]|\])?[ \t]{0,4}(?:(?:is|was|为|是|は)[ \t]{0,2}(?=[:=：＝]))?"""
    r"""(?P<op>:=|=>|->|[=:＝：])[ \t]{0,8}"""
)
_JSON_START = expression(r"\s{0,8}[\[{]\s{0,8}[\"\[{]")
"""In a JSON document a bare quote behind `password=` ends the string: there is no value."""
_XML = expression(r"(?:\s[^<>]{0,200})?>(?P<value>[^<>]{1,4096})(?=<|$)")
_ARGUMENT = expression(r"""["']?(?:,[ \t]{0,4}|[ \t]{1,4})(?=[^\s])""")
_PAIR = expression(r"""(?P<quote>["'])\s{0,4},\s{0,4}(?:["']value["']\s{0,4}:\s{0,4})?(?=["'])""")
_ATTRIBUTE = expression(r"""["']\s{1,4}value\s{0,2}=\s{0,2}(?=["'])""")
_SPACED = expression(r"""[ \t]{1,4}(?:is[ \t:]{1,4}|by[ \t]{1,4}|to[ \t]{1,4})?(?=["'])""")
_JOINED = expression(r"""(?:[ \t]{0,2}[为是は])?[ \t]{0,2}(?=["'“「])""")
"""Scripts without blanks between words."""
_QUOTED_TOKEN = expression(r"""[ \t]{1,4}(?=["'`][\w+/=.~-]{16,4096}["'`])""")
_NAMESPACE = expression(r"</?[\w-]{1,32}:\Z")
_BARE = expression(r"[ \t]{1,4}(?=\S)")
_SCHEME = expression(r"(?:Bearer|Basic|ApiKey|Digest|Token|Negotiate|NTLM|Splunk|GenieKey|Key)[ \t]+", re.IGNORECASE)
_DELIMITER = expression(r"""[\s"'`&;<>|]|\\["'nrt]|,(?=\s|[\w.\-]{1,40}[=:]|["'{]|$)""")
_BLANK = expression(r"\s")
_BLANK_OR_SEMICOLON = expression(r"[\s;]")
_HEADER_END = expression(r"[\r\n\"'`\]}]|\\[nr\"]|,\s|\s-H\s")
_LINE_END = expression(r"[\r\n]|\\[nr]")
_CLOSING = {"“": "”", "「": "」"}
_CLOSERS = {")": "(", "]": "[", "}": "{"}
_LONGEST = 8_192


def _values(text: str, start: int, end: int, strength: str) -> Iterator[Hit]:
    quoted = start and text[start - 1] in "\"'" and text[end : end + 1] == text[start - 1]
    prefix = start and _NAMESPACE.search(text, max(0, start - 34), start)
    element = prefix or (start and text[start - 1] == "<") or (quoted and text[end + 1 : end + 2] == ">")
    if element and (match := _XML.match(text, end + 1 if quoted else end)):
        yield from _accepted(text, match.start("value"), match.end("value"), strength)
        return
    at = _value_start(text, start, end, strength)
    if at < 0:
        return
    if strength in _HEADERS:
        yield from _header(text, at, strength)
        return
    value_start, value_end, quoted = _read(text, at)
    if not quoted and _is_prose(text, at, value_start, value_end, strength):
        return
    yield from _accepted(text, value_start, value_end, strength)


def _value_start(text: str, start: int, end: int, strength: str) -> int:
    """Where the value of the key at start:end begins, or -1."""
    match = _ASSIGN.match(text, end)
    if match:
        ends_string = not match["close"] and text.startswith('"', match.end()) and _JSON_START.match(text)
        return -1 if ends_string else match.end()
    before = text[max(0, start - 2) : start]
    if text[start : start + 2] == "--" or before.endswith("-"):
        match = _ARGUMENT.match(text, end)
    elif before.endswith(('("', "('")) or (before and before[-1] in "\"'" and '"value"' in text[end : end + 16]):
        match = _PAIR.match(text, end)
    elif before and before[-1] in "\"'" and (attribute := _ATTRIBUTE.match(text, end)):
        match = attribute
    elif strength and not text[start:end].isascii():
        match = _JOINED.match(text, end)
    elif strength == "weak":
        match = _QUOTED_TOKEN.match(text, end)
    elif strength == "strong":
        word = text[start:end].lower()
        match = _BARE.match(text, end) if word in {"requirepass", "masterauth"} else _SPACED.match(text, end)
    return match.end() if match else -1


def _read(text: str, at: int) -> tuple[int, int, bool]:
    """Span of the value that begins at `at`, and whether it stands in quotes."""
    while at < len(text) and text[at] in "[({":
        at += 1
    for quote in ('\\"', "\\'", '"', "'", "`", "“", "「"):
        if text.startswith(quote, at):
            begin = at + len(quote)
            return begin, _closing(text, begin, _CLOSING.get(quote, quote)), True
    match = _DELIMITER.search(text, at, at + _LONGEST)
    stop = match.start() if match else min(len(text), at + _LONGEST)
    while stop > at and (text[stop - 1] in ",.:;" or _is_closer(text, at, stop)):
        stop -= 1
    return at, stop, False


def _is_closer(text: str, at: int, stop: int) -> bool:
    opener = _CLOSERS.get(text[stop - 1])
    return opener is not None and text.count(opener, at, stop) < text.count(text[stop - 1], at, stop)


def _closing(text: str, begin: int, quote: str) -> int:
    limit = min(len(text), begin + _LONGEST)
    at = begin
    while True:
        found = text.find(quote, at, limit)
        if found < 0:
            match = _LINE_END.search(text, begin, limit)
            return match.start() if match else limit
        slashes = 0
        while found - slashes - 1 >= begin and text[found - slashes - 1] == "\\":
            slashes += 1
        if slashes % 2 == 0:
            return found
        at = found + 1


def _header(text: str, at: int, kind: str) -> Iterator[Hit]:
    while at < len(text) and text[at] in "[(":
        at += 1
    begin, stop = at, -1
    for quote in ('\\"', '"', "'", "`"):
        if text.startswith(quote, at):
            begin = at + len(quote)
            stop = _closing(text, begin, quote)
            break
    if stop < 0:
        stop = _header_end(text, begin)
    if kind == "cookie":
        yield from _cookies(text, begin, stop)
    else:
        blank = _BLANK.search(text, begin, stop)
        stop, header = (blank.start() if blank else stop), stop
        for hit in _authorization(text, begin, header):
            yield hit
            stop = hit.end
    yield Hit(stop, stop, kind)  # read on behind what was read: other keys may follow on the line


def _header_end(text: str, begin: int) -> int:
    limit = min(len(text), begin + _LONGEST)
    match = _HEADER_END.search(text, begin, limit)
    return match.start() if match else limit


def _authorization(text: str, begin: int, stop: int) -> Iterator[Hit]:
    match = _SCHEME.match(text, begin, stop)
    if text.startswith("AWS4-", begin):
        return
    if match:
        begin = match.end()
        if match[0][:6].lower() == "digest":
            line = _LINE_END.search(text, begin)
            stop = line.start() if line else min(len(text), begin + _LONGEST)
        else:
            blank = _BLANK.search(text, begin, stop)
            stop = blank.start() if blank else stop
    else:
        blank = _BLANK_OR_SEMICOLON.search(text, begin, stop)
        stop = blank.start() if blank else stop
    if stop - begin >= SHORT and not is_innocent(text[begin:stop]) and not text[begin:stop].isalpha():
        yield Hit(begin, stop, "token")


_COOKIE = expression(r"(?P<name>[^\s=;,]{1,128})=(?P<value>[^;\s,]{1,4096})")
_ATTRIBUTES = frozenset("path domain expires max-age samesite priority version".split())


def _cookies(text: str, begin: int, stop: int) -> Iterator[Hit]:
    for match in _COOKIE.finditer(text, begin, stop):
        if match["name"].lower() not in _ATTRIBUTES and not is_innocent(match["value"]):
            yield Hit(match.start("value"), match.end("value"), "cookie")


def _is_prose(text: str, at: int, start: int, end: int, strength: str) -> bool:
    """`password: must contain a digit`: words behind a colon and a blank are no value."""
    word = text[start:end].lower()
    spaced = at and text[at - 1] in " \t"
    return bool(spaced and word.isalpha() and (word in PROSE or strength == "weak"))


def _accepted(text: str, start: int, end: int, strength: str) -> Iterator[Hit]:
    value = text[start:end]
    if is_innocent(value) or is_path(value):
        return
    if strength == "weak" and not looks_random(value):
        return
    if _SCHEME.match(value):
        start += len(_SCHEME.match(value)[0])  # type: ignore[index]
    yield Hit(start, end, "password" if strength == "strong" else "secret")
