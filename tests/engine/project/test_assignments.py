"""What is copied gives the same options again."""

import json
import math
import shlex

from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.presets import as_arguments, as_json
from netwright.engine.project.project import Project, set_option
from netwright.engine.project.training import TrainingOptions

TRAINING = TrainingOptions(
    solver="nadam", initial_learn_rate=1e-5, class_weighting="given", class_weights=(1, 2.5), deterministic=True
)
ENVIRONMENT = EnvironmentOptions(target="multi-cpu", num_workers=2)
ODD = TrainingOptions(
    output_losses="mask: dice * 0.5, kind: cross-entropy",
    metrics=("f-score", "custom"),
    metric_function="my folder/it's $HOME.py:score",
    schedule="chain",
    schedule_chain="warmup 100 iterations, piecewise 9 epochs times 0.5 learn_rate_drop_period=3, cosine",
    gradient_threshold=1e-300,
    max_time=90,
    ema_warmup=False,
    hooks_file="größe 50 %.py",
)


def test_arguments_give_the_same_options_again() -> None:
    words = shlex.split(as_arguments(training=TRAINING, environment=ENVIRONMENT))
    assert words[::2] == ["--set"] * 7
    project = Project()
    for assignment in words[1::2]:
        project = set_option(project, assignment)
    assert (project.training, project.environment) == (TRAINING, ENVIRONMENT)


def test_words_lists_chains_and_files_survive_the_shell() -> None:
    """Also those that do not apply now: they are what somebody chose."""
    words = shlex.split(as_arguments(training=ODD, environment=EnvironmentOptions(target="gpu", devices=(0, 2))))
    project = Project()
    for assignment in words[1::2]:
        project = set_option(project, assignment)
    assert (project.training, project.environment.devices) == (ODD, (0, 2))
    assert TrainingOptions.read(json.loads(as_json(training=ODD))["training"], "training") == ODD


def test_infinity_is_taken_again() -> None:
    assert TrainingOptions(gradient_threshold=math.inf).changed() == {}


def test_json_is_a_part_of_the_project_file() -> None:
    written = json.loads(as_json(training=TRAINING, environment=ENVIRONMENT))
    assert TrainingOptions.read(written["training"], "training") == TRAINING
    assert EnvironmentOptions.read(written["environment"], "environment") == ENVIRONMENT
    assert as_json(training=TrainingOptions(), environment=EnvironmentOptions()) == "{}"
    assert as_arguments(training=TrainingOptions()) == ""
