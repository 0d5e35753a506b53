"""Generated projects: any layers with any values, any connections that may be drawn, any options."""

from typing import Any

from hypothesis import strategies as st

from netwright.engine.core.errors import UserError
from netwright.engine.layers.base import LayerType
from netwright.engine.network import edits
from netwright.engine.network.block import Block
from netwright.engine.network.catalog import catalog
from netwright.engine.network.layout import Layout
from netwright.engine.network.network import Network, Port
from netwright.engine.project.project import SECTIONS, Project
from tests.strategies import records

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\n\r"), max_size=20)
POSITIONS = st.decimals(-(10**7), 10**7, places=2).map(float)


@st.composite
def networks(draw: st.DrawFn, depth: int = 0) -> Network:
    """Up to eight layers, joined as far as connections are allowed; some of them blocks with layers inside."""
    network = Network.empty()
    for key in draw(st.lists(st.sampled_from(sorted(catalog())), max_size=8)):
        type = draw(records(catalog()[key]))
        if isinstance(type, Block) and depth < 2:
            type = type.with_network(draw(networks(depth + 1)))
        if isinstance(type, LayerType):
            network, _ = edits.add_layer(network, type, id=f"id{len(network)}")
    outs = [Port(id, port) for id, layer in network.layers.items() for port in layer.type.output_ports()]
    ins = [Port(id, port) for id, layer in network.layers.items() for port in layer.type.input_ports()]
    if outs and ins:
        for source, target in draw(st.lists(st.tuples(st.sampled_from(outs), st.sampled_from(ins)), max_size=12)):
            try:
                network = edits.connect(network, source, target)
            except UserError:
                continue  # a cycle
    return network


@st.composite
def layouts(draw: st.DrawFn, network: Network) -> Layout:
    """A place for each layer, also inside blocks."""
    places = {id: (draw(POSITIONS), draw(POSITIONS)) for id in network.layers}
    blocks = {id: layer.type for id, layer in network.layers.items() if isinstance(layer.type, Block)}
    return Layout(places, inside={id: draw(layouts(block.network)) for id, block in blocks.items()})


@st.composite
def projects(draw: st.DrawFn) -> Project:
    """A project that may be saved."""
    network = draw(networks())
    layout = draw(layouts(network))
    project = Project(network, layout)
    for name, kind in SECTIONS.items():
        record: Any = draw(records(kind)) or kind()
        project = project.with_section(name, record)
    return project.with_section("data", project.data.replace(path=draw(TEXTS), response=draw(TEXTS)))
