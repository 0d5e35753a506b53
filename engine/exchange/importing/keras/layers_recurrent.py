"""Rules for recurrent layers of Keras, and the wrappers around them.

Gates stand in other orders: Keras has i, f, c, o for an LSTM, which is ours, and z, r, h for a GRU, where ours is r, z,
n. Kernels are (inputs, gates · units) there, the transpose here.
"""

from typing import Any

import numpy as np

from netwright.engine.core.fields import printable
from netwright.engine.exchange.importing.keras.config import KerasLayer, Ref
from netwright.engine.exchange.importing.keras.layers_basic import dense
from netwright.engine.exchange.importing.keras.network_builder import Refused, Site, Value, rule

KEYS = {"LSTM": "lstm", "GRU": "gru", "SimpleRNN": "rnn"}
GATES = {"LSTM": (0, 1, 2, 3), "GRU": (1, 0, 2), "SimpleRNN": (0,)}


def _activation(config: dict[str, Any], name: str, default: str) -> str:
    value = config.get(name, default)
    if isinstance(value, dict):
        value = value.get("config") if isinstance(value.get("config"), str) else value.get("class_name")
    return str(value)


def _fields(site: Site, kind: str, config: dict[str, Any]) -> dict[str, Any]:
    """Return our fields for the settings of a recurrent layer. Raises `Refused` for those without a counterpart."""
    fields: dict[str, Any] = {"hidden_units": config.get("units")}
    fields["output_mode"] = "sequence" if config.get("return_sequences") else "last"
    state = _activation(config, "activation", "tanh")
    if state not in (("tanh", "relu") if kind == "SimpleRNN" else ("tanh", "softsign", "relu")):
        raise Refused(f"its activation '{printable(state)[:40]}' has no counterpart in a recurrent layer")
    if state != "tanh":
        fields["state_activation"] = state
    if kind != "SimpleRNN":
        gate = _activation(config, "recurrent_activation", "sigmoid")
        if gate == "hard_sigmoid" and site.builder.version.startswith("2"):
            fields["gate_activation"] = "hard-sigmoid"
        elif gate != "sigmoid":
            raise Refused(f"its recurrent activation '{printable(gate)[:40]}' has no counterpart")
    if kind == "GRU" and config.get("reset_after") is False:
        fields["reset_gate_mode"] = "before-multiplication"
    if config.get("stateful"):
        raise Refused("it keeps its state from batch to batch (stateful), which has no counterpart")
    for name in ("dropout", "recurrent_dropout"):
        if config.get(name):
            site.note(f"its {name.replace('_', ' ')} of {config[name]} is not taken over.")
    return fields


def _weights(site: Site, kind: str, config: dict[str, Any], path: str, suffix: str = "") -> dict[str, Any]:
    """Return the weights of one direction, with the gates in our order."""
    has_bias = config.get("use_bias", True) is not False
    units, gates = config.get("units"), GATES[kind]
    kernel, recurrent, *bias = site.variables(path, 2 + has_bias)
    if not isinstance(units, int) or kernel.ndim != 2 or kernel.shape[1] != units * len(gates):
        raise Refused("its weights do not go with its number of units")

    def sorted_gates(array: Any) -> Any:
        """Return the columns with the gates in our order, transposed."""
        apart = array.reshape(*array.shape[:-1], len(gates), units)
        return np.ascontiguousarray(apart[..., list(gates), :].reshape(array.shape).T)

    zeros = np.zeros(units * len(gates), np.float32)
    both = bias[0] if bias and bias[0].ndim == 2 else np.stack([bias[0] if bias else zeros, zeros])
    weights = {"weight_ih": sorted_gates(kernel), "weight_hh": sorted_gates(recurrent)}
    weights |= {"bias_ih": sorted_gates(both[0])}
    if kind != "GRU" or config.get("reset_after") is not False:
        weights["bias_hh"] = sorted_gates(both[1])
    return {f"{name}_l0{suffix}": value for name, value in weights.items()}


