"""Operations on runs on clusters, as declarations."""
