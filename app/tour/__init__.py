"""The guided tour of the window, which works in a window and with a project of its own."""
