"""Operations: what a user can ask for, each declared once in a module of its name, and run by a room above."""
