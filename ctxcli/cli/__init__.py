"""The command line: flags, exit codes, and nothing that a library user would want."""
