"""Child processes: a module as a program (`program`; `__main__` runs it), a function in a forked child (`fork`)."""
