"""The project file: read, written, kept from newer versions, saved."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from netwright.engine.core.errors import EXIT_INPUT, UserError
from netwright.engine.network import edits
from netwright.engine.network.network import Port
from netwright.engine.project.check import check
from netwright.engine.project.constants import ConstantsFile
from netwright.engine.project.experiment import ExperimentOptions
from netwright.engine.project.file import dumps, load, loads, save
from netwright.engine.project.network_json import read_network, write_network
from netwright.engine.project.project import Project, set_option
from netwright.engine.project.weights import WeightsOptions
from tests.builders import classifier
from tests.engine.project.generated import projects

GOLDEN = Path(__file__).parents[2] / "golden" / "format_1_4.netwright"
GOLDEN_1_0 = GOLDEN.with_name("format_1_0.netwright")
GOLDEN_1_1 = GOLDEN.with_name("format_1_1.netwright")
GOLDEN_1_2 = GOLDEN.with_name("format_1_2.netwright")
GOLDEN_1_3 = GOLDEN.with_name("format_1_3.netwright")


def file(**sections: Any) -> str:
    """The text of a project file."""
    return json.dumps({"netwright": [1, 0], **sections})


def layers(*rows: dict[str, Any], connections: Any = ()) -> dict[str, Any]:
    """A section `network`."""
    return {"layers": list(rows), "connections": list(connections)}


def row(name: str, type: str = "relu", **more: Any) -> dict[str, Any]:
    """One layer."""
    return {"id": f"id_{name}", "name": name, "type": type, **more}


def test_the_golden_file_is_read_with_every_section() -> None:
    opened = load(GOLDEN)
    project = opened.project
    assert opened.notices == ()
    assert (project.version, project.identity) == ((1, 4), "6f1c9d1e-4a53-4f0e-9b60-0f7a1d2c3b4e")
    assert [layer.name for layer in project.network.layers.values()][:3] == ["image_1", "conv_1", "relu_1"]
    assert project.network.layer("conv_1").type.write() == {"filters": 8, "kernel": [3, 5]}
    assert project.layout.at("c3") == (-120.25, 192.5)
    assert len(project.network.connections) == 9
    assert project.network.layer("fc_2").weights_of == "g7"
    assert project.network.incoming["e5"] == {"in1": Port("d4", "out"), "in2": Port("c3", "out")}
    assert project.data.path == "données/measured.csv"
    assert (project.training.solver, project.training.max_epochs) == ("adam", 12)
    assert project.environment.devices == (0, 1)
    assert project.weights.write() == {
        "file": "weights/base.safetensors",
        "sha256": "0123456789abcdef" * 4,
        "map": {"fc_1.weight": "head.weight", "fc_1.bias": ""},
        "freeze_up_to": "d4",
    }
    assert project.constants.write() == {
        "file": "imported.constants.safetensors",
        "sha256": "fedcba9876543210" * 4,
    }


def test_a_file_of_format_1_0_has_no_identity_and_is_otherwise_the_same() -> None:
    opened = load(GOLDEN_1_0)
    assert opened.notices == ()
    assert opened.project.identity == ""
    assert opened.project == replace(load(GOLDEN_1_1).project, identity="")


def test_a_file_of_format_1_1_has_neither_weights_nor_constants_and_is_otherwise_the_same() -> None:
    opened = load(GOLDEN_1_1)
    assert opened.notices == ()
    assert opened.project == replace(load(GOLDEN_1_2).project, weights=WeightsOptions(), constants=ConstantsFile())


def test_a_file_of_format_1_2_has_no_experiment_and_is_otherwise_the_same() -> None:
    opened = load(GOLDEN_1_2)
    assert opened.notices == ()
    assert opened.project == replace(load(GOLDEN_1_3).project, experiment=ExperimentOptions())


def test_a_file_of_format_1_3_has_no_shared_weights_and_is_otherwise_the_same() -> None:
    opened, newer = load(GOLDEN_1_3), load(GOLDEN).project
    assert opened.notices == ()
    network, layout = edits.remove_layers(newer.network, ["h8"]), newer.layout.without(["h8"])
    assert opened.project == replace(newer, network=network, layout=layout)


@pytest.mark.parametrize("id", [3, "", "short", "with space in it", "../../etc/passwd", "x" * 65, None])
def test_an_identity_that_is_none_is_refused(id: object) -> None:
    with pytest.raises(UserError, match="id: expected 8 to 64 letters"):
        loads(file(id=id))


def test_the_golden_file_is_written_back_byte_for_byte() -> None:
    assert dumps(load(GOLDEN).project) == GOLDEN.read_text(encoding="utf-8")


@given(projects())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_any_project_survives_its_file(project: Project) -> None:
    text = dumps(project)
    opened = loads(text)
    assert opened.project == project
    assert list(opened.project.network.layers) == list(project.network.layers)
    assert opened.notices == ()
    assert dumps(opened.project) == text


def test_an_empty_project_is_a_short_file() -> None:
    assert dumps(Project()) == '{"netwright": [1, 4],\n "network": {"layers": [\n  ], "connections": [\n  ]}}\n'
    assert loads('{"netwright": [1, 0]}').project == Project()


def test_one_layer_and_one_connection_are_one_line_each() -> None:
    text = dumps(Project(classifier()))
    assert text.count("\n") == 5 + 4 + 4
    assert '   ["fc_1", "relu_1"],\n' in text


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "p.netwright"
    path.write_bytes(b"\xef\xbb\xbf" + dumps(Project()).encode())
    assert load(path).project == Project()


def test_what_is_copied_can_be_pasted() -> None:
    project = load(GOLDEN).project
    copied = json.loads(json.dumps(write_network(project.network, project.layout)))
    assert read_network(copied) == (project.network, project.layout)


# Newer and unknown


def newer() -> dict[str, Any]:
    """A file of the next minor version, with something unknown at every place."""
    return {
        "netwright": [1, 7],
        "network": {
            "layers": [
                row("x", "image_input", at=[0, 0], fields={"channels": 3, "colours": {"name": "lab"}}, locked=True),
                row("y", "hyper_mixer", at=[5, 5], fields={"depth": 3}, colour="red"),
                row("z", at=[1, 1]),
            ],
            "connections": [["x", "y"], ["y", "z"]],
            "groups": [{"title": "Encoder", "layers": ["id_x"]}],
        },
        "data": {"source": "digits", "augment": [1.5, {"flip": True}]},
        "training": {"max_epochs": 3, "ema": 0.999},
        "environment": {"target": "cpu", "nodes": 2},
        "sweep": {"learn_rate": [1e-3, 1e-2]},
        "comment": "",
    }


def test_what_a_newer_minor_version_wrote_is_kept_and_written_back() -> None:
    opened = loads(json.dumps(newer()))
    (notice,) = opened.notices
    assert "newer version (format 1.7)" in notice
    assert json.loads(dumps(opened.project)) == newer()


def test_edits_keep_what_is_unknown() -> None:
    project = loads(json.dumps(newer())).project
    network = edits.set_fields(edits.rename(project.network, "id_x", "photo"), "id_x", {"channels": 4})
    network = edits.remove_layers(network, ["id_y"])
    edited = set_option(replace(project, network=network), "training.max_epochs=9")
    written = json.loads(dumps(edited))
    first = written["network"]["layers"][0]
    assert first["fields"] == {"channels": 4, "colours": {"name": "lab"}}
    assert (first["name"], first["locked"]) == ("photo", True)
    assert [layer["name"] for layer in written["network"]["layers"]] == ["photo", "z"]
    assert written["network"]["groups"] == newer()["network"]["groups"]
    assert written["training"] == {"max_epochs": 9, "ema": 0.999}
    assert written["sweep"] == newer()["sweep"]


def test_a_newer_major_version_is_refused() -> None:
    with pytest.raises(UserError, match=r"format 2\.0; this version of Netwright reads up to 1\.x.*newer") as caught:
        loads('{"netwright": [2, 0], "whatever": 1}')
    assert caught.value.exit_code == EXIT_INPUT


@pytest.mark.parametrize("version", [0, [], [1], [1, 0, 0], ["1", 0], [1.0, 0], [True, 0], [0, 9], [1, -1], None, {}])
def test_a_version_that_is_none_is_refused(version: object) -> None:
    with pytest.raises(UserError, match=r'"netwright" should look like \[1, 0\]; received'):
        loads(json.dumps({"netwright": version}))


@pytest.mark.parametrize(
    ("place", "path"),
    [
        ({"trainig": {}}, "no section \"trainig\" in a project file. Did you mean 'training'?"),
        ({"training": {"max_epoch": 1}}, "training.max_epoch: there is no such field. Did you mean 'max_epochs'?"),
        ({"network": {"layer": []}}, "network.layer: there is no such key. Did you mean 'layers'?"),
        ({"network": layers(row("a", nmae=1))}, "network.layers[0].nmae: there is no such key. Did you mean 'name'?"),
        (
            {"network": layers(row("c", "conv2d", fields={"filter": 1}))},
            "network.layers[0] (c).fields.filter: there is no such field. Did you mean 'filters'?",
        ),
    ],
)
def test_in_a_file_of_our_own_version_what_is_unknown_is_an_error(place: dict[str, Any], path: str) -> None:
    with pytest.raises(UserError) as caught:
        loads(file(**place))
    assert path in str(caught.value)


def test_a_layer_of_unknown_type_is_kept_and_shown_as_a_problem() -> None:
    rows = [
        row("x", "image_input", at=[0, 0]),
        row("m", "hyper_mixer", at=[3, 4.5], fields={"self": 1, "a": {"b": [None, 1.5, "é"]}}),
        row("f", "flatten", at=[1, 1]),
        row("lonely", "other", at=[2, 2]),
    ]
    links = [["x", "m"], ["x", "m:in"], ["x", "m:left"], ["m", "f"]]
    opened = loads(file(network=layers(*rows, connections=links)))
    assert opened.notices == ()
    said = [p for p in check(opened.project).problems if p.severity == "error"]
    assert [p.name for p in said] == ["m", "lonely"]
    assert "has no layer type 'hyper_mixer'" in said[0].message
    assert json.loads(dumps(opened.project))["network"] == layers(*rows, connections=links)
    assert loads(dumps(opened.project)).project == opened.project


def test_a_cycle_is_a_problem_and_not_an_error_of_reading() -> None:
    rows = [row("x", "image_input"), row("a", "addition"), row("b")]
    links = [["x", "a:in1"], ["b", "a:in2"], ["a", "b"]]
    project = loads(file(network=layers(*rows, connections=links))).project
    assert any("cycle through a, b" in p.message for p in check(project).errors)
    assert loads(dumps(project)).project == project
    itself = loads(file(network=layers(row("r"), connections=[["r", "r"]]))).project
    assert any("cycle through r" in p.message for p in check(itself).errors)


# Saving


def test_saving_without_room_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "p.netwright"
    save(Project(), path)
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError, match=r"p\.netwright cannot be written: No space left on device\."):
        save(Project(classifier()), path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["p.netwright"]


@pytest.mark.parametrize("place", ["absent/p.netwright", "file/p.netwright", "folder", "x" * 300])
def test_where_nothing_can_be_saved_is_said(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    with pytest.raises(UserError, match=r"cannot be written: .+\. Nothing was changed; save elsewhere\."):
        save(Project(), tmp_path / place)
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]


def test_a_write_protected_file_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "p.netwright"
    save(Project(), path)
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everything, so the system would not say it
    with pytest.raises(UserError, match="write-protected"):
        save(Project(classifier()), path)
    assert load(path).project == Project()


# --set


@pytest.mark.parametrize(
    ("assignment", "said"),
    [
        ("training", "expected section.option=value, such as training.max_epochs=5"),
        ("training.max_epochs", "expected section.option=value"),
        ("=5", "expected section.option=value"),
        ("trainig.max_epochs=5", "no section 'trainig'. Did you mean 'training'? Sections are: data, training, env"),
        ("training.max_epoch=5", "training.max_epoch: there is no such option. Did you mean 'max_epochs'?"),
        ("training.learn_rate=1", "training.learn_rate: there is no such option. Did you mean 'initial_learn_rate'?"),
        ("training.learning_rate=1", "Did you mean 'initial_learn_rate'?"),
        ("training.lr=1", "Did you mean 'initial_learn_rate'?"),
        ("training.optimizer=adam", "Did you mean 'solver'?"),
        ("training.weight_decay=1", "Did you mean 'l2_regularization'?"),
        ("training.optimzer=adam", "Did you mean 'solver'?"),
        ("training.MaxEpochs=3", "Did you mean 'max_epochs'?"),
        ("training.num_workers=3", "Did you mean 'environment.num_workers'?"),
        ("data.zzz=3", "`netwright-engine options data.` lists them."),
        ("lr=1", "such as training.max_epochs=5. Did you mean 'training.initial_learn_rate'?"),
        ("optim.lr=1", "there is no section 'optim'. Did you mean 'training.initial_learn_rate'? Sections are: "),
        ("training.max_epochs=0", "training.max_epochs: expected a whole number from 1 to 1,000,000, received 0."),
        ("training.max_epochs=", 'training.max_epochs: expected a whole number from 1 to 1,000,000, received "".'),
        (
            "training.solver=sgd",
            'training.solver: expected one of sgdm, adam, adamw, nadam, rmsprop, lbfgs, lm, received "sgd". Did you',
        ),
        ("training.initial_learn_rate=NaN", "expected a number above 0 and up to 1000, received NaN."),
        ("environment.devices=--5", "environment.devices: expected at most 16 whole numbers"),
        ("training.__class__=5", "training.__class__: there is no such option."),
    ],
)
def test_a_wrong_setting_is_explained(assignment: str, said: str) -> None:
    with pytest.raises(UserError) as caught:
        set_option(Project(), assignment)
    assert said in str(caught.value)


def test_settings_are_applied() -> None:
    project = Project()
    for assignment in (
        "training.max_epochs=5",
        " data.path = a=b.csv ",
        "environment.devices=0, 2",
        "training.shuffle=never",
    ):
        project = set_option(project, assignment)
    assert project.training.max_epochs == 5
    assert project.data.path == "a=b.csv"
    assert project.environment.devices == (0, 2)
    assert project.training.shuffle == "never"


def test_a_bypassed_layer_is_written_and_read() -> None:
    network = edits.set_bypassed(classifier(), ["id3"], True)
    text = dumps(Project(network))
    assert text.count('"bypassed": true') == 1
    assert loads(text).project.network == network
    assert "bypassed" not in dumps(Project(classifier()))


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (row("a", bypassed="yes"), "expected true or false"),
        (row("a", "addition", bypassed=True), "Addition has 2 inputs"),
        (row("a", "image_input", bypassed=True), "no input"),
    ],
)
def test_a_bypass_that_cannot_be_is_refused_by_place(bad: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said) as refused:
        loads(file(network=layers(bad)))
    assert "network.layers[0].bypassed" in str(refused.value)


def test_a_bypassed_layer_gives_no_advice() -> None:
    network = classifier()
    network = edits.set_bypassed(network, [network.layer("softmax_1").id, network.layer("relu_1").id], True)
    said = [problem.message for problem in check(Project(network)).problems]
    assert any("fc_1" in message and "fc_2" in message for message in said)  # nothing bends between them any more
    assert not any("relu" in message for message in said)
