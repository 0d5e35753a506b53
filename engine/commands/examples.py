"""What `--help` shows below its options: examples, each a line that works, and the exit codes."""

import argparse

EXIT_CODES = """exit codes:
  0  done                              3  the run failed
  1  a defect of Netwright             4  a --require did not hold; compare: different
  2  the input is wrong                5  the execution environment is not available here
                                     130  stopped on request"""
EXAMPLES = {
    "options": ("options", "options learn_rate", "options ValidationPatience", "options training.loss"),
    "check": ("check digits.netwright", "check digits.netwright --set training.mini_batch_size=64 --json"),
    "compare": ("compare old.netwright new.netwright",),
    "draw": ("draw digits.netwright -o digits.svg", "draw digits.netwright -o digits.png --theme dark --scale 3"),
    "train": (
        "train digits.netwright --set training.max_epochs=20 --set training.solver=adam",
        'train digits.netwright --require "accuracy>=0.95" --json --junit outcome.xml',
        "train digits.netwright --environment multi-cpu --workers 2 --detach",
    ),
    "resume": ("resume runs/first", 'resume runs/first --set training.max_epochs=40 --require "accuracy>=0.95"'),
    "queue": (
        "queue add digits.netwright --set training.solver=adam",
        "queue add digits.netwright --set training.solver=sgdm",
        "queue run",
    ),
    "set": ("set runs/first --rate-factor 0.1", "set runs/first --epochs 40"),
    "watch": ("watch runs/first --layers on",),
    "runs": ('runs digits.netwright --filter "accuracy>0.9 solver" --sort validation.loss', "runs --csv"),
    "curves": ("curves runs/* -o curves.csv", "curves runs/* --format tensorboard -o logs"),
    "export": ("export runs/first --format onnx -o digits.onnx", "export runs/first --format pytorch -o digits_net.py"),
    "devices": ("devices --test",),
}


class HelpFormatter(argparse.HelpFormatter):
    """Leaves the lines of what stands below the options as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        is_set = "\n  " in text
        return text if is_set else super()._fill_text(text, width, indent)


def add_examples(command: argparse.ArgumentParser, name: str) -> None:
    """Put the examples of this command below its options."""
    if name in EXAMPLES:
        command.formatter_class = HelpFormatter
        command.epilog = "\n".join(("examples:", *(f"  netwright-engine {line}" for line in EXAMPLES[name])))
