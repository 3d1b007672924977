"""Field roles: what a field means, whatever it is called.

A schema file (`schemas/*.toml`) names candidates per role; `resolve` chooses among the fields that a source
really has, by order, fitness of the type and coverage. Stores speak in roles through the FieldMap.
"""

from logagent.fields._resolve import FieldInfo, resolve
from logagent.fields._roles import ALIASES, ECS, FieldChoice, FieldMap, Role
from logagent.fields._severity import classify_levels, severity_of_word, severity_table
from logagent.fields._values import error_class_in, instant_of, milliseconds

__all__ = [
    "ALIASES",
    "ECS",
    "FieldChoice",
    "FieldInfo",
    "FieldMap",
    "Role",
    "classify_levels",
    "error_class_in",
    "instant_of",
    "milliseconds",
    "resolve",
    "severity_of_word",
    "severity_table",
]
