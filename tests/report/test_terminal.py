"""The terminal report: one screen, right widths, nothing cut silently, nothing hostile let through."""

import re
import string
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot
from wcwidth import wcswidth

import logagent.texts
from logagent.diagnosis import Caveat, Diagnosis, ModelUse, NextStep, Pattern, Shards
from logagent.errors import UsageError
from logagent.report import formats, render, render_item
from logagent.report._charts import pooled, sparkline
from logagent.report._text import cells, cited, clean, fit, wrap


def width_of(text: str) -> int:
    return max(wcswidth(line) for line in text.splitlines())


def test_an_outage_fits_one_screen(outage: Diagnosis) -> None:
    assert render(outage) == snapshot("""\
ONGOING  order-api: 1 in 6 requests fails, payment-api: connection pool    SEV2?
         exhausted

WHAT   160 of 932 requests failed (17.2 %, normally 0.2 %)                  [E1]
       about 148 users; 3 of 8 services; version 3.4.1 only                 [E6]
SINCE  2026-11-24 14:05:20 +08:00 (06:05:20Z), within 10 s; still failing at
       14:30:58                                                             [E2]
CAUSE  Connection pool exhausted in payment-api 3.4.1.                   [E2 E4]
       confirmed, high confidence: a line says how it broke (E2); nothing
       contradicts it
NEXT   compare pool settings of the failing and the healthy version:
       kubectl -n shop get deploy payment-api -o yaml | grep -i pool

order-api, failing events/min     band 0-18, peak 212 at 14:11
14:01 to 14:15  ▁▁▁▁▂▅▇▇███▇▇██
                  A B
A 14:03:12  change  payment-api 3.4.1 first logs
B 14:05:20  onset

PATTERNS  now  usual  first     service      text
NEW       159      0  14:05:20  payment-api  HikariPool-1 - Connection is not
                                             available, request timed out after…
SPIKE     160      3  chronic   order-api    payment call failed: 503 Service
                                             Unavailable order=<*>
DOWN      612    790  chronic   payment-api  payment settled order=<*>

WHERE   version 3.4.1     100 % of failures, 14 % of healthy traffic
        zone eu-west-1b   100 % of failures, 18 % of healthy traffic
        not affected: 3.4.0, eu-west-1a, eu-west-1c

H1 leading    payment-api exhausts its connection pool   for E2 E4   against -
H2 ruled out  order-api fails by itself   its errors name payment-api
CLEAR         6 checks: memory, disk, dns, tls, auth, restarts
NOT POSSIBLE  database logs (no such service)

data  complete, trace.id on 96 % of lines, 3 masked, newest event 14:31:00 taken
      as now
base  13:31 to 14:01 (the window before)
cost  11 queries on files 0.4 s; no model; 0.8 s
case  20261124-0631-7f3a\
""")


def test_the_same_report_in_chinese_has_right_widths(outage: Diagnosis) -> None:
    assert render(outage, language="zh-CN") == snapshot("""\
持续中  order-api: 1 in 6 requests fails, payment-api: connection pool     SEV2?
        exhausted

现象    932 个请求中 160 个失败（17.2 %，平时 0.2 %）                       [E1]
        约 148 名用户；8 个服务中的 3 个；仅 version 3.4.1                  [E6]
起始    2026-11-24 14:05:20 +08:00（06:05:20Z），误差 10 s 内；14:30:58 仍在失败
                                                                            [E2]
根因    Connection pool exhausted in payment-api 3.4.1.                  [E2 E4]
        已证实，置信度高：a line says how it broke (E2)；nothing contradicts it
下一步  compare pool settings of the failing and the healthy version：
        kubectl -n shop get deploy payment-api -o yaml | grep -i pool

order-api，失败事件/分钟     常态 0-18，峰值 212 在 14:11
14:01 至 14:15  ▁▁▁▁▂▅▇▇███▇▇██
                  A B
A 14:03:12  变更  payment-api 3.4.1 first logs
B 14:05:20  起始

模式  当前  平时  首次      服务         内容
新增   159     0  14:05:20  payment-api  HikariPool-1 - Connection is not
                                         available, request timed out after <*>…
激增   160     3  一直有    order-api    payment call failed: 503 Service
                                         Unavailable order=<*>
下降   612   790  一直有    payment-api  payment settled order=<*>

影响面  version 3.4.1     占失败 100 %，占正常 14 %
        zone eu-west-1b   占失败 100 %，占正常 18 %
        未受影响：3.4.0, eu-west-1a, eu-west-1c

H1 首选    payment-api exhausts its connection pool   支持 E2 E4   反对 -
H2 已排除  order-api fails by itself   its errors name payment-api
无异常    6 项检查：memory，disk，dns，tls，auth，restarts
无法检查  database logs（no such service）

数据  完整，96 % 的日志有 trace.id，3 处已脱敏，以最新事件 14:31:00 为当前时间
基线  13:31 至 14:01（the window before）
开销  文件查询 11 次 0.4 s；未用模型；0.8 s
案例  20261124-0631-7f3a\
""")


