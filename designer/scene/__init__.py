"""Drawing of the network: a graphics scene, its items and pictures, and hit testing."""
