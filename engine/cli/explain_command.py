"""`explain RUN`: what the network of a run looks at, by one of several methods."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from netwright.engine.cli.answers import add_json, print_json
from netwright.engine.cli.commands import Commands
from netwright.engine.cli.common import add_allow_host, add_trust
from netwright.engine.cli.printing import say
from netwright.engine.cli.terminal import print_table, showing
from netwright.engine.core.errors import EXIT_DONE, UserError
from netwright.engine.operations.operation import WEIGHTS
from netwright.engine.project.dataset_info import SPLITS

METHODS = {
    "gradcam": "where a convolution looks for a class (images)",
    "integrated_gradients": "how much each number of a sample adds to the answer",
    "occlusion": "how the answer falls where a part of the sample is hidden",
    "activations": "what a layer gives for a sample",
    "filters": "the filters of a 2-D convolution",
    "max_activation": "images that a class or a channel answers to most strongly",
    "permutation": "how much worse it gets without each column (tables)",
    "partial_dependence": "the mean answer over the values of each column (tables)",
    "attention": "what each step takes from the others (transformers)",
    "embedding": "samples as points, by what a layer gives for them",
}
REDUCTIONS = ("pca", "tsne", "umap")
SHOWN_ROWS = 20


def register(commands: Commands) -> None:
    """Add the command."""
    lines = "\n".join(f"  {name:<21}{text}" for name, text in METHODS.items())
    text = (
        "Show what the network of a run looks at. Results are kept in the run's folder. -o writes them as a picture, a "
        f"table or arrays.\n\nmethods:\n{lines}"
    )
    command = commands.add_parser("explain", description=text)
    command.add_argument("run_dir", type=Path, metavar="RUN", help="the folder of a run")
    command.add_argument("--method", required=True, choices=tuple(METHODS), help="what to show")
    help = "number of a sample in the split, from 0 (default: 0), or a file as of `predict`"
    command.add_argument("--sample", default="0", metavar="N|FILE", help=help)
    help = "split of the run's data (default: test, else validation)"
    command.add_argument("--split", choices=SPLITS, default="", help=help)
    help = "layer, such as conv_1 or stage/2/conv (default: one that fits the method)"
    command.add_argument("--layer", default="", metavar="PATH", help=help)
    help = "class, label or number to explain (default: the answer of the network)"
    command.add_argument("--class", dest="class_name", default="", metavar="NAME", help=help)
    command.add_argument("--column", default="", metavar="NAME", help="column of partial_dependence (default: all)")
    help = "how an embedding gets two dimensions (default: pca)"
    command.add_argument("--reduction", choices=REDUCTIONS, default="pca", help=help)
    command.add_argument("--window", type=int, default=0, metavar="N", help="side of the window of occlusion")
    command.add_argument("--weights", choices=WEIGHTS, default="", help="weights of the run (default: its result)")
    help = "write there: .png (pictures), .csv or .npz"
    command.add_argument("-o", "--output", type=Path, metavar="FILE", help=help)
    command.add_argument("--fresh", action="store_true", help="compute again, even where the result is known")
    add_trust(command)
    add_allow_host(command)
    add_json(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Explain, and print or write the result."""
    if arguments.window < 0:
        raise UserError(f"--window: expected a number from 1 on, received {arguments.window}.", code="usage")
    from netwright.engine.hardware.threads import calm_threads

    calm_threads()
    from netwright.engine.explain.explain import Question, explain, subject_of
    from netwright.engine.explain.explanation_files import refuse_suffix, write

    if arguments.output is not None:
        refuse_suffix(arguments.output)
    is_number = arguments.sample.removeprefix("-").isdigit()
    asked = Question(
        arguments.method,
        split=arguments.split,
        place=int(arguments.sample) if is_number else 0,
        file="" if is_number else str(Path(arguments.sample).absolute()),
        layer=arguments.layer,
        class_name=arguments.class_name,
        column=arguments.column,
        reduction=arguments.reduction,
        window=arguments.window,
    )
    with showing("explaining"):
        subject = subject_of(
            arguments.run_dir, arguments.split, weights_kept=arguments.weights, trusted=arguments.trust
        )
        found = explain(subject, asked, fresh=arguments.fresh)
    if arguments.output is not None:
        write(found, arguments.output)
    file = arguments.output or found.file
    told = {**found.told, "file": str(file.absolute()) if file is not None else "", "cached": found.cached}
    if arguments.json:
        print_json(arguments, {"path": str(arguments.run_dir.absolute()), **told})
        return EXIT_DONE
    _show(told)
    if arguments.output is not None:
        say(f"wrote {arguments.output}")
    return EXIT_DONE


def _show(told: Mapping[str, Any]) -> None:
    known = ", known from before" if told["cached"] else ""
    of = f" of the layer {told['layer']}" if "layer" in told else ""
    say(f"{told['title']}{of}; {told['weights']} weights{known}")
    if sample := told.get("sample"):
        say(f"sample: {_where(sample)}")
    if "target" in told:
        say(f"explained: {told['target']}")
    if told.get("receptive_field"):
        say(f"receptive field: {' × '.join(map(str, told['receptive_field']['sizes']))}")
    if features := told.get("features"):
        head = told.get("measured", "")
        title = f"{head} {'rises' if head == 'RMSE' else 'falls'} by" if head else "adds"
        rows = [(one["name"], f"{one['value']:.4g}") for one in features[:SHOWN_ROWS]]
        print_table([("column", title), *rows], right=(1,))
    if columns := told.get("columns"):
        rows = [(one["name"], f"{one['spread']:.4g}") for one in columns[:SHOWN_ROWS]]
        print_table([("column", "the mean answer moves by"), *rows], right=(1,))
    for layer in told.get("layers", ())[:SHOWN_ROWS]:
        say(f"{layer['name']}: {layer['heads']} heads, {' × '.join(map(str, layer['steps']))} steps")
    if "explained" in told:
        shares = ", ".join(f"{share:.1%}" for share in told["explained"])
        say(f"share of the variance: {shares}")
    if told["arrays"]:
        say("arrays: " + ", ".join(f"{name} {' × '.join(map(str, shape))}" for name, shape in told["arrays"].items()))
    for note in told["notes"]:
        say(f"note: {note}")


def _where(sample: Mapping[str, Any]) -> str:
    """Return which sample it is, its label and what the network answers."""
    from netwright.engine.operations.predict import in_words

    name = sample.get("file") or sample.get("name") or f"{sample['place']} of the {sample['split']} split"
    label = f", labelled {sample['label']}" if sample.get("label") else ""
    return f"{name!s}{label}; answer {in_words(sample['outputs'][0])}"
