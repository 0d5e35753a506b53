"""Operations: what a user can ask for, each declared once in a module of its name here or
in the folder `operations` of a part, and run by a room above."""
