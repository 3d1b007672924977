# ruff: noqa: SIM905 - lists of words read best as words
"""Personal data: e-mail, payment cards, IBAN, phone numbers, national ids. Checked by their own arithmetic."""

import ipaddress
import re
from collections.abc import Iterator

from logagent.analysis._redact_view import Hit, View
from logagent.expressions import expression

# -- e-mail --------------------------------------------------------------------------------------------------------

_EMAIL = expression(
    r"(?P<local>[A-Za-z0-9\u00c0-\u024f._%+'-]{1,64})@(?P<domain>(?:[A-Za-z0-9\u00c0-\u024f-]{1,63}\.){1,8}(?P<tld>[A-Za-z]{2,24}|xn--[a-z0-9-]{2,40}))(?![\w-])"
)
_GENERIC = frozenset(
    "com org net edu gov mil int info biz name pro dev app aero jobs museum coop mobi travel tel asia cat post "
    "arpa online site store shop tech cloud agency email digital systems solutions services company group team "
    "works studio design media news blog world life live today space website web page host hosting network "
    "software technology finance bank money capital fund insurance health care clinic academy school university "
    "education science energy global international international berlin london paris tokyo nyc wien koeln hamburg "
    "amsterdam eus swiss africa consulting ventures partners holdings industries engineering legal law tax gmbh "
    "ltd llc inc xyz top vip club icu wang ren city run zone one red blue green black pink link click help "
    "support support chat social email plus example test invalid bot cafe bar pub shop art film music games game "
    "fun fit fyi guru ninja rocks expert google apple microsoft amazon aws sap ibm bmw audi sony intel cisco".split()
)
_COUNTRIES = frozenset(
    "ac ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bw by bz ca "
    "cc cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg er es et eu fi fj fk fm fo "
    "fr ga gd ge gf gg gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it je "
    "jm jo jp ke kg kh ki km kn kp kr kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc md me mg mh mk ml mm mn mo "
    "mp mq mr ms mt mu mv mw mx my mz na nc ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt "
    "pw py qa re ro rs ru rw sa sb sc sd se sg sh si sk sl sm sn so sr ss st su sv sx sy sz tc td tf tg th tj tk "
    "tl tm tn to tr tt tv tw tz ua ug uk us uy uz va vc ve vg vi vn vu wf ws ye yt za zm zw".split()
)
_NO_PERSON = frozenset({"git", "hg", "svn"})


def _emails(text: str) -> Iterator[Hit]:
    at = 0
    while (found := text.find("@", at)) >= 0:
        start = found
        while start > max(at, found - 64) and (text[start - 1].isalnum() or text[start - 1] in "._%+'-"):
            start -= 1
        match = _EMAIL.match(text, start) if start < found else None
        at = found + 1
        while match is None and start < found and not text[start].isascii():
            start += 1
            match = _EMAIL.match(text, start) if start < found else None
        if match and _is_mail(match, text):
            lead = len(match["local"]) - len(match["local"].lstrip("._%+'-"))
            yield Hit(match.start() + lead, match.end(), "email")
            at = match.end()


def _is_mail(match: re.Match[str], text: str) -> bool:
    local, tld = match["local"], match["tld"].lower()
    if not local.strip("._%+'-") or (local in _NO_PERSON and text[match.end() : match.end() + 1] in {":", "/"}):
        return False
    return tld in _GENERIC or tld in _COUNTRIES or tld.startswith("xn--")


# -- numbers -------------------------------------------------------------------------------------------------------

_CANDIDATE = expression(r"[0-9]{4}[0-9 -]{8,60}[0-9][Xx]?")
_DIGITS = expression(r"[0-9](?:[ -]?[0-9]){12,18}")
_GROUPED = expression(r"\d{4}([ -])\d{4}\1\d{4}\1\d{1,7}\Z|\d{4}([ -])\d{6}\2\d{4,5}\Z")
_CARD_WORDS = expression(r"(?i:card|\bpan\b|pan=|credit|debit|visa|mastercard|amex|卡号|银行卡|信用卡)")
_ID_KEY = expression(
    r"(?i:(?:\b|[_\W]|^)(?:[\w.-]{0,40}_?ids?|\w{0,20}Id|offset|lsn|seq\w{0,8}|timestamp|ts|nanos?|time|epoch|version"
    r"|waybill|\w{0,20}_(?:no|nr|num|number|ref)|tracking\w{0,8}|resourceversion|ean|gtin|isbn|imei|serial|build|commit|order|invoice|job|trace|span))"
    r"[\"']?\s{0,2}[:=#]?\s{0,2}[\"']?\Z"
)
_BRANDS: tuple[tuple[int, int, int, frozenset[int]], ...] = (
    (1, 4, 4, frozenset({13, 16})),
    (2, 51, 55, frozenset({16})),
    (4, 2221, 2720, frozenset({16})),
    (2, 34, 34, frozenset({15})),
    (2, 37, 37, frozenset({15})),
    (4, 6011, 6011, frozenset({16, 19})),
    (3, 644, 659, frozenset({16, 19})),
    (3, 300, 305, frozenset({14})),
    (2, 36, 36, frozenset({14})),
    (2, 38, 39, frozenset({14})),
    (4, 3528, 3589, frozenset({16})),
    (2, 62, 62, frozenset({16, 17, 18, 19})),
)
_SURE_LENGTHS = frozenset({15, 16})


