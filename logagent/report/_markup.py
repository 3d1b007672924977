"""HTML as values: text is escaped unless it was made here, so that nobody has to remember to."""

from collections.abc import Iterable

from logagent.report._escape import html_text

_VOID = frozenset({"meta", "br", "hr", "rect", "path", "line", "polygon"})
"""Elements without content: those of HTML, and the shapes of our drawings."""
_DRAWN = frozenset({"rect", "path", "line", "polygon"})


class Html(str):
    """Markup that goes into the page as it is. Only this module and `_page` make it."""

    __slots__ = ()


Child = str | None
"""Text, which is escaped, or `Html`; None is nothing."""


def tag(name: str, /, *children: Child, **attributes: str | float | bool | None) -> Html:
    """One element. Attributes that are None or False are left out, True stands alone.

    `class_` and `for_` lose their underscore, others get hyphens: `aria_label` is `aria-label`.

    >>> tag("p", "a < b", tag("b", "c"), class_="note", hidden=True, title=None)
    '<p class="note" hidden>a &lt; b<b>c</b></p>'
    """
    start = f"<{name}" + "".join([_attribute(key, value) for key, value in attributes.items()])
    if name in _VOID:
        return Html(start + ("/>" if name in _DRAWN else ">"))
    inner = "".join([child if isinstance(child, Html) else html_text(child) for child in children if child])
    return Html(f"{start}>{inner}</{name}>")


def join(children: Iterable[Child], between: str = "") -> Html:
    """Children one after the other, escaped like those of `tag`."""
    inner = html_text(between)
    return Html(inner.join([child if isinstance(child, Html) else html_text(child) for child in children if child]))


def _attribute(key: str, value: str | float | bool | None) -> str:  # noqa: FBT001 - what an attribute may hold
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    return f' {name}="{html_text(value) if isinstance(value, str) else f"{value:g}"}"'
