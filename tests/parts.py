"""Which tests belong to a part: without its folders they are not collected, and all others pass (`make without`)."""

from pathlib import Path

from netwright.engine.core.part_registry import parts

ROOT = Path(__file__).parent
ALL = (
    "engine/test_api.py",
    "engine/cli/test_schema_command.py",
    "system/test_examples.py",
    "system/test_hostile_names.py",
    "faults/test_network_faults.py",
    "faults/test_telemetry.py",
    "journeys",
)
"""Files of tests that use what all parts bring."""
FILES: dict[str, tuple[str, ...]] = {
    "analysis": (
        *ALL,
        "engine/analysis",
        "app/analysis",
        "engine/endpoint",
        "engine/exchange/test_onnx_session.py",
        "system/test_predict_page_end_to_end.py",
    ),
    "assistants": (*ALL, "engine/assistants", "app/assistants"),
    "cluster": (
        *ALL,
        "engine/cluster",
        "app/cluster",
        "journeys/test_cluster_journey.py",
        "system/test_cluster.py",
        "system/test_cluster_hosts.py",
        "system/test_cluster_jobs.py",
        "system/test_ray.py",
        "system/test_ray_experiments.py",
        "system/test_ray_jobs.py",
        "system/test_two_hosts.py",
    ),
    "doctor": (*ALL, "engine/doctor", "app/doctor"),
    "endpoint": (*ALL, "engine/endpoint"),
    "exchange": (
        *ALL,
        "engine/exchange",
        "app/exchange",
        "app/analysis/test_hostile_names.py",
        "app/frame/test_import_commands.py",
        "app/history/test_run_commands.py",
        "app/test_small_screen.py",
        "engine/analysis/test_predict.py",
        "engine/endpoint",
        "engine/layers/test_complex.py",
        "engine/layers/test_parity.py",
        "engine/layers/test_unpooling.py",
        "engine/lowering/test_lowered_blocks.py",
        "engine/lowering/test_onnx_operator.py",
        "engine/network/test_ode.py",
        "engine/project/test_input_format.py",
        "system/test_first_light.py",
        "system/test_preparation_end_to_end.py",
        "system/test_training_units.py",
    ),
    "experiments": (
        *ALL,
        "engine/experiments",
        "app/experiments",
        "engine/cluster/nodes/test_cluster_places.py",
        "system/test_experiments_end_to_end.py",
        "system/test_tune_end_to_end.py",
        "system/test_ray_experiments.py",
        "faults/test_experiments_faults.py",
    ),
}
"""Files and folders of tests by the part that they need. A single test elsewhere has the mark `part`."""


def missing() -> set[str]:
    """Return the parts that have tests and no folder."""
    return {*FILES} - {part.name for part in parts()}


def is_left_out(path: Path) -> bool:
    """Return whether a file or folder of tests needs a part that is missing."""
    return any(path == ROOT / file for name in missing() for file in FILES[name])