def _states(site: Site) -> list[Value]:
    """Return the initial states that are given to the call."""
    state = site.call.kwargs.get("initial_state")
    refs = [ref for ref in (state if isinstance(state, (list, tuple)) else [state]) if isinstance(ref, Ref)]
    return [*site.inputs[1:], *(site.values[ref] for ref in refs)]


@rule("LSTM", "GRU", "SimpleRNN")
def recurrent(site: Site) -> list[Value]:
    """One direction; one that goes backwards reads the steps in reverse."""
    kind, config = site.layer.class_name, dict(site.config)
    x, states = site.inputs[0], _states(site)
    fields = _fields(site, kind, config)
    if config.get("go_backwards"):
        x = site.add("flip", x, suffix="_reversed", axis="T")
    if states:
        fields["state_inputs"] = True
    if config.get("return_state"):
        fields["state_outputs"] = True
    weights = _weights(site, kind, config, "cell")
    return site.add_all(KEYS[kind], x, *states, weights=weights, **fields)


@rule("Bidirectional")
def bidirectional(site: Site) -> list[Value]:
    """Both directions side by side are one layer here; other ways to merge them are two layers and a merging one."""
    inner = site.config.get("layer")
    kind = inner.get("class_name") if isinstance(inner, dict) else None
    if not isinstance(inner, dict) or kind not in KEYS or not isinstance(inner.get("config"), dict):
        raise Refused(f"what it wraps, '{printable(str(kind))[:40]}', is no LSTM, GRU or simple RNN")
    config = inner["config"]
    backward = (site.config.get("backward_layer") or {}).get("config") or {**config}
    for name in ("units", "activation", "recurrent_activation", "reset_after", "use_bias", "return_sequences"):
        if config.get(name) != backward.get(name):
            raise Refused(f"its two directions differ in {name}")
    if config.get("return_state") or _states(site) or config.get("go_backwards"):
        raise Refused("states, or a forward layer that goes backwards, have no counterpart in it")
    fields = _fields(site, str(kind), config)
    merge = site.config.get("merge_mode")
    if merge == "concat":
        weights = _weights(site, str(kind), config, "forward_layer/cell")
        weights |= _weights(site, str(kind), config, "backward_layer/cell", "_reverse")
        return [site.add(f"bi{KEYS[str(kind)]}", site.x, weights=weights, **fields)]
    key = {"sum": "addition", "mul": "multiplication", "ave": "average"}.get(str(merge))
    if key is None:
        raise Refused(f"its merge mode '{printable(str(merge))[:20]}' has no counterpart")
    return [site.add(key, *_both(site, str(kind), config, fields))]


def _both(site: Site, kind: str, config: dict[str, Any], fields: dict[str, Any]) -> tuple[Value, Value]:
    """Add one layer for each direction; what the second gives is turned round again."""
    forward = site.add(
        KEYS[kind], site.x, suffix="_forward", weights=_weights(site, kind, config, "forward_layer/cell"), **fields
    )
    turned = site.add("flip", site.x, suffix="_reversed", axis="T")
    weights = _weights(site, kind, config, "backward_layer/cell")
    backward = site.add(KEYS[kind], turned, suffix="_backward", weights=weights, **fields)
    if fields["output_mode"] == "sequence":
        backward = site.add("flip", backward, suffix="_in_order", axis="T")
    return forward, backward


@rule("TimeDistributed")
def time_distributed(site: Site) -> Value:
    """A dense layer at each step of a sequence is a dense layer."""
    inner = site.config.get("layer")
    if not isinstance(inner, dict) or inner.get("class_name") != "Dense" or site.x.type.layout != "sequence":
        label = printable(str(inner.get("class_name") if isinstance(inner, dict) else inner))[:40]
        raise Refused(f"only a dense layer at each step of a sequence has a counterpart, received '{label}'")
    layer = KerasLayer(site.layer.name, "Dense", inner["config"], site.layer.calls)
    store = site.store.group("layer") if site.store is not None else None
    return _as_value(dense(Site(site.builder, layer, site.call, site.values, store, site.name)))


def _as_value(result: Value | list[Value]) -> Value:
    return result if isinstance(result, Value) else result[0]
