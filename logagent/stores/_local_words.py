"""The words of a text in SQL."""

from logagent.analysis.words import token_pattern


def words_sql(text: str) -> str:
    """SQL of the words of a text, each between blanks, in lower case; NULL where there is no text.

    A phrase is then found as it stands: ` connection refused `. DuckDB would need 3 ms to compile each as a pattern.
    """
    pattern = token_pattern().replace("'", "''")
    return f"' ' || array_to_string(regexp_extract_all(lower({text}), '{pattern}'), ' ') || ' '"
