"""How the weights follow the gradient: solvers, learn rates, averages of the weights."""