def _numbers(text: str) -> Iterator[Hit]:
    for candidate in _CANDIDATE.finditer(text):
        yield from _cards(text, candidate)
        yield from _residents(text, candidate)


def _cards(text: str, candidate: re.Match[str]) -> Iterator[Hit]:
    for match in _DIGITS.finditer(text, candidate.start(), candidate.end()):
        digits = match[0].replace(" ", "").replace("-", "")
        if not _stands_alone(text, match.start(), match.end()):
            continue
        if match[0] != digits and not _GROUPED.match(match[0]):
            continue
        if _is_card(text, match, digits):
            yield Hit(match.start(), match.end(), "card")


def _stands_alone(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start] if start else "", text[end : end + 1]
    if before and (_is_word(before) or before in ".-_+/"):
        return False
    return not (after and (_is_word(after) or after in "-_" or (after == "." and text[end + 1 : end + 2].isdigit())))


def _is_word(char: str) -> bool:
    """Part of the same word: scripts without blanks put a number next to a letter."""
    return char.isascii() and char.isalnum()


def _is_card(text: str, match: re.Match[str], digits: str) -> bool:
    sizes = [sizes for width, low, high, sizes in _BRANDS if low <= int(digits[:width]) <= high]
    if not any(len(digits) in allowed for allowed in sizes) or not _luhn(digits):
        return False
    before = text[max(0, match.start() - 48) : match.start()]
    if _CARD_WORDS.search(before):
        return True
    return match[0] != digits or (len(digits) in _SURE_LENGTHS and not _ID_KEY.search(before))


def _luhn(digits: str) -> bool:
    total = 0
    for place, char in enumerate(reversed(digits)):
        value = int(char)
        if place % 2:
            value = value * 2 - 9 if value > 4 else value * 2  # noqa: PLR2004 - digit sum of the double
        total += value
    return total % 10 == 0


_IBAN = expression(r"[A-Z]{2}\d{2}(?= ?[A-Z0-9]{4})")
_IBAN_LENGTHS = {
    country: int(length)
    for country, length in (
        pair.split(":")
        for pair in (
            "AD:24 AE:23 AL:28 AT:20 AZ:28 BA:20 BE:16 BG:22 BH:22 BR:29 BY:28 CH:21 CR:22 CY:28 CZ:24 DE:22 "
            "DK:18 DO:28 EE:20 EG:29 ES:24 FI:18 FO:18 FR:27 GB:22 GE:22 GI:23 GL:18 GR:27 GT:28 HR:21 HU:28 "
            "IE:22 IL:23 IQ:23 IS:26 IT:27 JO:30 KW:30 KZ:20 LB:28 LC:32 LI:21 LT:20 LU:20 LV:21 LY:25 MC:27 "
            "MD:24 ME:22 MK:19 MR:27 MT:31 MU:30 NL:18 NO:15 PK:24 PL:28 PS:29 PT:25 QA:29 RO:24 RS:22 SA:24 "
            "SC:31 SD:18 SE:24 SI:19 SK:24 SM:27 ST:25 SV:28 TL:23 TN:24 TR:26 UA:29 VA:22 VG:24 XK:20 "
        ).split()
    )
}


def _ibans(text: str, lower: str) -> Iterator[Hit]:
    if "iban" in lower:
        text = text.upper() if len(text.upper()) == len(text) else text
    for match in _IBAN.finditer(text):
        length = _IBAN_LENGTHS.get(match[0][:2])
        if length is None or (match.start() and text[match.start() - 1].isalnum()):
            continue
        compact, at = "", match.start()
        while at < len(text) and len(compact) < length:
            if text[at] == " " and text[at - 1] != " ":
                at += 1
            elif text[at].isascii() and (text[at].isdigit() or text[at].isupper()):
                compact += text[at]
                at += 1
            else:
                break
        if len(compact) == length and not text[at : at + 1].isalnum() and _mod97(compact):
            yield Hit(match.start(), at, "iban")


def _mod97(iban: str) -> bool:
    return int("".join(str(int(char, 36)) for char in iban[4:] + iban[:4])) % 97 == 1


