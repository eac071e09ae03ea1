"""The `ctx` command, also as `python -m ctxcli`."""

from ctxcli.cli.main import main

if __name__ == "__main__":
    main()
