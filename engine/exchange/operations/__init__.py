"""Operations of the exchange of networks with other programs, as declarations."""
