"""`python -m netwright.engine` is `netwright-engine`."""

from netwright.engine.cli.main import program

if __name__ == "__main__":
    program()
