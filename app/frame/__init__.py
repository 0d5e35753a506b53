"""What the main window is made of: menus, title, bar, tabs, the panels of Design, status line."""
