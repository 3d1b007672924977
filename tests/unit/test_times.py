from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logagent.errors import UsageError
from logagent.logs import iso
from logagent.times import parse_duration, parse_span, parse_time, parse_until, parse_window_words

NOW = datetime(2026, 11, 30, 19, 0, 7, tzinfo=UTC)
SHANGHAI = timezone(timedelta(hours=8))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("30m", "2026-11-30T18:30:07Z"),
        ("1h30m", "2026-11-30T17:30:07Z"),
        ("-2h", "2026-11-30T17:00:07Z"),
        ("90s", "2026-11-30T18:58:37Z"),
        ("now", "2026-11-30T19:00:07Z"),
        ("now-30m/m", "2026-11-30T18:30:00Z"),
        ("now/d", "2026-11-30T00:00:00Z"),
        ("now-1d/d+9h", "2026-11-29T09:00:00Z"),
        ("now-1M/M", "2026-10-01T00:00:00Z"),
        ("2026-11-29||-1h/d", "2026-11-28T00:00:00Z"),
        ("yesterday 14:00", "2026-11-29T14:00:00Z"),
        ("22:00 yesterday", "2026-11-29T22:00:00Z"),
        ("today", "2026-11-30T00:00:00Z"),
        ("last night", "2026-11-29T18:00:00Z"),
        ("this morning", "2026-11-30T06:00:00Z"),
        ("2 hours ago", "2026-11-30T17:00:07Z"),
        ("half an hour ago", "2026-11-30T18:30:07Z"),
        ("last 15 minutes", "2026-11-30T18:45:07Z"),
        ("2026-11-29T14:00:00Z", "2026-11-29T14:00:00Z"),
        ("2026-11-29T14:00:00+02:00", "2026-11-29T12:00:00Z"),
        ("2026-11-29 14:00 +0800", "2026-11-29T06:00:00Z"),
        ("2026-11-29T14:00:00.123456789Z", "2026-11-29T14:00:00.123Z"),
        ("2026-11-29", "2026-11-29T00:00:00Z"),
        ("2026-11-29T14:00:00[Europe/Paris]", "2026-11-29T13:00:00Z"),
        ("29/Nov/2026:14:00:00 +0000", "2026-11-29T14:00:00Z"),
        ("Nov 29 14:00:00", "2026-11-29T14:00:00Z"),
        ("1796065200", "2026-11-30T19:00:00Z"),
        ("1796065200123", "2026-11-30T19:00:00.123Z"),
        ("1796065200123456", "2026-11-30T19:00:00.123Z"),
        ("1796065200123456789", "2026-11-30T19:00:00.123Z"),
        ("14:00", "2026-11-30T14:00:00Z"),
        ("19:30", "2026-11-29T19:30:00Z"),  # latest occurrence up to now
        ("14:05+08:00", "2026-11-30T06:05:00Z"),
        ("2pm", "2026-11-30T14:00:00Z"),
        ("noon", "2026-11-30T12:00:00Z"),
        ("monday 14:00", "2026-11-30T14:00:00Z"),
        ("last monday", "2026-11-23T00:00:00Z"),
        ("12 nov 9am", "2026-11-12T09:00:00Z"),
        ("nov 12", "2026-11-12T00:00:00Z"),
        ("dec 24", "2025-12-24T00:00:00Z"),
        ("昨晚10点", "2026-11-29T22:00:00Z"),
        ("昨晚两点", "2026-11-30T02:00:00Z"),
        ("刚才", "2026-11-30T18:45:07Z"),
        ("今早9点左右", "2026-11-30T09:00:00Z"),
        ("半小时前", "2026-11-30T18:30:07Z"),
        ("两个半小时前", "2026-11-30T16:30:07Z"),
        ("昨天晚上8点半", "2026-11-29T20:30:00Z"),
        ("下午3点一刻", "2026-11-30T15:15:00Z"),
        ("凌晨三点", "2026-11-30T03:00:00Z"),
        ("前天", "2026-11-28T00:00:00Z"),
        ("上周一 9点", "2026-11-23T09:00:00Z"),
        ("2026年11月29日 14:05", "2026-11-29T14:05:00Z"),
        ("１４：０５", "2026-11-30T14:05:00Z"),
    ],
)
def test_a_time_is_read(text: str, expected: str) -> None:
    assert iso(parse_time(text, NOW, UTC)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "garbage", "", "   ", "../../etc/passwd", "9" * 400 + "d", "now" + "-1d" * 500, "30x", "now-30q", "25:61", "14.05",
        "30", "5M", "一点", "999999w", "-999999w", "now-9999y", "2026-13-01", "2026-02-30", "31 nov", "2026-11-29T14:00[../../etc]",
        "2026-11-29T14:00[Nowhere/City]", "\x1b[31m", "now||now", "||", "99999999999999999999", "yesterday tomorrow", "nov 99", "1e9", "٣٠m",
    ],
)  # fmt: skip
def test_what_is_no_time_is_refused_with_its_code(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_time(text, NOW, UTC)
    assert caught.value.code == "LA701"
    assert caught.value.exit_code == 2
    assert str(caught.value.values["text"]).isprintable()


def outcome(text: str) -> tuple[datetime | None, str]:
    try:
        return parse_time(text, NOW, SHANGHAI), ""
    except UsageError as error:
        return None, error.code


@given(st.text(max_size=200))
def test_any_text_is_an_instant_in_utc_or_a_refusal(text: str) -> None:
    read, code = outcome(text)
    assert code == "LA701" if read is None else read.tzinfo is UTC


@given(st.text(alphabet="0123456789:.-/ nowdhmlastyer昨今晚早点半前一二三十", max_size=60))
def test_no_mixture_of_time_words_escapes_as_another_error(text: str) -> None:
    assert outcome(text)[1] in ("", "LA701")
    parse_window_words(text, NOW, SHANGHAI)


def test_clock_times_are_read_in_the_display_zone() -> None:
    assert iso(parse_time("14:05", NOW, SHANGHAI)) == "2026-11-30T06:05:00Z"  # 03:00 on 1 December there: latest 14:05
    assert iso(parse_time("yesterday 22:00", NOW, SHANGHAI)) == "2026-11-30T14:00:00Z"


def test_an_end_given_as_a_clock_time_is_the_first_one_after_the_start() -> None:
    now = datetime(2026, 11, 30, 14, 40, tzinfo=UTC)
    start = parse_time("14:05", now, UTC)
    assert iso(parse_until("15:00", start, now, UTC)) == "2026-11-30T15:00:00Z"
    late = parse_time("yesterday 23:50", now, UTC)
    assert iso(parse_until("00:20", late, now, UTC)) == "2026-11-30T00:20:00Z"
    assert iso(parse_until("now", start, now, UTC)) == "2026-11-30T14:40:00Z"


def test_an_explicit_span_has_two_sides() -> None:
    window = parse_span("13:00..13:30", NOW, UTC)
    assert (iso(window.start), iso(window.end)) == ("2026-11-30T13:00:00Z", "2026-11-30T13:30:00Z")
    for text in ("13:00", "13:00..", "..", "2026-11-30..2026-11-29"):
        with pytest.raises(UsageError):
            parse_span(text, NOW, UTC)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30s", 30),
        ("1h30m", 5400),
        ("2d", 172_800),
        ("-8h", -28_800),
        ("+8h", 28_800),
        ("1.5h", 5400),
        ("500ms", 0.5),
        ("半小时", 1800),
    ],
)
def test_a_duration_is_read(text: str, seconds: float) -> None:
    assert parse_duration(text).total_seconds() == seconds


