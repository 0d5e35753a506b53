"""Options by the names that they have in PyTorch, Lightning, Keras, scikit-learn and MATLAB."""

import re
from collections.abc import Mapping

from netwright.engine.core.errors import FieldError, closest_word
from netwright.engine.core.records import Record

Sections = Mapping[str, type[Record]]

NAMES_ELSEWHERE: Mapping[str, str] = {
    "training.initial_learn_rate": "lr lr0 learn_rate learning_rate learning_rate_init",
    "training.max_epochs": "epoch epochs n_epochs num_epochs num_train_epochs",
    "training.mini_batch_size": "bs batch batch_size train_batch_size per_device_train_batch_size",
    "training.solver": "optim optimiser optimizer",
    "training.schedule": "lr_schedule lr_scheduler scheduler learn_rate_schedule",
    "training.l2_regularization": "l2 wd weight_decay",
    "training.validation_patience": "patience early_stopping early_stopping_patience",
    "training.objective_metric": "metric_for_best_model monitor objective_metric_name",
    "training.metrics": "metric",
    "training.loss": "criterion loss_fn",
    "training.precision": "amp bf16 fp16 mixed_precision",
    "training.acceleration": "compile torch_compile",
    "training.gradient_threshold": (
        "clipnorm clip_grad clip_grad_norm grad_clip gradient_clip gradient_clip_val max_grad_norm max_norm"
    ),
    "training.gradient_accumulation": "accumulate_grad_batches grad_accum gradient_accumulation_steps",
    "training.seed": "manual_seed random_seed random_state",
    "training.max_time": "time_limit",
    "training.checkpoint_frequency": "checkpoint_interval save_freq save_every_n_epochs",
    "environment.target": "accelerator cuda device execution_environment gpu gpus",
    "environment.num_workers": "nproc_per_node world_size",
    "data.path": "data_dir data_path dataset",
    "data.response": "label label_column target target_column y",
    "data.image_size": "img_size imgsz",
    "data.validation_share": "val_size val_split validation_split",
    "data.test_share": "test_size test_split",
    "data.readers": "dataloader_num_workers",
}
VALUES_ELSEWHERE: Mapping[str, Mapping[str, str]] = {
    "environment.target": {"cuda": "gpu", "cuda:0": "gpu", "false": "cpu", "true": "gpu"},
    "gpus": {"0": "cpu", "1": "gpu", **{str(count): "multi-gpu" for count in range(2, 17)}},
    "training.solver": {"sgd": "sgdm"},
    "training.precision": {"16": "fp16", "16-mixed": "fp16", "bf16-mixed": "bf16", "32": "fp32", "64": "fp64"},
}
"""Values of an option, or of an option by its name elsewhere, that are written differently here."""
_OPTIONS = {name: option for option, names in NAMES_ELSEWHERE.items() for name in names.split()}
_MATLAB = re.compile(r"[A-Z][a-z0-9]*(?:[A-Z][a-z0-9]*)+")


def as_option_name(word: str) -> str:
    """Return a word as names of options are written: `--mini-batch-size` and MATLAB's `MiniBatchSize` as
    `mini_batch_size`."""
    word = word.strip().removeprefix("--")
    if _MATLAB.fullmatch(word):
        word = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", word)
    return word.replace("-", "_").lower()


def option_named(word: str, sections: Sections, section: str = "") -> str:
    """Return the option, such as `training.max_epochs`, of exactly this name, here or elsewhere; else nothing. A
    section, if one is named, goes first."""
    name = as_option_name(word)
    if section in sections and name in sections[section].fields:
        return f"{section}.{name}"
    if name in _OPTIONS:
        return _OPTIONS[name]
    return next((f"{key}.{name}" for key, record in sections.items() if name in record.fields), "")


def option_like(word: str, sections: Sections, section: str) -> str:
    """Return the option that a name which a section does not have may mean, or nothing. A name elsewhere goes before
    one that is spelled similarly."""
    if option := option_named(word, sections, section):
        return option
    fields = sections[section].fields
    similar = closest_word(as_option_name(word), [*fields, *_OPTIONS])
    return f"{section}.{similar}" if similar in fields else _OPTIONS.get(similar, "")


def assignment(option: str, word: str, value: str, sections: Sections) -> str:
    """Return `section.option=value` for an option that has the name `word` elsewhere; where the value is none of it,
    with what it takes."""
    section, _, name = option.partition(".")
    field = sections[section].fields[name]
    values = VALUES_ELSEWHERE.get(as_option_name(word)) or VALUES_ELSEWHERE.get(option, {})
    text = values.get(value.lower(), value)
    try:
        field.parse(text)
    except FieldError:
        return f"{option}=VALUE; it takes {field.expects}"
    return f"{option}={text}"
