"""The panels beside and below the canvas: layer library, properties, problems, table of layers."""
