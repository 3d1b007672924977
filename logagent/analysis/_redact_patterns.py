# ruff: noqa: E501 - one rule a line
"""Secrets known by their own shape: headers, URLs, provider prefixes, key blocks and password hashes.

Every rule names literals of which one must occur (lower case) before its expression is tried; all repetitions that
could follow each other over the same characters are bounded, so the time is linear.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from logagent.analysis._redact_view import Hit, View
from logagent.expressions import expression


class Rule(NamedTuple):
    """`pattern` finds; group `s` (or the whole match) is the secret."""

    kind: str
    clues: tuple[str, ...]
    pattern: re.Pattern[str]
    random: bool = False
    """Only if the value looks like a credential: digits or mixed case, not a word."""


def _rule(kind: str, clues: str, pattern: str, *, random: bool = False) -> Rule:
    return Rule(kind, tuple(clues.split("¦")), expression(pattern), random)


_B = r"(?<![A-Za-z0-9_])"
"""Not inside a longer word."""
_E = r"(?![A-Za-z0-9_])"

_WEB = (
    _rule("token", "bearer", r"(?i:\bbearer)[ \t]{1,4}(?P<s>[A-Za-z0-9._~+/=-]{8,4096})", random=True),
    _rule("token", "basic ", r"(?i:\bbasic)[ \t]{1,4}(?P<s>[A-Za-z0-9+/]{8,2048}={0,2})(?![\w])", random=True),
    _rule("token", "apikey ", r"(?i:\bapikey)[ \t]{1,4}(?P<s>[A-Za-z0-9+/_=-]{16,2048})", random=True),
    _rule("token", "credential=", r"\bCredential=(?P<s>[A-Za-z0-9]{12,128})"),
    _rule("token", "signature", r"(?i:\bsignature)[=:]\s?\"?(?P<s>[A-Za-z0-9+/=%_-]{20,2048})", random=True),
    _rule("password", "://", r"://[^\s/@:\"'<>]{0,128}:(?P<s>[^\s/\"'<>]{1,256})@(?=[\w\[%.-])"),
    _rule("token", "://", r"://(?P<s>[A-Za-z0-9_.~%-]{16,512})@(?=[\w\[])", random=True),
    _rule("password", "@tcp¦@unix¦@udp", r"\b[\w.-]{1,64}:(?P<s>[^\s\"'<>]{1,256})@(?:tcp[46]?|udp|unix)\("),
    _rule("password", "jdbc:oracle", r"jdbc:oracle:\w{1,8}:[^\s/@]{1,64}/(?P<s>[^@\s]{1,128})@"),
    _rule("password", "curl¦ -u¦--user", r"\s(?:-u|--user|--proxy-user)[ =]?[\"']?[\w.@%+-]{1,64}:(?P<s>[^\s\"']{2,256})"),
    _rule("password", "mysql¦mariadb", r"\b(?:mysql\w{0,16}|mariadb\w{0,16})\b[^\n|;]{0,200}?\s-p(?P<s>[^\s\"'-][^\s\"']{2,128})"),
    _rule("password", "sshpass", r"\bsshpass\s{1,4}-p\s{0,4}[\"']?(?P<s>[^\s\"']{2,128})"),
    _rule("password", "auth", r"(?:\"AUTH\"|\bAUTH\b)\s{1,4}(?:\"[\w.-]{1,64}\"\s{1,4})?\"(?P<s>[^\"\n]{1,512})\""),
    _rule("password", "identified by", r"(?i:\bidentified\s{1,4}by)\s{1,4}[\"'](?P<s>[^\"'\n]{1,256})[\"']"),
    _rule(
        "token",
        "token=¦code=¦key=¦sig=¦auth=¦x-amz-¦x-goog-¦ticket=¦session=¦sid=¦hash=¦jwt=¦secret=¦otp=¦invite=",
        r"(?i:[?&;](?:[\w-]{0,32}token|code|key|apikey|api_key|sig|x-amz-signature|x-amz-credential|x-amz-security-token"
        r"|x-goog-signature|x-goog-credential|auth|ticket|session|sid|hash|jwt|secret|client_secret|invite))="
        r"(?P<s>[^&\s\"'#<>;,)\]}]{8,4096})",
        random=True,
    ),
    _rule("token", "state=", r"[?&]code=[^&\s]{8,512}&(?:[^\s&]{1,64}&){0,4}state=(?P<s>[^&\s\"'#]{6,512})"),
    _rule("token", "state=", r"[?&]state=(?P<s>[^&\s\"'#]{6,512})&(?:[^\s&]{1,64}&){0,4}code="),
    _rule("webhook", "hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<s>[A-Za-z0-9/_-]{12,256})"),
    _rule("webhook", "/api/webhooks/", r"/api/webhooks/(?P<s>\d{5,24}/[\w-]{20,256})"),
    _rule("webhook", "api.telegram.org/", r"api\.telegram\.org/(?:file/)?bot(?P<s>\d{5,16}:[\w-]{20,64})"),
    _rule("webhook", "/hook/", r"/open-apis/bot/(?:v2/)?hook/(?P<s>[\w-]{16,64})"),
    _rule("webhook", "webhook.office.com/¦outlook.office", r"office(?:365)?\.com/webhook(?:b2)?/(?P<s>[\w@./-]{20,400})"),
    _rule("webhook", "hooks.zapier.com¦maker.ifttt.com", r"(?:hooks\.zapier\.com/hooks/catch/|maker\.ifttt\.com/\S{1,128}?/key/)(?P<s>[\w/-]{8,128})"),
    _rule("webhook", "pagerduty.com/integration", r"pagerduty\.com/integration/(?P<s>[A-Za-z0-9]{16,64})"),
    _rule(
        "token",
        "reset¦invit¦verif¦confirm¦activat¦magic¦login-link¦unsubscribe",
        r"(?i:/(?:[\w-]{0,24}(?:reset|invite|invitation|verify|verification|confirm|confirmation|activate|activation|magic"
        r"|magic-link|login-link|unsubscribe)[\w-]{0,16}))/(?P<s>[A-Za-z0-9_.~=-]{16,512})(?![\w/])",
        random=True,
    ),
)  # fmt: skip

_ENDS = r"(?=[\s\"'`,;.)\]}<]|$)"
_SPOKEN = (
    _rule("password", "passw¦passphrase¦pwd", r"(?i:(?<![a-z])(?:passwo?r?d|passphrase|pwd)[ \t]{1,4}(?:(?:is|was)[ \t]{1,4})?)(?=\S{0,255}?\d)(?=\S{0,255}?[A-Za-z])(?P<s>[A-Za-z0-9!@#$%^&*+_~-]{8,256})" + _ENDS),
    _rule("password", "pass=¦pass:¦pass =¦pass :", r"(?i:(?<![a-z])pass[ \t]?[=:][ \t]?)[\"']?(?=\S{0,255}?\d)(?=\S{0,255}?[A-Za-z])(?P<s>[^\s\"'&;,<>|(){}\[\]=]{8,256})" + _ENDS),
    _rule("secret", "secret ¦token ¦key ", r"(?i:(?<![a-z])(?:secret|token|(?:api|access|secret)[ _-]?key)[ \t]{1,4}(?:(?:is|was)[ \t]{1,4})?)(?=\S{0,255}?\d)(?=\S{0,255}?[A-Z])(?=\S{0,255}?[a-z])(?P<s>[A-Za-z0-9+/_~-]{20,512}={0,2})" + _ENDS, random=True),
)  # fmt: skip
"""Named without a sign between: `password is x`, `token x`. A value has digits and letters; a word of prose has not."""

_PROVIDERS = (
    _rule("key", "akia¦asia¦abia¦acca", _B + r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}" + _E),
    _rule("token", "ghp_¦gho_¦ghu_¦ghs_¦ghr_¦github_pat_", _B + r"(?:gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_\w{22,255})"),
    _rule("token", "glpat-¦gldt-¦glrt-¦glcbt-¦glptt-¦glft-¦glsoat-¦glagent-¦glimt-", _B + r"gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|imt)-[\w.-]{18,300}"),
    _rule("token", "xox¦xapp-", _B + r"(?:xox[abeoprsc](?:\.xox[bp])?-[\w-]{10,300}|xapp-\d-[\w-]{10,300})"),
    _rule("key", "sk_live_¦sk_test_¦rk_live_¦rk_test_¦whsec_¦sk_prod", _B + r"(?:[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,255}|whsec_[A-Za-z0-9+/=]{16,255})"),
    _rule("key", "aiza", _B + r"AIza[\w-]{30,45}"),
    _rule("token", "ya29.¦gocspx-¦1//0", r"(?<![\w.])(?:ya29\.[\w-]{20,1024}|GOCSPX-[\w-]{20,64}|1//0[\w-]{20,256})"),
    _rule("key", "sk-", _B + r"(?<!-)sk-(?:proj-|ant-|or-v1-|svcacct-|admin-|lf-)?[\w-]{20,300}", random=True),
    _rule("token", "npm_¦pypi-¦dckr_¦rubygems_¦oy2", _B + r"(?:npm_[A-Za-z0-9]{30,64}|pypi-[\w-]{40,1024}|dckr_(?:pat|oat)_[\w-]{20,128}|rubygems_[a-f0-9]{40,64}|oy2[a-z0-9]{43})"),
    _rule("token", "hf_¦gsk_¦r8_¦pplx-¦xai-¦nvapi-¦tgp_v1_", _B + r"(?:hf_[A-Za-z0-9]{30,64}|gsk_[A-Za-z0-9]{40,64}|r8_[A-Za-z0-9]{37}|pplx-[A-Za-z0-9]{40,64}|xai-[A-Za-z0-9]{60,90}|nvapi-[\w-]{60,80}|tgp_v1_[\w-]{40,50})"),
    _rule("key", "sg.", _B + r"SG\.[\w-]{16,32}\.[\w-]{30,64}"),
    _rule("key", "nrak-¦nrjs-¦nrii-¦nral", _B + r"(?:NR(?:AK|JS|II|IQ|RA)-[\w-]{19,64}|[a-f0-9]{36}NRAL)"),
    _rule("token", "glsa_¦glc_", _B + r"(?:glsa_[A-Za-z0-9]{20,64}_[A-Fa-f0-9]{8}|glc_[A-Za-z0-9+/=]{30,400})"),
    _rule("token", "dop_v1_¦doo_v1_¦dor_v1_", _B + r"do[opr]_v1_[a-f0-9]{40,80}"),
    _rule("token", "hvs.¦hvb.¦hvr.", r"(?<![\w.])hv[sbr]\.[\w-]{20,400}"),
    _rule("token", "dapi", _B + r"dapi[a-f0-9]{32}(?:-\d)?"),
    _rule("token", "eyj", r"(?<![\w.])eyJ[\w-]{6,4096}\.(?:eyJ)?[\w-]{4,8192}(?:\.[\w-]{0,8192}){0,3}"),
    _rule("token", "shpat_¦shpss_¦shpca_¦shppa_", _B + r"shp(?:at|ss|ca|pa)_[A-Fa-f0-9]{32}"),
    _rule("token", "sq0¦eaaa", _B + r"(?:sq0(?:atp|csp|idp)-[\w-]{20,60}|EAAA[\w-]{56,64})"),
    _rule("key", "hrku-", _B + r"HRKU-[0-9a-zA-Z_-]{32,80}"),
    _rule("token", "atlasv1", r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{40,120}"),
    _rule("token", "lin_api_¦ntn_¦figd_¦pmak-¦dp.pt.¦dp.st.¦pul-¦sntrys_¦sntryu_¦fo1_¦sgp_¦xkeysib-", _B + r"(?:lin_api_\w{30,64}|ntn_\w{40,64}|figd_[\w-]{30,64}|PMAK-[a-f0-9-]{50,80}|dp\.[ps]t\.[\w.]{30,80}|pul-[a-f0-9]{40}|sntry[su]_[\w+/=]{40,400}|fo1_[\w-]{40,64}|sgp_\w{40,100}|xkeysib-[a-f0-9]{64}-\w{16})"),
    _rule("token", "atatt3¦atbb¦atctt3", _B + r"(?:AT[AC]TT3[\w=-]{50,400}|ATBB[A-Za-z0-9]{28,40})"),
    _rule("key", "age-secret-key-1¦ops_eyj", r"(?:AGE-SECRET-KEY-1[A-Z0-9]{50,64}|ops_eyJ[\w+/=-]{50,2048})"),
    _rule("key", "ltai¦akid", _B + r"(?:LTAI[A-Za-z0-9]{12,24}|AKID[A-Za-z0-9]{13,40})" + _E),
    _rule("key", "key-", _B + r"key-[0-9a-f]{32}" + _E),
    _rule("token", ":aa", r"(?<!\w)\d{8,10}:AA[\w-]{32,36}(?!\w)"),
    _rule("token", "mt¦mz¦nd¦nz¦od¦ot", _B + r"[MNO][A-Za-z0-9_-]{23,27}\.[\w-]{6}\.[\w-]{27,40}" + _E),
    _rule("key", "sk", _B + r"SK[0-9a-f]{32}" + _E),
)  # fmt: skip

_BLOCKS = (
    _rule("hash", "$2", r"\$2[abxy]?\$\d\d\$[./A-Za-z0-9]{20,53}"),
    _rule("hash", "$1$¦$5$¦$6$¦$y$¦$7$¦$gy$¦$apr1$", r"\$(?:1|5|6|7|y|gy|apr1)\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9$]{1,64}\$[./A-Za-z0-9]{20,128}"),
    _rule("hash", "$argon2¦$scrypt$¦$pbkdf2", r"\$(?:argon2(?:id|i|d)|scrypt|pbkdf2[\w-]{0,16})\$[\w=,$+/.-]{20,400}"),
    _rule("hash", "pbkdf2_", r"pbkdf2_\w{4,10}\$\d{1,9}\$[\w+/=]{1,64}\$[\w+/=]{20,128}"),
    _rule("hash", "{ssha", r"\{SSHA(?:256|512)?\}[\w+/=]{20,200}"),
)  # fmt: skip


def _by_clue(rules: tuple[Rule, ...]) -> dict[str, tuple[Rule, ...]]:
    """Rules by the literal that calls for them."""
    clues = dict.fromkeys(clue for rule in rules for clue in rule.clues)
    return {clue: tuple(rule for rule in rules if clue in rule.clues) for clue in clues}


_ANYWHERE = _by_clue((*_WEB, *_SPOKEN, *_BLOCKS))
_IN_LONG_WORDS = _by_clue(_PROVIDERS)
_LONG_WORD = expression(r"[a-z0-9_.+/=:~@-]{15,}")
_BEGIN = expression(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_END = expression(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_BODY = expression(
    r"(?:(?:\s|\\[nr]){0,4}(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash): ?[\w,. /:-]{1,100}|[A-Za-z0-9+/=]{16,100000}"
    r"|[A-Za-z0-9+/]{1,15}={0,2}(?=\s|\\[nr]|[\"']|$)(?=[\"']|\\[nr]|[\r\n]|$)))*"
)
_PEM_LONGEST = 32_768


def find(view: View) -> Iterator[Hit]:
    """All hits of all rules, rule by rule."""
    text, lower = view.text, view.lower
    called = [_ANYWHERE[clue] for clue in _ANYWHERE if clue in lower]
    if long_words := " ".join(_LONG_WORD.findall(lower)):
        called += [_IN_LONG_WORDS[clue] for clue in _IN_LONG_WORDS if clue in long_words]
    for rule in dict.fromkeys(rule for rules in called for rule in rules):
        group: str | int = "s" if "s" in rule.pattern.groupindex else 0
        for match in rule.pattern.finditer(text):
            if not rule.random or _looks_random(match[group]):
                yield Hit(match.start(group), match.end(group), rule.kind)
    if "private key" in lower:
        yield from _pem(text)


def _pem(text: str) -> Iterator[Hit]:
    at = 0
    while begin := _BEGIN.search(text, at):
        end = _END.search(text, begin.end(), begin.end() + _PEM_LONGEST)
        other = _BEGIN.search(text, begin.end(), end.start() if end else begin.end())
        if end and not other:
            at = end.end()
        else:
            body = _BODY.match(text, begin.end())
            at = body.end() if body else begin.end()
        yield Hit(begin.start(), at, "private_key")


def _looks_random(value: str) -> bool:
    """Digits, or letters of both cases inside: no plain word, no number of a few digits."""
    if value.isdigit():
        return len(value) >= 16  # noqa: PLR2004 - a code or a count
    inner = value[1:]
    mixed = any(char.isupper() for char in inner) and any(char.islower() for char in inner)
    return mixed or sum(char.isdigit() for char in value) >= 2  # noqa: PLR2004 - not `oauth2`
