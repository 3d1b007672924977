# ruff: noqa: E501 - one rule a line
"""Secrets known by their own shape: headers, URLs, provider prefixes, key blocks and password hashes.

Every rule names literals of which one must occur (lower case) before its expression is tried; all repetitions that
could follow each other over the same characters are bounded, so the time is linear.
"""

import re
from collections.abc import Iterable, Iterator
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
    _rule("password", "redis-cli", r"\bredis-cli\b[^\n|;]{0,200}?\s(?:-a|--pass)[ =]{1,4}[\"']?(?P<s>[^\s\"']{3,128})"),
    _rule("password", "ldap", r"\bldap(?:search|modify|add|delete|whoami|passwd|compare)\b[^\n|;]{0,200}?\s-w[ ]{0,4}[\"']?(?P<s>[^\s\"'-][^\s\"']{2,128})"),
    _rule("password", " -p¦ --token", r"\blogin\b[^\n|;]{0,200}?\s(?:-p|--password|--token)[ =]{1,4}[\"']?(?P<s>[^\s\"']{3,512})"),
    _rule("password", "mongo¦sqlcmd¦smbclient¦rabbitmqctl", r"\b(?:mongo(?:sh|dump|restore|export|import|stat)?|sqlcmd)\b[^\n|;]{0,200}?\s-[pP][ ]{0,4}[\"']?(?P<s>[^\s\"'-][^\s\"']{2,128})"),
    _rule("token", "auth ", r"\bAUTH (?:PLAIN|LOGIN|CRAM-MD5)[ \r\n]{1,4}(?P<s>[A-Za-z0-9+/]{12,1024}={0,2})"),
    _rule("password", "auth ", r"\bAUTH (?!PLAIN|LOGIN|CRAM|TLS|SSL)[\w.-]{1,64} (?P<s>[^\s\"']{6,256})", random=True),
    _rule("password", "pass ", r"(?:\bUSER \S{1,64}[\s,;]{1,4}|(?i:\b(?:ftp|pop3?|irc|smtp|imap)\b)[^\n]{0,80}?)PASS (?P<s>\S{4,128})"),
    _rule("token", "authorization_code", r"[\"']?\bcode[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?P<s>[\w./~+-]{10,2048})", random=True),
    _rule("password", "identified with", r"(?i:\bidentified\s{1,4}with)\s{1,4}[\w\"'`]{1,64}\s{1,4}(?i:by|as)\s{1,4}[\"'](?P<s>[^\"'\n]{1,256})[\"']"),
    _rule("token", "sharedaccesssignature", r"SharedAccessSignature\s[^\n]{0,1024}?\bsig=(?P<s>[\w%+/=-]{16,512})"),
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
    _rule("password", "passw¦passphrase¦pwd", r"(?i:(?<![a-z])(?:passwo?r?d|passphrase|pwd)[ \t]{1,4}(?:(?:is|was|to|set to|changed to)[ \t]{1,4})?)(?=\S{0,255}?\d)(?=\S{0,255}?[A-Za-z])(?P<s>[A-Za-z0-9!@#$%^&*+_~-]{8,256})" + _ENDS),
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
    _rule("key", "sg.", _B + r"SG\.[\w-]{10,32}\.[\w-]{30,64}"),
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
    _rule("key", "a0-¦a3-", _B + r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"),
    _rule("token", "p8e-¦akcp¦cmvmd¦absk¦clojars_¦rdme_", _B + r"(?:p8e-[a-zA-Z0-9]{32}|AKCp[A-Za-z0-9]{40,80}|cmVmd[A-Za-z0-9]{50,64}|ABSK[A-Za-z0-9+/=]{100,280}|(?i:clojars)_[a-zA-Z0-9]{50,64}|rdme_[a-z0-9]{60,80})"),
    _rule("token", "pat", _B + r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    _rule("token", "q~", r"(?<![\w.~-])[A-Za-z0-9_.~]{3}\dQ~[\w.~-]{31,34}(?![\w.~-])"),
    _rule("token", "dt0c01.¦dt0s01.", _B + r"dt0[a-z]\d\d\.[A-Z0-9a-z]{24}\.[A-Z0-9a-z]{64}"),
    _rule("token", "ezak¦eztk", _B + r"EZ[AT]K[A-Za-z0-9]{54}"),
    _rule("token", "eaa", _B + r"EAA[A-Za-z0-9]{80,400}"),
    _rule("key", "flwseck¦flwpubk", _B + r"FLW(?:SECK|PUBK)(?:_TEST)?-[a-zA-Z0-9]{12,40}(?:-X)?"),
    _rule("token", "fm1¦fm2_", _B + r"fm(?:1[ar]|2)_[A-Za-z0-9+/]{60,2048}={0,3}"),
    _rule("token", "fio-u-¦duffel_¦shippo_¦pscale_", _B + r"(?:fio-u-[\w=-]{50,80}|(?:duffel|shippo)_(?:test|live)_[\w=-]{30,60}|pscale_(?:tkn|oauth|pw)_[\w=.-]{30,80})"),
    _rule("token", "glffct-¦gloas-¦gr1348941", _B + r"(?:gl(?:ffct|oas)-[\w-]{20,80}|GR1348941[\w-]{20})"),
    _rule("cookie", "_gitlab_session", r"_gitlab_session=(?P<s>[0-9a-z]{32})"),
    _rule("token", "eyj", r"(?<![\w.])eyJ(?:rIjoi|[A-Za-z0-9+/]{60})[A-Za-z0-9+/]{60,4096}={0,3}"),
    _rule("token", "ey", r"(?<![\w.])ey[A-Za-z0-9]{17,4096}\.ey[\w-]{17,8192}(?:\.[\w-]{0,8192}){0,3}"),
    _rule("token", "zxlk", r"(?<![\w+/])ZXlK[A-Za-z0-9+/_-]{60,8192}={0,3}"),
    _rule("token", "sat.¦pat.", r"(?<![\w.])[ps]at\.[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}"),
    _rule("token", "sm_aat_¦sm_pat_¦sm_sat_", _B + r"sm_[aps]at_[A-Za-z0-9]{16,64}"),
    _rule("token", "api_org_¦ico-¦s-s4t2¦_mmk¦pnu_¦tk-us-", _B + r"(?:api_org_[A-Za-z]{34}|ico-[A-Za-z0-9]{32}|s-s4t2(?:ud|af)-[a-f0-9]{64}|[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk|pnu_[A-Za-z0-9]{36}|tk-us-[\w-]{48})"),
    _rule("key", "api-", _B + r"API-[A-Z0-9]{26}" + _E),
    _rule("token", "sha256~", r"sha256~[\w-]{43}"),
    _rule("token", "v1.0-", _B + r"v1\.0-[a-f0-9]{24}-[a-f0-9]{146}"),
    _rule("token", "scauth_¦authress_¦.acc_¦.acc-", r"(?<![\w.])(?:sc|ext|scauth|authress)_[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[\w+/=-]{30,120}"),
    _rule("token", "s.", r"(?<![\w.])s\.(?=[A-Za-z0-9]{0,23}\d)(?=[A-Za-z0-9]{0,23}[A-Z])[A-Za-z0-9]{24}" + _E),
    _rule("key", "key-", _B + r"key-[0-9a-f]{32}" + _E),
    _rule("token", ":aa", r"(?<!\w)\d{8,10}:AA[\w-]{32,36}(?!\w)"),
    _rule("token", "mt¦mz¦nd¦nz¦od¦ot", _B + r"[MNO][A-Za-z0-9_-]{23,27}\.[\w-]{6}\.[\w-]{27,40}" + _E),
    _rule("key", "sk", _B + r"SK[0-9a-fA-F]{32}" + _E),
)  # fmt: skip

UNKNOWN = _rule(
    "token",
    "",
    r"(?<![\w.@/+-])(?=[a-z])(?!sha\d|md5|blake)[A-Za-z0-9]{2,12}(?:[_-][A-Za-z0-9]{1,10}){0,3}[_-]"
    r"(?=(?:[A-Za-z]{0,40}\d){4})(?=(?:[a-z0-9]{0,40}[A-Z]){3})(?=(?:[A-Z0-9]{0,40}[a-z]){3})[A-Za-z0-9]{30,300}(?![\w/+=])",
)
"""`vendor_` or `app-live-` before thirty characters of a random alphabet: the shape that most providers have agreed on.

Ids of the same make (`evt_1Mqq...`, a type and 22 to 26 characters) are shorter, hashes have no upper case.
"""

_BLOCKS = (
    _rule("hash", "$2", r"\$2[abxy]?\$\d\d\$[./A-Za-z0-9]{20,53}"),
    _rule("hash", "$1$¦$5$¦$6$¦$y$¦$7$¦$gy$¦$apr1$", r"\$(?:1|5|6|7|y|gy|apr1)\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9$]{1,64}\$[./A-Za-z0-9]{20,128}"),
    _rule("hash", "$argon2¦$scrypt$¦$pbkdf2", r"\$(?:argon2(?:id|i|d)|scrypt|pbkdf2[\w-]{0,16})\$[\w=,$+/.-]{20,400}"),
    _rule("hash", "pbkdf2_", r"pbkdf2_\w{4,10}\$\d{1,9}\$[\w+/=]{1,64}\$[\w+/=]{20,128}"),
    _rule("hash", "{ssha", r"\{SSHA(?:256|512)?\}[\w+/=]{20,200}"),
)  # fmt: skip


RULES = (*_WEB, *_SPOKEN, *_BLOCKS, *_PROVIDERS, UNKNOWN)
"""All rules; a rule is named by its place."""
UNKNOWN_PLACE = len(RULES) - 1
AT = tuple(place for place, rule in enumerate(RULES) if "://" in rule.clues or any("@" in clue for clue in rule.clues))
"""Rules that need an @."""
_TAILS = frozenset(
    [
        "-u",
        "auth",
        "basic",
        "pass",
        "login",
        "state",
        "token",
        "code",
        "key",
        "sig",
        "ticket",
        "session",
        "sid",
        "hash",
        "jwt",
        "secret",
        "otp",
        "invite",
    ]
)
"""Clues that are words of their own: they count at the end of a word, behind no letter."""


_COMMON = frozenset(
    [
        "mt",
        "mz",
        "nd",
        "nz",
        "od",
        "ot",
        "ey",
        "eyj",
        "eaa",
        "eaaa",
        "pat",
        "pat.",
        "sat.",
        "sk",
        "s.",
        "sk-",
        "key-",
        "sg.",
        "api-",
        "dapi",
    ]
)
"""Clues in many words. What their rules find holds no digit of its own and lies within one word: the rule is asked."""


def starts_from(place: int, clue: str, word: str, lower: str) -> bool:
    """Whether a rule may start from a word that holds its clue; digits in the word are all 0."""
    rule = RULES[place]
    if clue in _COMMON:
        return rule.pattern.search(word) is not None
    if clue not in _TAILS:
        return True
    before = lower[-len(clue) - 1 : -len(clue)]
    return lower.endswith(clue) and (clue == "token" or not before.isalnum())


_BEGIN = expression(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_END = expression(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_BODY = expression(
    r"(?:(?:\s|\\[nr]){0,4}(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash): ?[\w,. /:-]{1,100}|[A-Za-z0-9+/=]{16,100000}"
    r"|[A-Za-z0-9+/]{1,15}={0,2}(?=\s|\\[nr]|[\"']|$)(?=[\"']|\\[nr]|[\r\n]|$)))*"
)
_PEM_LONGEST = 32_768


def find(view: View, places: Iterable[int], *, block: bool) -> Iterator[Hit]:
    """All hits of these rules, rule by rule, and key blocks."""
    text = view.text
    for rule in (RULES[place] for place in places):
        group: str | int = "s" if "s" in rule.pattern.groupindex else 0
        for match in rule.pattern.finditer(text):
            if not rule.random or _looks_random(match[group]):
                yield Hit(match.start(group), match.end(group), rule.kind)
    if block:
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
