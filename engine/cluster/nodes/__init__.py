"""Workers on the nodes of a cluster: agents there, the streams to them, and what places them."""