def test_sixty_columns_turn_tables_into_lists(outage: Diagnosis) -> None:
    assert render(outage, width=60, zone="UTC") == snapshot("""\
ONGOING  order-api: 1 in 6 requests fails,             SEV2?
         payment-api: connection pool exhausted

WHAT   160 of 932 requests failed (17.2 %, normally 0.2 %)
                                                        [E1]
       about 148 users; 3 of 8 services; version 3.4.1 only
                                                        [E6]
SINCE  2026-11-24 06:05:20 UTC, within 10 s; still failing
       at 06:30:58                                      [E2]
CAUSE  Connection pool exhausted in payment-api 3.4.1.
                                                     [E2 E4]
       confirmed, high confidence: a line says how it broke
       (E2); nothing contradicts it
NEXT   compare pool settings of the failing and the healthy
       version:
       kubectl -n shop get deploy payment-api -o yaml | grep
       -i pool

order-api, failing events/min
band 0-18, peak 212 at 06:11
06:01 to 06:15  ▁▁▁▁▂▅▇▇███▇▇██
                  A B
A 06:03:12  change  payment-api 3.4.1 first logs
B 06:05:20  onset

PATTERNS
NEW     159 now, 0 usual, first 06:05:20  payment-api
        HikariPool-1 - Connection is not available, request
        timed out after <*>ms (total=4, active=4, idle=0,
        waiting=<*>)
SPIKE   160 now, 3 usual, first chronic  order-api
        payment call failed: 503 Service Unavailable
        order=<*>
DOWN    612 now, 790 usual, first chronic  payment-api
        payment settled order=<*>

WHERE   version 3.4.1
          100 % of failures, 14 % of healthy traffic
        zone eu-west-1b
          100 % of failures, 18 % of healthy traffic
        not affected: 3.4.0, eu-west-1a, eu-west-1c

H1 leading    payment-api exhausts its connection pool
              for E2 E4   against -
H2 ruled out  order-api fails by itself
              its errors name payment-api
CLEAR         6 checks: memory, disk, dns, tls, auth,
              restarts
NOT POSSIBLE  database logs (no such service)

data  complete, trace.id on 96 % of lines, 3 masked, newest
      event 06:31:00 taken as now
base  05:31 to 06:01 (the window before)
cost  11 queries on files 0.4 s; no model; 0.8 s
case  20261124-0631-7f3a\
""")


def test_sixty_columns_in_chinese(outage: Diagnosis) -> None:
    assert render(outage, width=60, language="zh-CN") == snapshot("""\
持续中  order-api: 1 in 6 requests fails,              SEV2?
        payment-api: connection pool exhausted

现象    932 个请求中 160 个失败（17.2 %，平时 0.2 %）   [E1]
        约 148 名用户；8 个服务中的 3 个；仅 version 3.4.1
                                                        [E6]
起始    2026-11-24 14:05:20 +08:00（06:05:20Z），误差 10 s
        内；14:30:58 仍在失败                           [E2]
根因    Connection pool exhausted in payment-api 3.4.1.
                                                     [E2 E4]
        已证实，置信度高：a line says how it broke (E2)；
        nothing contradicts it
下一步  compare pool settings of the failing and the healthy
        version：
        kubectl -n shop get deploy payment-api -o yaml |
        grep -i pool

order-api，失败事件/分钟     常态 0-18，峰值 212 在 14:11
14:01 至 14:15  ▁▁▁▁▂▅▇▇███▇▇██
                  A B
A 14:03:12  变更  payment-api 3.4.1 first logs
B 14:05:20  起始

模式
新增    当前 159，平时 0，首次 14:05:20  payment-api
        HikariPool-1 - Connection is not available, request
        timed out after <*>ms (total=4, active=4, idle=0,
        waiting=<*>)
激增    当前 160，平时 3，首次 一直有  order-api
        payment call failed: 503 Service Unavailable
        order=<*>
下降    当前 612，平时 790，首次 一直有  payment-api
        payment settled order=<*>

影响面  version 3.4.1
          占失败 100 %，占正常 14 %
        zone eu-west-1b
          占失败 100 %，占正常 18 %
        未受影响：3.4.0, eu-west-1a, eu-west-1c

H1 首选    payment-api exhausts its connection pool
           支持 E2 E4   反对 -
H2 已排除  order-api fails by itself
           its errors name payment-api
无异常    6 项检查：memory，disk，dns，tls，auth，restarts
无法检查  database logs（no such service）

数据  完整，96 % 的日志有 trace.id，3 处已脱敏，以最新事件
      14:31:00 为当前时间
基线  13:31 至 14:01（the window before）
开销  文件查询 11 次 0.4 s；未用模型；0.8 s
案例  20261124-0631-7f3a\
""")


