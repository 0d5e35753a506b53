"""The network as a value: edits, analysis, blocks, layout, comparison."""
