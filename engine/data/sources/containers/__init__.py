"""Files of arrays, one module per format: what each holds is known from its header, before values are read."""