def test_the_ascii_set_draws_no_glyphs(outage: Diagnosis) -> None:
    text = render(outage, unicode=False)
    assert text.isascii()
    assert [line for line in text.splitlines() if "14:01 to" in line] == snapshot(["14:01 to 14:15  ____.=**###**##"])


def test_nothing_unusual_is_short(quiet: Diagnosis) -> None:
    assert render(quiet) == snapshot("""\
QUIET         nothing unusual in all services, 2026-11-24 14:01 to 14:31 +08:00
              against 13:31 to 14:01 (the window before)
              errors 17.2 % (normally 0.2 %), no new, spiking or vanished
              pattern, no change seen
CLEAR         6 checks: memory, disk, dns, tls, auth, restarts
NOT POSSIBLE  database logs (no such service)
If users still report trouble, look at metrics: logs do not show queueing in
front of a service.

data  complete, trace.id on 96 % of lines, 3 masked, newest event 14:31:00 taken
      as now
base  13:31 to 14:01 (the window before)
cost  11 queries on files 0.4 s; no model; 0.8 s
case  20261124-0631-7f3a\
""")


def test_nothing_unusual_in_chinese(quiet: Diagnosis) -> None:
    assert render(quiet, language="zh-CN") == snapshot("""\
平稳      所有服务 没有异常，2026-11-24 14:01 至 14:31 +08:00
          对比 13:31 至 14:01（the window before）
          错误率 17.2 %（平时 0.2 %），没有新增、激增或消失的模式，未见变更
无异常    6 项检查：memory，disk，dns，tls，auth，restarts
无法检查  database logs（no such service）
如果用户仍反馈有问题，请查看指标：日志看不到服务前面的排队。

数据  完整，96 % 的日志有 trace.id，3 处已脱敏，以最新事件 14:31:00 为当前时间
基线  13:31 至 14:01（the window before）
开销  文件查询 11 次 0.4 s；未用模型；0.8 s
案例  20261124-0631-7f3a\
""")


def test_missing_data_is_told_as_such(cannot_tell: Diagnosis) -> None:
    assert render(cannot_tell) == snapshot("""\
CANNOT TELL  cannot tell: pricing-api stopped logging

WHAT   160 of 932 requests failed (17.2 %, normally 0.2 %)                  [E1]
       about 148 users; 3 of 8 services                                     [E6]
SINCE  2026-11-24 14:05:20 +08:00 (06:05:20Z), within 10 s                  [E2]
LEAD   pricing-api fell silent. Its callers still succeed.                  [E2]
       insufficient data, no confidence
NEXT   compare the pool settings
This is no all-clear: the logs at hand cannot tell.

order-api, failing events/min     band 0-18, peak 212 at 14:11
14:01 to 14:15  ▁▁▁▁▂▅▇▇███▇▇██
                  A B
A 14:03:12  change  payment-api 3.4.1 first logs
B 14:05:20  onset

PATTERNS  now  usual  first     service    text
GONE        0      3  chronic   order-api  payment call failed: 503 Service
                                           Unavailable order=<*>

CLEAR         6 checks: memory, disk, dns, tls, auth, restarts
NOT POSSIBLE  database logs (no such service)

data  complete, trace.id on 96 % of lines, 3 masked, newest event 14:31:00 taken
      as now
base  13:31 to 14:01 (the window before)
cost  11 queries on files 0.4 s; no model; 0.8 s
case  20261124-0631-7f3a\
""")