_PLUS = expression(r"\+[1-9]\d{0,3}(?:[ ().-]{0,2}\d{1,5}){2,6}")
_NATIONAL = expression(r"\(?\d{2,5}\)?(?:[ ./-]?\d{2,8}){1,4}")
_PHONE_WORDS = expression(
    r"(?i:phone|\bcontact\b|\btel\b|telephone|mobile|\bmob\b|msisdn|\bcell|\bfax\b|\bsms\b|whatsapp|caller|callee|手机|电话|联系方式)"
)
_PHONE_CLUES = (
    "phone",
    "contact",
    "tel",
    "mob",
    "msisdn",
    "cell",
    "fax",
    "sms",
    "whatsapp",
    "calle",
    "手机",
    "电话",
    "联系",
)
CLUES = (*_PHONE_CLUES, "ssn", "social", "iban")
"""Words that announce personal data; what needs none is told by its digits and signs."""
_CLUE_GAP = 30
_E164 = range(10, 16)
_NATIONAL_SIZES = range(9, 15)


def announces(lower: str) -> bool:
    """Whether a word announces personal data."""
    return "ssn" in lower or "social" in lower or "iban" in lower or _PHONE_WORDS.search(lower) is not None


def _phones(text: str) -> Iterator[Hit]:
    if "+" in text:
        for match in _PLUS.finditer(text):
            if _is_international(text, match):
                yield Hit(match.start(), match.end(), "phone")


def _announced(text: str) -> Iterator[Hit]:
    for clue in _PHONE_WORDS.finditer(text):
        yield from _local_numbers(text, clue.end())


def _is_international(text: str, match: re.Match[str]) -> bool:
    size = sum(char.isdigit() for char in match[0])
    before = text[match.start() - 1 : match.start()] if match.start() else ""
    after = text[match.end() : match.end() + 1]
    return size in _E164 and not before.isalnum() and before not in {"+", "/"} and not after.isalnum()


def _local_numbers(text: str, at: int) -> Iterator[Hit]:
    """National forms within 30 characters behind a word that announces one."""
    for match in _NATIONAL.finditer(text, at, at + _CLUE_GAP + 20):
        size = sum(char.isdigit() for char in match[0])
        near = match.start() - at <= _CLUE_GAP and size in _NATIONAL_SIZES
        if near and _stands_alone(text, match.start(), match.end()) and not _is_time(match[0]):
            yield Hit(match.start(), match.end(), "phone")


def _is_time(shown: str) -> bool:
    return re.match(r"\d{4}-\d\d-\d\d|1[67]\d{8}\Z|(?:\d{1,3}\.){3}\d{1,3}", shown) is not None


_RESIDENT = expression(
    r"(?<![\w.-])[1-8]\d{5}(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dXx](?![\w-])"
)
_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_SSN = expression(r"(?<![\d-])(?!000|666|9)\d{3}([- ]?)(?!00)\d\d\1(?!0000)\d{4}(?![\d-])")
_SSN_WORDS = expression(r"(?i:\bssn\b|social.?security|ssn)")


def _residents(text: str, candidate: re.Match[str]) -> Iterator[Hit]:
    """Resident ids of China, by their date and check digit."""
    for match in _RESIDENT.finditer(text, candidate.start(), candidate.end()):
        digits = match[0]
        check = "10X98765432"[sum(int(d) * w for d, w in zip(digits[:17], _WEIGHTS, strict=True)) % 11]
        if digits[17].upper() == check:
            yield Hit(match.start(), match.end(), "national_id")


def _national(text: str, lower: str) -> Iterator[Hit]:
    if "ssn" in lower or "social" in lower:
        for match in _SSN.finditer(text):
            if _SSN_WORDS.search(text, max(0, match.start() - 48), match.start()):
                yield Hit(match.start(), match.end(), "national_id")


_ADDRESS = expression(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])")


def addresses(text: str) -> Iterator[Hit]:
    """Public IPv4 addresses (off by default: `redact.addresses`)."""
    for match in _ADDRESS.finditer(text):
        try:
            public = not ipaddress.ip_address(match[0]).is_private or match[0].startswith(
                ("198.51.", "203.0.113", "192.0.2.")
            )
        except ValueError:
            continue
        if public:
            yield Hit(match.start(), match.end(), "ip")


def find(view: View, *, announced: bool) -> Iterator[Hit]:
    """All personal data of the view, kind by kind; `announced`: a word of it announces some."""
    text = view.text
    if "@" in text:
        yield from _emails(text)
    yield from _numbers(text)
    yield from _ibans(text, view.lower)
    yield from _phones(text)
    if announced:
        yield from _announced(text)
        yield from _national(text, view.lower)
