"""Where logs are read from: one module a backend; nothing here can write."""
