"""Readers of networks that other programs made, and what turns them into ours.

    graph.py       the graph that every reader produces, with the operators of ONNX
    onnx_file.py   the reader of ONNX files, with onnx_tensors.py for numbers
    pt2_file.py    the reader of programs of torch.export, through torch's ONNX exporter; pt2_archive.py refuses what
                   torch would run
    keras/         the reader of Keras models, which gives layers and no graph
    exported_source.py  the reader of PyTorch source that Netwright exported: the network noted in it, or its class
                   where it was edited, as module_file.py exports any class of a Python file
    folding.py     computes what is known before the network runs: sizes.py has the rules for sizes
    branches.py    puts the branch that is taken in the place of an If whose condition is known
    tidying.py     simplifies the graph, also by patterns.py: several operators that are one layer become one node;
                   how to write a pattern is in the docstring of rewrites.py
    lifts/         one function per operator: how to write one is in its docstring
    context.py     what a lift works with: values, layers, layouts
    lifter.py      runs all of these over a graph
    assemble.py    names, blocks and positions of the layers
    parity.py      compares the network with the original
    importer.py    `import_file`: all of it, and the files it writes

A further reader is a function from a path to a `Graph`, or to a `report.ReadNetwork` where the format has layers of its
own; `netwright.engine.project.import_kinds` names it.
"""