def test_one_item_in_full(outage: Diagnosis) -> None:
    assert render_item(outage, "E2") == snapshot("""\
E2  first line of payment-api "HikariPool-1" at 06:05:20
state       verified
query       message:"Connection is not available"
            logs.ndjson.gz
            2026-11-24T06:01:00Z .. 2026-11-24T06:31:00Z\
""")
    assert render_item(outage, "h1") == snapshot("""\
H1  payment-api exhausts its connection pool
state            leading, confirmed
                 service.name=payment-api
for              E2 E4
against          -
E2  first line of payment-api "HikariPool-1" at 06:05:20
E4  100 % of failing events have 3.4.1\
""")
    assert render_item(outage, "P1", width=60) == snapshot("""\
P1  HikariPool-1 - Connection is not available, request
timed out after <*>ms (total=4, active=4, idle=0,
waiting=<*>)
change      NEW
now         159
usual       0
first       14:05:20
service     payment-api
EVIDENCE    E2
▁▁▁▇█\
""")


def test_an_unknown_item_names_those_there_are(outage: Diagnosis) -> None:
    with pytest.raises(UsageError) as refused:
        render_item(outage, "E9\x1b[31m")
    assert "E1, E2, E4, H1, H2, P1" in refused.value.hint
    assert "\x1b" not in refused.value.message


@pytest.mark.parametrize("language", ["en", "zh-CN"])
@pytest.mark.parametrize("columns", [40, 60, 80, 100, 132])
def test_no_line_is_wider_than_the_terminal(
    outage: Diagnosis, quiet: Diagnosis, cannot_tell: Diagnosis, language: str, columns: int
) -> None:
    for diagnosis in (outage, quiet, cannot_tell):
        assert width_of(render(diagnosis, width=columns, language=language)) <= columns


def test_a_full_diagnosis_still_fits_and_counts_what_it_leaves_out(outage: Diagnosis) -> None:
    long = "connection to a far away place was lost while the answer was on its way back to the caller " * 3
    patterns = [
        Pattern(
            id=f"P{n}", template=long, change="new", count=n, baseline_count=0, fields={"service.name": [f"svc-{n}"]}
        )
        for n in range(1, 20)
    ]
    crowded = outage.model_copy(
        update={
            "patterns": patterns,
            "blast_radius": outage.blast_radius * 4,
            "hypotheses": outage.hypotheses * 4,
            "summary": outage.summary.model_copy(update={"probable_cause": long, "headline": long[:120]}),
            "next_steps": [NextStep(order=1, purpose=long, command="kubectl get pods " * 9)],
        }
    )
    crowded.data_quality.caveats += [Caveat(code=f"LA40{n}", severity="warning", text=long) for n in range(5)]
    text = render(crowded)
    assert len(text.splitlines()) <= 40
    assert width_of(text) <= 80
    assert re.search(r"\+1\d more patterns", text)
    assert "more hypotheses" in text
    assert "more notes" in text


def test_very_verbose_cuts_nothing_and_lists_the_queries(outage: Diagnosis) -> None:
    text = render(outage, verbose=2)
    assert 'message:"Connection is not available"' in text
    assert "notification-worker" in text


def test_colour_is_only_written_when_asked_for_and_changes_no_text(outage: Diagnosis) -> None:
    plain, painted = render(outage), render(outage, colour=True)
    assert "\x1b" not in plain
    assert "\x1b[1;31mONGOING\x1b[0m" in painted
    assert re.sub(r"\x1b\[[\d;]*m", "", painted) == plain
    assert set(re.findall(r"\x1b\[([\d;]*)m", painted)) <= {"0", "1", "2", "32", "33", "1;31"}


HOSTILE = "\x1b[2J\x1b]52;c;aGk=\x07\u202egnp\u202c \u200bzero\x00 <b>\n\tline\r\U000e0041"


def poisoned(outage: Diagnosis) -> Diagnosis:
    """Hostile text in every place that a log or a model fills."""

    def poison(value: object) -> object:
        if isinstance(value, dict):
            return {key: value[key] if key in SAFE else poison(value[key]) for key in value}
        if isinstance(value, list):
            return [poison(one) for one in value]
        return value + HOSTILE if isinstance(value, str) else value

    return Diagnosis.model_validate(poison(outage.model_dump(by_alias=True, exclude_none=True)))


SAFE = frozenset(
    [
        "schema_version",
        "kind",
        "id",
        "created_at",
        "tool",
        "language",
        "window",
        "outcome",
        "status",
        "certainty",
        "state",
        "method",
        "grade",
        "result",
        "change",
        "at",
        "started_at",
        "earliest",
        "latest",
        "first_seen",
        "last_seen",
        "from",
        "to",
        "backend",
        "command_kind",
        "source",
        "supporting",
        "evidence_ids",
        "basis",
        "level",
        "capped_by",
        "evidence",
        "headline",
        "command",
    ]
)