@pytest.mark.parametrize("text", ["", "30", "-", "abc", "30m ago", "last 30m", "1" * 300 + "s", "--8h"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="cannot read the time"):
        parse_duration(text)


AFTERNOON = datetime(2026, 11, 30, 15, 0, 7, tzinfo=SHANGHAI)


@pytest.mark.parametrize(
    ("question", "window"),
    [
        ("what broke in the last 15 min", "30 14:45..30 15:00"),
        ("why are logins failing since 14:05", "30 14:05..30 15:00"),
        ("anything unusual between 2 and 3 last night", "30 02:00..30 03:00"),
        ("errs for user-svc between 1 and 2am", "30 01:00..30 02:00"),
        ("what happened to checkout around 2:40", "30 02:25..30 02:55"),
        ("root cause for the 3am alert on search", "30 02:45..30 03:15"),
        ("errors yesterday", "29 00:00..30 00:00"),
        ("was the night calm", "29 18:00..30 06:00"),
        ("slow since this morning", "30 06:00..30 15:00"),
        ("payment failures an hour ago", "30 13:45..30 14:15"),
        ("timeouts before 14:00", "30 13:30..30 14:00"),
        ("zoom into 14:02-14:06", "30 14:02..30 14:06"),
        ("was it failing from 2026-11-29T10:00Z to 2026-11-29T11:00Z?", "29 18:00..29 19:00"),
        ("supports nothing after 13:00, why", "30 13:00..30 15:00"),
        ("最近半小时支付失败几笔", "30 14:30..30 15:00"),
        ("昨晚10点到11点 search 出什么事了", "29 22:00..29 23:00"),
        ("昨晚两点到三点有没有异常", "30 02:00..30 03:00"),
        ("库存服务从14:05开始报错", "30 14:05..30 15:00"),
        ("从13:50到现在丢了多少单", "30 13:50..30 15:00"),
        ("13:50到14:00之间有啥异常", "30 13:50..30 14:00"),
        ("凌晨三点左右出了什么故障", "30 02:45..30 03:15"),
        ("刚才支付报警", "30 14:45..30 15:00"),
        ("昨晚太平吗", "29 18:00..30 06:00"),
        ("上周有没有这个错误", "23 00:00..30 00:00"),
    ],
)
def test_the_window_of_a_question_is_found(question: str, window: str) -> None:
    found = parse_window_words(question, AFTERNOON, SHANGHAI)
    assert found is not None
    assert f"{found.start.astimezone(SHANGHAI):%d %H:%M}..{found.end.astimezone(SHANGHAI):%d %H:%M}" == window


@pytest.mark.parametrize(
    "question",
    [
        "what broke",
        "payment-api 又挂了 查下原因",
        "why does it answer 500 on 10.0.0.1:8080",
        "2 to 3 retries per request, is that normal",
        "did `yesterday` appear in the code",
        'who logs "at 14:05"',
        "order-2026-11-30 is missing",
        "慢一点是因为什么",
        "why is volume down 80% vs yesterday",
        "日志量比昨天少了八成",
        "have we seen this before",
        "top 10 errors of v2.3.4",
    ],
)
def test_a_question_without_a_time_has_no_window(question: str) -> None:
    assert parse_window_words(question, AFTERNOON, SHANGHAI) is None


def test_no_window_ends_after_now() -> None:
    found = parse_window_words("what fails today", AFTERNOON, SHANGHAI)
    assert found is not None
    assert found.end == AFTERNOON
