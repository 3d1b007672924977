"""The tools of the model: one public module each, exporting `TOOL`; underscore modules are machinery."""
