"""Operations of experiments, as declarations."""
