"""Operations on trained networks, as declarations."""