def test_hostile_text_never_reaches_the_terminal_as_it_is(outage: Diagnosis) -> None:
    bad = poisoned(outage)
    for output in ("text", "md"):
        text = render(bad, output)
        assert not set(text) & {chr(code) for code in [*range(10), *range(11, 32), 127, 0x202E, 0x200B, 0xE0041]}
    assert "\\x1b[2J" in render(bad, verbose=2)
    assert width_of(render(bad)) <= 80


def test_a_banner_says_what_must_be_known_first(outage: Diagnosis) -> None:
    outage.tool.mode = "replay"
    outage.data_quality.complete = False
    outage.data_quality.shards = Shards(total=48, successful=45, failed=3)
    assert render(outage).splitlines()[:2] == snapshot(
        [
            "DEMO  replay of recorded data; narrative by rules, no model was called",
            "PARTIAL DATA  counts may be too low: 3 of 48 shards failed",
        ]
    )


def test_a_model_run_shows_tokens_and_money(outage: Diagnosis) -> None:
    outage.usage.llm = ModelUse.model_validate(
        {
            "gen_ai.request.model": "m",
            "gen_ai.usage.input_tokens": 14200,
            "gen_ai.usage.output_tokens": 900,
            "cost": {"amount": 0.031},
        }
    )
    assert "model 14.2k in, 900 out, about $0.03" in render(outage)


def test_an_idea_of_the_model_is_marked_and_has_no_command(outage: Diagnosis) -> None:
    outage.next_steps = [NextStep(order=1, purpose="ask the database team", source="model")]
    assert "ask the database team (unverified idea)" in render(outage)


def test_a_recovered_incident_says_when_it_ended(outage: Diagnosis) -> None:
    assert outage.onset is not None
    outage.onset.ended_at = "2026-11-24T06:24:58Z"
    outage.status = "recovered"
    text = render(outage, zone="UTC")
    assert text.startswith("RECOVERED")
    assert "ended 06:24:58" in text


def test_an_unknown_format_names_the_known_ones(outage: Diagnosis) -> None:
    with pytest.raises(UsageError, match="pdf") as refused:
        render(outage, "pdf")
    assert all(name in refused.value.hint for name in formats())


def test_an_unknown_zone_is_read_as_utc_and_an_offset_as_itself(outage: Diagnosis) -> None:
    assert "06:05:20 UTC" in render(outage, zone="Mars/Olympus")
    assert "11:35:20 +05:30" in render(outage, zone="+05:30")


# -- the pieces ------------------------------------------------------------------------------------------------------

TEXTS = st.text(alphabet=string.printable + "超时连接，。池🙂é\u0301", max_size=200).map(clean)


@given(TEXTS, st.integers(4, 100))
def test_wrapping_loses_no_character_and_keeps_the_width(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert all(cells(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


@given(TEXTS, st.integers(4, 60))
def test_a_cut_is_always_marked(text: str, width: int) -> None:
    short = fit(text, width, "...")
    assert cells(short) <= width
    assert short == text or short.endswith("...")


def test_ids_and_words_are_not_broken_where_they_fit() -> None:
    assert wrap("case 20261130-1431-7f3a is closed", 24) == ["case 20261130-1431-7f3a", "is closed"]
    assert wrap("订单服务超时，请检查", 8) == ["订单服务", "超时，请", "检查"]


def test_citations_leave_the_prose() -> None:
    assert cited("It fails [E1, E2]. Then more [E2 E7].") == ("It fails. Then more.", ["E1", "E2", "E7"])


@given(st.lists(st.floats(0, 1e9), max_size=200), st.integers(1, 80))
def test_pooling_keeps_the_peak_and_the_width(values: list[float], width: int) -> None:
    assert len(sparkline(values, width)) <= width
    assert max(pooled(values, width), default=0) == max(values, default=0)


def test_both_languages_have_the_same_keys_and_slots() -> None:
    folder = Path(logagent.texts.__file__).parent
    flat = []
    for language in ("en", "zh_CN"):
        topics = tomllib.loads((folder / language / "report.toml").read_text(encoding="utf-8"))["report"]
        flat.append(
            {
                (topic, key): set(re.findall(r"\{(\w+)\}", text))
                for topic, texts in topics.items()
                for key, text in texts.items()
            }
        )
    assert flat[0] == flat[1]
