"""Networks of other programs, and for them: dialogs of import and export."""
