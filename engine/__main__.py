"""`python -m engine` is `netwright-engine`."""

from engine.cli.main import program

if __name__ == "__main__":
    program()
