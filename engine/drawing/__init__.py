"""Pictures of a network without a screen: what is drawn, and writers for SVG, PDF and PNG."""
