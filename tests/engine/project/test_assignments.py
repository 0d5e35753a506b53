"""What is copied gives the same options again."""

import json
import math
import shlex

from engine.project.assignments import as_arguments, as_json
from engine.project.environment import EnvironmentOptions
from engine.project.project import Project, set_option
from engine.project.training import TrainingOptions

TRAINING = TrainingOptions(
    solver="nadam", initial_learn_rate=1e-5, class_weighting="given", class_weights=(1, 2.5), deterministic=True
)
ENVIRONMENT = EnvironmentOptions(target="multi-cpu", num_workers=2)


def test_arguments_give_the_same_options_again() -> None:
    words = shlex.split(as_arguments(training=TRAINING, environment=ENVIRONMENT))
    assert words[::2] == ["--set"] * 7
    project = Project()
    for assignment in words[1::2]:
        project = set_option(project, assignment)
    assert (project.training, project.environment) == (TRAINING, ENVIRONMENT)


def test_infinity_is_taken_again() -> None:
    assert TrainingOptions(gradient_threshold=math.inf).changed() == {}


def test_json_is_a_part_of_the_project_file() -> None:
    written = json.loads(as_json(training=TRAINING, environment=ENVIRONMENT))
    assert TrainingOptions.read(written["training"], "training") == TRAINING
    assert EnvironmentOptions.read(written["environment"], "environment") == ENVIRONMENT
    assert as_json(training=TrainingOptions(), environment=EnvironmentOptions()) == "{}"
    assert as_arguments(training=TrainingOptions()) == ""
