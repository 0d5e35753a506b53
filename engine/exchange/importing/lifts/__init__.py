"""Lifts: functions that turn one operator of a graph into layers with their weights.

How to write one: put a function into the file of its family (a new file here is found by itself), registered for the
operators that it knows, with the keys of the layer types that it makes for the table in docs/onnx.md:

    from netwright.engine.exchange.importing.lifts.lift_registry import lift

    @lift("Softmax", becomes=("softmax",), note="along the channels")
    def softmax(ctx: Context, node: Node) -> Tensor:
        x = ctx.tensor(node, 0)                          # a tensor of a layer; raises NotLiftable for known numbers
        axis = x.axis(ctx.attribute(node, "axis", -1))
        if x.dims[axis] != "C":
            raise NotLiftable("works along another axis than the channels")
        return ctx.add(node, Softmax(), x)               # one layer; its output has the dimensions of the input

It returns the value of each output of the node, in order: one value, or a tuple with None for outputs that are left
out. `Tensor.dims` says which axis of our tensor each dimension of the file is (see `values.Tensor`), so a lift asks for
the layout that its layer needs (`ctx.as_image(x)`, `ctx.as_sequence`, `ctx.as_channels_first`, `ctx.relayout`) and says
the dimensions of what leaves where they are others (`dims=`). `ctx.numbers(node, 1)` are numbers that are known
(weights, sizes; raises `NotLiftable` otherwise), `ctx.optional(node, 2)` a value that may be left out. Weights go with
the layer: `ctx.add(node, FullyConnected(outputs=4), x, weights={"weight": w, "bias": b})`, by the names of
`LayerType.weights` (buffers such as `running_mean` too), in torch's layout. What a lift cannot express it refuses with
`NotLiftable("...")`, the end of a sentence: the operator is then kept as it is, or the file is refused with the reason.

Several operators that are one layer (a GELU that was written out) are first made one node by a rewrite:

    @rewrite("Erf")
    def gelu(match: Match, node: Node) -> Node | None    # see `netwright.engine.exchange.importing.rewrites`

Nodes whose inputs are all known never come here: `netwright.engine.exchange.importing.folding` computes them.
"""
