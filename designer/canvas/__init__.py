"""The canvas: the view of the network, its keyboard, menus and tools, and the widgets over it."""
